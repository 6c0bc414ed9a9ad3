//! A pace with a burst: one call each `interval` on average, up to `burst` at once after a pause.
//!
//! Kept as one instant, the one at which the bucket would be full again, which is what makes a hundred
//! thousand private chats cheap.

use std::time::Duration;

/// When everything spent so far has been earned back.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Pace {
    full_at: Duration,
}

impl Pace {
    /// How long until `weight` more calls are allowed; `None`: now.
    ///
    /// A weight above the burst would never be earned; it waits for a full bucket instead.
    pub(super) fn wait(self, now: Duration, interval: Duration, burst: u32, weight: u32) -> Option<Duration> {
        let after = self.full_at.max(now) + interval * weight.min(burst);
        let wait = after.saturating_sub(now + interval * burst);
        (wait > Duration::ZERO).then_some(wait)
    }

    /// Spends `weight` calls at `now`.
    pub(super) fn push(&mut self, now: Duration, interval: Duration, weight: u32) {
        self.full_at = self.full_at.max(now) + interval * weight;
    }

    /// A bucket that is full again says nothing; it may be forgotten.
    pub(super) fn is_full(self, now: Duration) -> bool {
        self.full_at <= now
    }
}
