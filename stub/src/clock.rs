//! The stub's one clock: durations since the caller's epoch, and the Unix second that they stand for.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Reads the monotonic clock; the wall clock is read once, at the start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    epoch: Instant,
    unix_at_epoch: Duration,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the stub's edge to the clock")]
    pub(crate) fn since(epoch: Instant) -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { epoch, unix_at_epoch: unix.saturating_sub(epoch.elapsed()) }
    }

    #[expect(clippy::disallowed_methods, reason = "the stub's edge to the clock")]
    pub(crate) fn now(self) -> Duration {
        Instant::now().saturating_duration_since(self.epoch)
    }

    /// The Unix second of an instant of the run, as Telegram's dates are.
    pub(crate) fn unix(self, at: Duration) -> i64 {
        (self.unix_at_epoch + at).as_secs() as i64
    }

    /// The same instant for tokio's timers.
    pub(crate) fn instant(self, at: Duration) -> tokio::time::Instant {
        tokio::time::Instant::from_std(self.epoch + at)
    }
}
