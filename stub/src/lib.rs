//! A Telegram that says no: the Bot API with the ceilings that real bots meet.
//!
//! Invariants: this crate depends on nothing else of the workspace and never learns what a scenario is;
//! `throttle`, `gateway`, `uploads`, `entities` and the webhook's schedule are pure (`now` and chance are arguments);
//! every recorded time is a duration since the caller's epoch; memory is bounded whatever a bot sends.
//!
//! A map, in the order that a call passes: `server` reads it from its socket, `call` from its encoding,
//! `catalogue` knows its method, `faults` may strike it and the `gateway` shed it, `methods` do what it asks for in
//! the `world` unless the `throttle` refuses, `answer` says so, the `journal` counts it. `updates` go the other way.

mod answer;
mod call;
mod catalogue;
mod clock;
mod entities;
mod faults;
mod gateway;
mod ids;
pub mod init_data;
mod journal;
mod launch;
mod limits;
mod methods;
mod records;
mod server;
mod shared;
mod stub;
mod telegram;
mod throttle;
pub mod tls;
mod token;
mod updates;
mod uploads;
mod users;
mod world;

pub use faults::{Fault, TooManyFaults};
pub use journal::{CallCounts, MethodCounts, Sighting};
pub use launch::Opening;
pub use limits::{AlbumWeight, Family, Limits, Profile, Rule, Scope, ThrottleScope, UnknownChats, spread};
pub use records::CallRecord;
pub use server::Door;
pub use stub::{Attendance, NotPushed, Stub, start};
pub use users::UserAction;
pub use users::crowd::{BotCall, Crowd, Done, Gesture, Heard, Order};
pub use world::described;
