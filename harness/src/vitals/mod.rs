//! What the kernel and the probes say of the system, ten times a second, and of the rig's own share.
//!
//! Two threads of their own: one reads `/proc` and the listen queue, the other asks the system over one kept
//! connection, steadily. Neither needs anything of the system, and what could not be measured is `None` and has
//! its reason in the observations, never a zero. The rig's own lateness is never charged to the system.

mod cpu;
mod line;
mod listen;
mod machine;
mod observer;
mod patience;
mod probe;
mod processes;
mod stalls;

pub use machine::machine;
pub use observer::{Observed, Observer, Subject};
