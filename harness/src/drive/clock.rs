//! The run's clock: durations since the epoch, and the same instants as the kernel's timers count them.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Reads the time since the run's epoch. `Instant` is `CLOCK_MONOTONIC` on Linux, as the kernel's timers are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    epoch: Instant,
    /// The epoch on the kernel's clock.
    kernel_epoch: Duration,
}

impl Clock {
    /// The clock of a run that began at `epoch`.
    pub(super) fn since(epoch: Instant) -> Self {
        let clock = Self { epoch, kernel_epoch: Duration::ZERO };
        let (now, kernel) = (clock.now(), clock_gettime(ClockId::Monotonic));
        let kernel = Duration::new(kernel.tv_sec as u64, kernel.tv_nsec as u32);
        Self { kernel_epoch: kernel.saturating_sub(now), ..clock }
    }

    /// The time since the epoch.
    #[expect(clippy::disallowed_methods, reason = "the driving thread is one of the places that read the clock")]
    pub(super) fn now(self) -> Duration {
        Instant::now().saturating_duration_since(self.epoch)
    }

    /// An instant as the kernel's timers count it.
    pub(super) fn kernel_time(self, at: Duration) -> Timespec {
        let at = self.kernel_epoch + at;
        Timespec { tv_sec: at.as_secs() as i64, tv_nsec: i64::from(at.subsec_nanos()) }
    }
}
