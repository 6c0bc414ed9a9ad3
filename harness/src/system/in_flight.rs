//! Acts in flight at the instant of a death. Pure.
//!
//! A dying process closes its connections before anyone hears of its death, so the count must be from before: the
//! most that was noted in the last 100 ms before it was heard of, on a machine that may be busy.

use std::collections::VecDeque;
use std::time::Duration;

/// How far back a death is looked for.
const WINDOW: Duration = Duration::from_millis(100);
/// Notes kept, at one in 20 ms: the window, and much more for a report that comes late.
const NOTES: usize = 100;

/// An instant, and what was in flight then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) at: Duration,
    pub(super) in_flight: u64,
}

/// What was in flight lately.
#[derive(Debug, Default)]
pub(super) struct Lately {
    notes: VecDeque<(Duration, u64)>,
}

impl Lately {
    /// Notes what is in flight now.
    pub(super) fn note(&mut self, now: Duration, in_flight: u64) {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back((now, in_flight));
    }

    /// This instant, with what was in flight then.
    pub(super) fn moment(&self, at: Duration) -> Moment {
        Moment { at, in_flight: self.before(at) }
    }

    /// The most in flight in the window before `at`; without a note there, the last one before it, or else the
    /// first one after it.
    fn before(&self, at: Duration) -> u64 {
        let earlier = || self.notes.iter().filter(|(when, _)| *when <= at);
        let within = earlier().filter(|(when, _)| *when + WINDOW >= at).max_by_key(|(_, count)| *count);
        let nearest = within.or_else(|| earlier().next_back()).or_else(|| self.notes.front());
        nearest.map_or(0, |(_, count)| *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(notes: &[(u64, u64)]) -> Lately {
        let mut lately = Lately::default();
        for (ms, count) in notes {
            lately.note(Duration::from_millis(*ms), *count);
        }
        lately
    }

    fn before(notes: &[(u64, u64)], ms: u64) -> u64 {
        noted(notes).before(Duration::from_millis(ms))
    }

    #[test]
    fn acts_that_the_death_itself_ended_were_in_flight() {
        assert_eq!(before(&[(10, 40), (20, 3), (30, 0)], 25), 40);
    }

    #[test]
    fn what_came_after_the_death_does_not_count() {
        assert_eq!(before(&[(10, 4), (30, 90)], 25), 4);
    }

    #[test]
    fn what_was_long_before_it_does_not_count_unless_nothing_else_is_known() {
        assert_eq!(before(&[(0, 70), (1, 50), (101, 5)], 101), 50);
        assert_eq!(before(&[(0, 70)], 1000), 70);
        assert_eq!(before(&[(5, 12), (15, 0)], 3), 12);
        assert_eq!(before(&[], 1000), 0);
    }

    #[test]
    fn only_so_many_notes_are_kept() {
        let notes: Vec<(u64, u64)> = (0..=NOTES as u64).map(|n| (n, n)).collect();
        assert_eq!(noted(&notes).notes.len(), NOTES);
        assert_eq!(before(&notes, 0), 1, "the oldest has gone");
    }
}
