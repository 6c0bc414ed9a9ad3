//! Acts in flight at the instant of a death, as noted now and then. Pure.
//!
//! This is for a death that cuts nobody off, as that of a bot whose acts go on waiting: otherwise what the driving thread
//! kept is exact.

use std::collections::VecDeque;
use std::time::Duration;

/// Notes kept, at one in 20 ms: two seconds, for a report that comes late.
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
    /// Notes what was in flight at this instant.
    pub(super) fn note(&mut self, now: Duration, in_flight: u64) {
        if self.notes.len() == NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back((now, in_flight));
    }

    /// This instant, with what was in flight then.
    pub(super) fn moment(&self, at: Duration) -> Moment {
        Moment { at, in_flight: self.noted(at) }
    }

    /// The last note before `at`, or else the first one after it.
    fn noted(&self, at: Duration) -> u64 {
        let before = self.notes.iter().rev().find(|(when, _)| *when <= at);
        before.or_else(|| self.notes.front()).map_or(0, |(_, count)| *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn noted(notes: &[(u64, u64)], at: u64) -> u64 {
        let mut lately = Lately::default();
        for (when, count) in notes {
            lately.note(ms(*when), *count);
        }
        lately.moment(ms(at)).in_flight
    }

    #[test]
    fn it_is_what_the_last_note_before_it_says() {
        assert_eq!(noted(&[(10, 4), (20, 6), (30, 90)], 25), 6);
        assert_eq!(noted(&[(5, 12), (15, 0)], 3), 12);
        assert_eq!(noted(&[], 1000), 0);
    }

    #[test]
    fn only_so_many_notes_are_kept() {
        let notes: Vec<(u64, u64)> = (0..=NOTES as u64).map(|n| (n, n)).collect();
        assert_eq!(noted(&notes, 0), 1, "the oldest has gone");
    }
}
