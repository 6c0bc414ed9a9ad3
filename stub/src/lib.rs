//! A Telegram that says no: the Bot API with the ceilings that real bots meet.
//!
//! Invariants: this crate depends on nothing else of the workspace and never learns what a scenario is;
//! `throttle`, `uploads` are pure (`now` and the generator are arguments); every recorded time is a
//! duration since the caller's epoch; memory is bounded whatever a bot sends.

mod journal;
mod limits;

pub use journal::{CallCounts, MethodCounts, Sighting};
pub use limits::{Limits, spread};
