//! The rig: a scenario in, a recording and a verdict out.
//!
//! ```text
//! scenario (TOML) -> plan (pure) -> run: stub and system up, pre-flight, drive, drain, stop -> run.jsonl -> reports
//! ```
//! Invariants: arrivals are open loop and planned, and the number of samples equals the number of planned acts;
//! `scheduled` comes from the plan and never from a clock; nothing on the driving thread formats, logs or blocks;
//! what the system does wrong is data, what the rig could not do is an error, what it could not measure well is
//! `invalid`; what the rig sends stays on this machine, and a system that calls the real Telegram is ended; no process
//! of the rig or the system outlives a run.

pub mod answers;
pub mod bench;
pub mod cli;
pub mod deliveries;
pub mod drive;
pub mod exchange;
pub mod init_data;
pub mod isolate;
pub mod keeper;
pub mod plan;
pub mod record;
pub mod redirect;
pub mod run;
pub mod scenario;
mod sockets;
pub mod stop;
pub mod system;
pub mod template;
mod url;
pub mod vitals;
