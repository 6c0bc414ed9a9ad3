//! When a board is due. PURE.
//!
//! A change after a quiet spell shows at once (the leading edge); changes during the interval after that wait for its
//! end and show together (the trailing edge), so the last state is always shown. A rush overrides the interval.

use std::time::Duration;

use crate::pacing;
use crate::settings::SendQueue;

/// A chat counts as active for this long after a change.
const ACTIVE_FOR: Duration = Duration::from_secs(60);

/// With a send queue, boards fill at most this share of its rate, so that it empties between two rounds.
const SHARE_OF_THE_QUEUE: f64 = 0.6;

/// Telegram takes 20 messages a minute in a group; 17 leave room for a rush and for posting anew.
const SHORTEST_FOR_A_GROUP: Duration = Duration::from_millis(60_000 / 17);

/// What one board is waiting for.
#[derive(Debug, Default)]
pub(crate) struct Debounce {
    unseen: bool,
    rushed: bool,
    rests_until: Duration,
    changed_at: Option<Duration>,
}

/// When a board is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Now.
    Now,
    /// At this instant.
    At(Duration),
    /// Not before something changes.
    Never,
}

impl Debounce {
    /// The board's state changed.
    pub(crate) fn change(&mut self, now: Duration) {
        self.unseen = true;
        self.changed_at = Some(now);
    }

    /// The board's state changed and must not wait.
    pub(crate) fn rush(&mut self, now: Duration) {
        self.change(now);
        self.rushed = true;
    }

    /// When the board is due.
    pub(crate) fn due(&self, now: Duration) -> Due {
        match (self.unseen, self.rushed || self.rests_until <= now) {
            (true, true) => Due::Now,
            (true, false) => Due::At(self.rests_until),
            (false, true | false) => Due::Never,
        }
    }

    /// A refresh begins: what changes from here on is for the next one.
    pub(crate) fn begin(&mut self) {
        self.unseen = false;
        self.rushed = false;
    }

    /// The refresh showed the state.
    pub(crate) fn shown(&mut self, rests_until: Duration) {
        self.rests_until = rests_until;
    }

    /// The refresh failed: its state is still unseen.
    pub(crate) fn failed(&mut self, rests_until: Duration) {
        self.unseen = true;
        self.rests_until = rests_until;
    }

    /// Whether the chat changed lately.
    pub(crate) fn is_active(&self, now: Duration) -> bool {
        self.changed_at.is_some_and(|changed| now < changed + ACTIVE_FOR)
    }
}

/// How long a board rests: as ordered, or with a send queue as long as it takes for every active chat to have its turn.
pub(crate) fn interval(ordered: Duration, queue: SendQueue, active_chats: usize) -> Duration {
    match queue {
        SendQueue::Off => ordered,
        SendQueue::On => {
            let round = pacing::SPACING.mul_f64(active_chats as f64 / SHARE_OF_THE_QUEUE);
            ordered.max(round).max(SHORTEST_FOR_A_GROUP)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn the_first_change_shows_at_once() {
        let mut board = Debounce::default();
        assert_eq!(board.due(secs(0)), Due::Never);
        board.change(secs(5));
        assert_eq!(board.due(secs(5)), Due::Now);
    }

    #[test]
    fn changes_within_the_interval_show_together_at_its_end() {
        let mut board = Debounce::default();
        board.change(secs(5));
        board.begin();
        board.shown(secs(15));
        board.change(secs(6));
        board.change(secs(14));
        assert_eq!(board.due(secs(14)), Due::At(secs(15)));
        assert_eq!(board.due(secs(15)), Due::Now);
        board.begin();
        board.shown(secs(25));
        assert_eq!(board.due(secs(60)), Due::Never);
    }

    #[test]
    fn a_change_during_a_refresh_is_for_the_next_one() {
        let mut board = Debounce::default();
        board.change(secs(5));
        board.begin();
        board.change(secs(6));
        board.shown(secs(15));
        assert_eq!(board.due(secs(6)), Due::At(secs(15)));
    }

    #[test]
    fn a_failed_refresh_is_due_again_after_its_wait() {
        let mut board = Debounce::default();
        board.change(secs(5));
        board.begin();
        board.failed(secs(8));
        assert_eq!(board.due(secs(7)), Due::At(secs(8)));
    }

    #[test]
    fn a_rush_overrides_the_interval_even_during_a_refresh() {
        let mut board = Debounce::default();
        board.change(secs(5));
        board.begin();
        board.rush(secs(6));
        board.shown(secs(15));
        assert_eq!(board.due(secs(6)), Due::Now);
        board.begin();
        assert_eq!(board.due(secs(6)), Due::Never);
    }

    #[test]
    fn a_chat_is_active_for_a_minute_after_its_last_change() {
        let mut board = Debounce::default();
        assert!(!board.is_active(secs(0)));
        board.change(secs(5));
        assert!(board.is_active(Duration::from_millis(64_999)));
        assert!(!board.is_active(secs(65)));
    }

    #[test]
    fn the_interval_grows_with_the_fleet_only_behind_a_queue() {
        assert_eq!(interval(secs(10), SendQueue::On, 100), secs(10));
        assert_eq!(interval(secs(10), SendQueue::On, 1000).as_millis(), 66_666);
        assert_eq!(interval(secs(10), SendQueue::Off, 1000), secs(10));
    }

    #[test]
    fn the_interval_respects_the_ceiling_of_a_group_only_behind_a_queue() {
        assert_eq!(interval(secs(1), SendQueue::On, 1).as_millis(), 3529);
        assert_eq!(interval(secs(1), SendQueue::Off, 1), secs(1));
    }
}
