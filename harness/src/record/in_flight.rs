//! Acts in flight, and what was in flight when connections were cut off: the driving thread writes, anyone may read.
//!
//! A dying process closes its connections before anyone hears of its death, and acts begin and end all the time. So it
//! is kept what was in flight before the first act that ended because its connection did: that is what the death met.
//! One place for each millisecond of the last second costs the same at any rate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Milliseconds that are remembered.
const REMEMBERED: usize = 1024;
/// How far from the instant at which a death was heard of its first act may have been cut off, on a machine that is
/// busy, in milliseconds: earlier since many connections take their time to close, later since the driving thread does.
const WINDOW_MS: u64 = 100;
const COUNT_BITS: u32 = 32;

/// The count.
#[derive(Debug)]
pub struct InFlight {
    now: AtomicU64,
    /// Each: the millisecond it is of, plus one, in the upper half, and what was in flight before the first act that was
    /// cut off in it. 0: nothing yet.
    cut: [AtomicU64; REMEMBERED],
}

impl Default for InFlight {
    fn default() -> Self {
        Self { now: AtomicU64::new(0), cut: [const { AtomicU64::new(0) }; REMEMBERED] }
    }
}

impl InFlight {
    /// Acts in flight now.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// An act has begun. For one thread alone, as are its ends.
    pub fn begin(&self) {
        self.now.store(self.now() + 1, Ordering::Relaxed);
    }

    /// An act has ended.
    pub fn end(&self) {
        self.now.store(self.now() - 1, Ordering::Relaxed);
    }

    /// An act has ended because its connection did, at this time since the epoch.
    pub fn cut_off(&self, at: Duration) {
        let ms = at.as_millis() as u64;
        if self.before_cut(ms).is_none() {
            let count = self.now().min(u64::from(u32::MAX));
            self.place(ms).store(((ms + 1) << COUNT_BITS) | count, Ordering::Relaxed);
        }
        self.end();
    }

    /// What was in flight before the first act that a death cut off which was heard of at this time. Nothing: it has cut
    /// off none.
    pub fn met_by(&self, death: Duration) -> Option<u64> {
        let heard = death.as_millis() as u64;
        (heard.saturating_sub(WINDOW_MS)..=heard + WINDOW_MS).find_map(|ms| self.before_cut(ms))
    }

    fn place(&self, ms: u64) -> &AtomicU64 {
        &self.cut[ms as usize % REMEMBERED]
    }

    fn before_cut(&self, ms: u64) -> Option<u64> {
        let word = self.place(ms).load(Ordering::Relaxed);
        (word >> COUNT_BITS == ms + 1).then_some(word & u64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn with(count: u64) -> InFlight {
        let acts = InFlight::default();
        (0..count).for_each(|_| acts.begin());
        acts
    }

    #[test]
    fn acts_that_the_death_itself_cut_off_were_in_flight_and_those_answered_before_it_were_not() {
        let acts = with(40);
        (0..7).for_each(|_| acts.end());
        (0..33).for_each(|_| acts.cut_off(ms(58)));
        assert_eq!((acts.met_by(ms(60)), acts.now()), (Some(33), 0));
    }

    #[test]
    fn an_act_that_began_after_the_first_was_cut_off_was_not_in_flight() {
        let acts = with(3);
        acts.cut_off(ms(58));
        (0..9).for_each(|_| acts.begin());
        acts.cut_off(ms(59));
        assert_eq!(acts.met_by(ms(60)), Some(3));
    }

    #[test]
    fn what_was_cut_off_long_before_or_after_is_no_part_of_it() {
        let acts = with(5);
        acts.cut_off(ms(200));
        assert_eq!([99, 100, 300, 301].map(|death| acts.met_by(ms(death))), [None, Some(5), Some(5), None]);
    }

    #[test]
    fn a_death_that_cuts_nobody_off_says_nothing() {
        assert_eq!(with(5).met_by(ms(0)), None);
    }
}
