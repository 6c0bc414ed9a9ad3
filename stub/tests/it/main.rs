//! The stub from outside: real sockets, raw bytes where the bytes matter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by ending")]

mod ceilings;
mod chats;
mod client;
mod contents;
mod control;
mod crowd;
mod doors;
mod files;
mod launch;
mod messages;
mod shape;
mod shapes;
mod updates;
mod uploads;
mod waits;
mod webhooks;
mod wire;
