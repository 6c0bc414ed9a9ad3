//! The process's clocks: the only file that reads them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time since the process began to serve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the edge where the process's time begins")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// How long ago the clock was started.
    pub(crate) fn now(self) -> Duration {
        self.0.elapsed()
    }

    /// Waits until the clock shows `due`.
    pub(crate) async fn until(self, due: Duration) {
        tokio::time::sleep_until((self.0 + due).into()).await;
    }
}

/// Seconds since 1970, for the age of initData.
#[expect(clippy::disallowed_methods, reason = "initData is dated by the calendar; this is the edge that reads it")]
pub(crate) fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
