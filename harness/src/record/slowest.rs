//! The slowest samples of an interval, kept whole as exemplars.

use floodrig_reports::recording::{Outcome, Sample};

/// How many are kept of each interval.
const KEPT: usize = 5;

/// The slowest samples so far, in no order.
#[derive(Debug, Default)]
pub(super) struct Slowest {
    samples: Vec<Sample>,
}

impl Slowest {
    /// Keeps the sample if it is among the slowest. One that was never sent is no exchange to show.
    pub(super) fn add(&mut self, sample: &Sample) {
        if matches!(sample.outcome, Outcome::Abandoned | Outcome::Skipped) {
            return;
        }
        if self.samples.len() < KEPT {
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
