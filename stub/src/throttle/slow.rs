//! Slow mode of single chats: one send of a bot that is no administrator there, then a pause. PURE.
//!
//! The ceiling `slow_mode` holds for every group alike; this is for chats that were described with one of their own.

use std::collections::HashMap;
use std::time::Duration;

use super::SWEEP_FROM;

/// Who may send when, by bot and chat.
#[derive(Debug, Default)]
pub(super) struct SlowChats {
    next: HashMap<(i64, i64), Duration>,
    sweep_at: usize,
}

/// What is said to have refused a call.
pub(super) const SLOW_CHAT: &str = "the chat's slow mode";

impl SlowChats {
    /// How long a bot has still to wait, if it has to.
    pub(super) fn wait(&self, now: Duration, bot: i64, chat: i64) -> Option<Duration> {
        let wait = self.next.get(&(bot, chat))?.saturating_sub(now);
        (!wait.is_zero()).then_some(wait)
    }

    /// A bot has sent.
    pub(super) fn sent(&mut self, now: Duration, bot: i64, chat: i64, delay: Duration) {
        if self.next.len() >= self.sweep_at.max(SWEEP_FROM) {
            self.next.retain(|_, next| now < *next);
            self.sweep_at = 2 * self.next.len();
        }
        self.next.insert((bot, chat), now + delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_counts_down_and_ends_exactly() {
        let mut chats = SlowChats::default();
        let at = |ms| Duration::from_millis(ms);
        assert_eq!(chats.wait(at(0), 1, -5), None);
        chats.sent(at(0), 1, -5, at(10_000));
        assert_eq!((chats.wait(at(0), 1, -5), chats.wait(at(9_001), 1, -5)), (Some(at(10_000)), Some(at(999))));
        assert_eq!(chats.wait(at(10_000), 1, -5), None);
        assert_eq!((chats.wait(at(0), 2, -5), chats.wait(at(0), 1, -6)), (None, None));
    }
}
