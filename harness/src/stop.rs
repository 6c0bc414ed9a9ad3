//! Ctrl-C and SIGTERM: the first asks the run to end in order, the second ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the run has been asked to end. Clones share one flag.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asked by SIGINT or SIGTERM. A second signal ends the process with 130 there and then; what the rig had
    /// started ends with it, since every keeper sees its pipe close.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop.0))?;
            flag::register(signal, Arc::clone(&stop.0))?;
        }
        Ok(stop)
    }

    /// The flag itself, for rooms that look at it on their own.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Asks the run to end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was asked to.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
