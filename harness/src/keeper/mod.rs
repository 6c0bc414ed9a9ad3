//! The keeper: a small process between the rig and what it starts, so that nothing survives the rig.
//!
//! ```text
//! rig --socket pair--> floodrig __keeper --fork--> floodrig __launch --exec--> the command
//!  ^                       (subreaper)              (affinity, limits)             |
//!  '------------------ the command's own stdout and stderr ------------------------'
//! ```
//! One keeper keeps one command and all that descends from it. It stands in a process group of its own, so a
//! terminal's Ctrl-C reaches neither it nor the command. It ends the whole tree on order, and at once when the
//! socket pair closes, which is what the death of the rig looks like from here. Told to end by anybody else's signal it
//! says so, and the rig, which lets go of its run, orders the end. If the keeper itself is killed, the command dies by
//! its parent-death signal and the rig ends the rest, known by a mark in the environment. Only when rig and keeper are
//! both killed with SIGKILL at one time can a grandchild stay behind. The keeper knows nothing of scenarios, ports or
//! readiness.

mod client;
mod clock;
mod launcher;
mod process;
mod protocol;
mod scratch;
mod tree;

pub use client::{CommandEnd, Heard, KeepError, Kept, Program, Reports, Started};
pub(crate) use clock::monotonic_ns;
pub use launcher::main as launch_main;
pub use process::main;
pub use protocol::{Exit, Fault, Report, Spec, Stage};
pub use tree::{Identity, Tree, branch, descendants, kill};
