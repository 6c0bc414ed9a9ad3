//! The rig as a user meets it: the real binary, the real example system, real signals.

#![allow(clippy::disallowed_methods, reason = "tests read clocks and environments")]

mod after;
mod bad_input;
mod bench;
mod bot;
mod calibration;
mod certificate;
mod crowd;
mod endings;
mod in_flight;
mod isolate;
mod journeys;
mod lifecycle;
mod listen_queue;
mod outcome;
mod own_limits;
mod postgres;
mod real_host;
mod rig;
mod seats;
mod server;
mod service;
mod shards;
mod sockets;
mod stub;
mod system;
mod terminal;
mod tools;
mod unchanged;
mod watched;
