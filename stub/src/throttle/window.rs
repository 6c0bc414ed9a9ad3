//! A sliding window: at most so many entries in any span of its length.
//!
//! Half-open: an entry at `t` leaves at `t + span` exactly, so a call at that very instant finds it gone.

use std::collections::VecDeque;
use std::time::Duration;

/// The instants of the entries that have not left yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Window {
    entries: VecDeque<Duration>,
}

impl Window {
    /// Lets go of what has left by `now`.
    pub(super) fn expire(&mut self, now: Duration, span: Duration) {
        while self.entries.front().is_some_and(|entry| *entry + span <= now) {
            self.entries.pop_front();
        }
    }

    /// How long until `weight` more entries fit under `limit`; `None`: now. Expire first.
    ///
    /// A weight above the limit would never fit; it waits for an empty window instead.
    pub(super) fn wait(&self, now: Duration, span: Duration, limit: u32, weight: u32) -> Option<Duration> {
        let last_to_leave = (self.entries.len() + weight.min(limit) as usize).checked_sub(limit as usize + 1)?;
        Some((*self.entries.get(last_to_leave)? + span).saturating_sub(now))
    }

    /// Notes `weight` entries at `now`.
    pub(super) fn push(&mut self, now: Duration, weight: u32) {
        self.entries.extend((0..weight).map(|_| now));
    }

    pub(super) fn len(&self) -> u32 {
        self.entries.len() as u32
    }
}
