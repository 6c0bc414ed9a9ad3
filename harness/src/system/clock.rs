//! Instants as durations since the run's epoch, which is all that is ever recorded.

use std::time::{Duration, Instant};

use crate::keeper::monotonic_ns;

/// Now, for a deadline that nobody records.
#[expect(clippy::disallowed_methods, reason = "the edge where this room reads the clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// One moment on both clocks, and how far apart the readings were.
struct Pair {
    instant: Instant,
    monotonic_ns: u64,
    apart: Duration,
}

impl Pair {
    fn read() -> Self {
        let instant = now();
        Self { instant, monotonic_ns: monotonic_ns(), apart: instant.elapsed() }
    }
}

/// Reads the time since one epoch.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    epoch: Instant,
    epoch_ns: u64,
}

impl Clock {
    /// A clock of this epoch.
    pub fn new(epoch: Instant) -> Self {
        // The thread may lose its core between two readings; the closest pair of a few is a matter of nanoseconds.
        let closest = (0..5).map(|_| Pair::read()).min_by_key(|pair| pair.apart).expect("five pairs were read");
        let since = closest.instant.saturating_duration_since(epoch).as_nanos() as u64;
        Self { epoch, epoch_ns: closest.monotonic_ns.saturating_sub(since) }
    }

    /// The epoch itself.
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Since the epoch; zero before it.
    pub fn now(&self) -> Duration {
        now().saturating_duration_since(self.epoch)
    }

    /// An instant that another process read from `CLOCK_MONOTONIC`, which is what `Instant` reads on Linux.
    pub fn of_monotonic_ns(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(at_ns.saturating_sub(self.epoch_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_read_by_another_process_stands_on_the_same_timeline() {
        let before = Pair::read();
        let clock = Clock::new(before.instant);
        let between = clock.now();
        let after = Pair::read();
        assert!(clock.of_monotonic_ns(before.monotonic_ns) < Duration::from_millis(1).max(before.apart));
        assert!(between <= clock.of_monotonic_ns(after.monotonic_ns) + after.apart + Duration::from_micros(100));
    }
}
