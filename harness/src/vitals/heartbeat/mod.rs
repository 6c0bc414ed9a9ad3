//! Stalls seen from inside: the system's own event loop writes when it was last there, and the rig reads that.
//!
//! A probe of a few lines is put before a Node program by `NODE_OPTIONS` and before a Python one by `PYTHONPATH`;
//! the system itself is not changed. Each loop that serves comes round every 20 ms and writes one page, in a private
//! folder of the run in memory. A page outlives its process, by whatever signal it ended. What has no such loop, or lost
//! its probe on the way, is told with the reason: a stall that nobody could have seen is never a zero.

mod charge;
mod folder;
mod kind;
mod name;
mod page;
mod process;
mod servers;
mod serving;
mod stack;
mod standing;
mod throttle;
mod watch;

pub use folder::Folder;
pub(crate) use process::{Runtime, isolating};
pub(super) use standing::{Door, Standing, unseen};
pub(super) use watch::Watch;
