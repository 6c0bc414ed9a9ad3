//! The real binary against a Telegram that only remembers what it was asked.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod app;
mod recorder;

mod boards;
mod calibration;
mod ends;
mod players;
