//! The stub from outside: real sockets, raw bytes where the bytes matter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by ending")]

mod ceilings;
mod client;
mod files;
mod messages;
mod updates;
mod uploads;
mod waits;
mod webhooks;
mod wire;
