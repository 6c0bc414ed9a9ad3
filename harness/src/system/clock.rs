//! Instants as durations since the run's epoch, which is all that is ever recorded.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Reads the time since one epoch.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    epoch: Instant,
    epoch_ns: u64,
}

impl Clock {
    /// A clock of this epoch.
    #[expect(clippy::disallowed_methods, reason = "the edge where this room reads the clock")]
    pub fn new(epoch: Instant) -> Self {
        let monotonic = clock_gettime(ClockId::Monotonic);
        let ns = monotonic.tv_sec as u64 * 1_000_000_000 + monotonic.tv_nsec as u64;
        Self { epoch, epoch_ns: ns.saturating_sub(Instant::now().duration_since(epoch).as_nanos() as u64) }
    }

    /// Since the epoch; zero before it.
    #[expect(clippy::disallowed_methods, reason = "the edge where this room reads the clock")]
    pub fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.epoch)
    }

    /// An instant that another process read from `CLOCK_MONOTONIC`, which is what `Instant` reads on Linux.
    pub fn of_monotonic_ns(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(at_ns.saturating_sub(self.epoch_ns))
    }
}
