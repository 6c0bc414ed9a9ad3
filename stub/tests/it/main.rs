//! The stub from outside: real sockets, raw bytes where the bytes matter.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by ending")]

mod abuse;
mod ceilings;
mod chats;
mod client;
mod contents;
mod control;
mod crowd;
mod described;
mod doors;
mod effects;
mod every_method;
mod files;
mod launch;
mod messages;
mod payments;
mod pictures;
mod secure_webhooks;
mod shape;
mod shapes;
mod tls;
mod updates;
mod uploads;
mod waits;
mod webhooks;
mod wire;
