//! The system under test as the rig starts, watches and ends it: real processes, real sockets, real signals.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by its panic")]

mod build;
mod calibration;
mod connects;
mod death;
pub(crate) mod drawn;
mod endings;
mod heartbeat;
mod lifecycle;
mod limits;
mod loops;
mod oom;
mod outside;
mod readiness;
mod redirect;
mod support;
mod threads;
