//! The rig as a user meets it: the real binary, the real example system, real signals.

#![allow(clippy::disallowed_methods, reason = "tests read clocks and environments")]

mod bad_input;
mod bench;
mod bot;
mod calibration;
mod crowd;
mod journeys;
mod lifecycle;
mod outcome;
mod rig;
mod stub;
mod unchanged;
