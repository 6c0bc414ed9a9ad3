//! Instants as durations since the run's epoch, which is all that is ever recorded.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// One moment on both clocks, and how far apart the readings were.
struct Pair {
    instant: Instant,
    monotonic_ns: u64,
    apart: Duration,
}

impl Pair {
    #[expect(clippy::disallowed_methods, reason = "the edge where this room reads the clock")]
    fn read() -> Self {
        let instant = Instant::now();
        let monotonic = clock_gettime(ClockId::Monotonic);
        let monotonic_ns = monotonic.tv_sec as u64 * 1_000_000_000 + monotonic.tv_nsec as u64;
        Self { instant, monotonic_ns, apart: instant.elapsed() }
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
