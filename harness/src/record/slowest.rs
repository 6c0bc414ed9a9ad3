//! The slowest samples of an interval, kept whole as exemplars.

use floodrig_reports::recording::{Outcome, Sample};

/// How many are kept of each interval of a load: enough to see what its slow exchanges have in common.
pub(super) const KEPT: usize = 5;

/// The slowest samples so far, in no order.
#[derive(Debug)]
pub(super) struct Slowest {
    most: usize,
    samples: Vec<Sample>,
}

impl Slowest {
    /// Keeps so many.
    pub(super) fn of(most: usize) -> Self {
        Self { most, samples: Vec::with_capacity(most) }
    }

    /// Keeps the sample if it is among the slowest. One that was never sent, or sent to a system that was stopped by
    /// order, is no exchange to show.
    pub(super) fn add(&mut self, sample: &Sample) {
        if matches!(sample.outcome, Outcome::Abandoned | Outcome::Stopped | Outcome::Skipped { .. }) {
            return;
        }
        if self.samples.len() < self.most {
            self.samples.push(sample.clone());
            return;
        }
        let fastest = self.samples.iter_mut().min_by_key(|kept| kept.response());
        if let Some(kept) = fastest.filter(|kept| kept.response() < sample.response()) {
            kept.clone_from(sample);
        }
    }

    /// Hands them out, the slowest first, and begins anew.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Sample> {
        self.samples.sort_by_key(|sample| std::cmp::Reverse(sample.response()));
        self.samples.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sample(ended: u64, outcome: Outcome) -> Sample {
        let (zero, ended) = (Duration::ZERO, Duration::from_secs(ended));
        let (act, player, late_connect) = (0, 0, false);
        Sample { act, player, scheduled: zero, free: zero, started: zero, ended, outcome, tries: 1, late_connect }
    }

    #[test]
    fn the_five_slowest_are_kept_and_handed_out_slowest_first() {
        let mut slowest = Slowest::of(KEPT);
        for ended in [3, 9, 1, 7, 2, 8, 5] {
            slowest.add(&sample(ended, Outcome::Timeout));
        }
        let kept: Vec<u64> = slowest.take().map(|sample| sample.ended.as_secs()).collect();
        assert_eq!(kept, [9, 8, 7, 5, 3]);
        assert_eq!(slowest.take().count(), 0);
    }

    #[test]
    fn what_was_never_sent_is_no_exchange() {
        let mut slowest = Slowest::of(KEPT);
        slowest.add(&sample(9, Outcome::Abandoned));
        slowest.add(&sample(9, Outcome::Skipped { left: true }));
        assert_eq!(slowest.take().count(), 0);
    }
}
