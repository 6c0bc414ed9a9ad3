//! A sliding window: at most so many entries in any span of its length.
//!
//! Half-open: an entry at `t` leaves at `t + span` exactly, so a call at that very instant finds it gone.

use std::collections::VecDeque;
use std::time::Duration;

/// The instants of the entries that have not left yet, oldest first, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Window {
    entries: VecDeque<u64>,
}

/// Without a ceiling, more than this many are counted as this many, so that a flood costs no memory.
const MOST_COUNTED: usize = 1 << 16;

impl Window {
    /// Lets go of what has left by `now`.
    pub(super) fn expire(&mut self, now: Duration, span: Duration) {
        let Some(left) = nanos(now).checked_sub(nanos(span)) else { return };
        while self.entries.front().is_some_and(|entry| *entry <= left) {
            self.entries.pop_front();
        }
    }

    /// How long until `weight` more entries fit under `limit`; `None`: now. Expire first.
    ///
    /// A weight above the limit would never fit; it waits for an empty window instead.
    pub(super) fn wait(&self, now: Duration, span: Duration, limit: u32, weight: u32) -> Option<Duration> {
        let last_to_leave = (self.entries.len() + weight.min(limit) as usize).checked_sub(limit as usize + 1)?;
        let leaves = Duration::from_nanos(*self.entries.get(last_to_leave)?) + span;
        Some(leaves.saturating_sub(now))
    }

    /// Notes `weight` entries at `now`.
    pub(super) fn push(&mut self, now: Duration, limit: u32, weight: u32) {
        let most = if limit == 0 { MOST_COUNTED } else { usize::MAX };
        for _ in 0..weight {
            if self.entries.len() >= most {
                self.entries.pop_front();
            }
            self.entries.push_back(nanos(now));
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.entries.len() as u32
    }
}

/// 584 years of them fit.
fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
