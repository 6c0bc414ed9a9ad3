//! What the kernel and the probes say of the system, ten times a second, and of the rig's own share.
//!
//! Three threads of their own: one reads `/proc`, the listen queue and the pages that the system's own loops write, the
//! others ask the system over one kept connection, and connect to it without a word, steadily. The system is changed
//! for none of them, and what could not be measured is `None` and has its reason in the observations, never a zero. The
//! rig's own lateness is never charged to the system.

mod bare;
mod births;
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
mod outbound;
mod outside;
mod own;
mod own_connects;
mod patience;
mod probe;
mod processes;
mod served;
mod services;
mod silence;
mod stalls;
mod steady;
mod subject;
mod threads;

pub(crate) use cpu::this_thread as cpu_of_this_thread;
pub use heartbeat::Folder;
pub(crate) use heartbeat::{Runtime, isolating};
pub use machine::machine;
pub use observer::{Observed, Observer};
pub use own::{OwnUse, Threads};
pub use subject::Subject;

use std::io;
use std::thread::JoinHandle;

/// A thread that `top` shows by this name.
fn named<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(work).expect("the kernel has a thread for every observation")
}

/// Why the kernel does not show sockets.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn kernel_said(cause: io::Error) -> String {
    format!("sock_diag said: {cause}")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test stands in for `run`, which reads the epoch")]
fn clock() -> crate::system::Clock {
    crate::system::Clock::new(std::time::Instant::now())
}
