//! What the kernel and the probes say of the system, ten times a second, and of the rig's own share.
//!
//! Three threads of their own: one reads `/proc`, the listen queue and the pages that the system's own loops write, the
//! others ask the system over one kept connection, and connect to it without a word, steadily. The system is changed for
//! none of them, and what could not be measured is `None` and has its reason in the observations, never a zero. The rig's
//! own lateness is never charged to the system.

mod bare;
mod connects;
mod cpu;
mod files;
mod heartbeat;
mod line;
mod listen;
mod machine;
mod netstat;
mod noise;
mod observer;
mod ours;
mod outbound;
mod outside;
mod own;
mod patience;
mod probe;
mod processes;
mod served;
mod services;
mod silence;
mod stalls;
mod steady;
mod threads;

pub(crate) use cpu::this_thread as cpu_of_this_thread;
pub use heartbeat::Folder;
pub(crate) use heartbeat::{Runtime, isolating};
pub use machine::machine;
pub use observer::{Observed, Observer, Subject};
pub use own::{OwnUse, Threads};
