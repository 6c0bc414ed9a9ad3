//! Quantiles over merged histograms, by exact rank: never averaged, and never through a fraction that rounds.

use super::{Lag, Quantiles, Staleness};
use crate::recording::Histogram;

impl Quantiles {
    /// Over what was counted.
    pub fn of(histogram: &Histogram) -> Self {
        Self::among(histogram, histogram.count())
    }

    /// Over `judged` acts of which only those in the histogram succeeded; the others rank slower than any bound,
    /// so quantiles (and with them the mean and the greatest) above the share that succeeded are `None`.
    pub fn among(histogram: &Histogram, judged: u64) -> Self {
        let all_succeeded = judged == histogram.count();
        Self {
            count: judged,
            mean: histogram.mean_us().filter(|_| all_succeeded),
            p50: at(histogram, judged, 500),
            p90: at(histogram, judged, 900),
            p99: at(histogram, judged, 990),
            p999: at(histogram, judged, 999),
            max: at(histogram, judged, 1_000),
        }
    }
}

impl Lag {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let Quantiles { count: _, mean: _, p50, p90: _, p99, p999: _, max } = Quantiles::of(histogram);
        Self { p50, p99, max }
    }
}

impl Staleness {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let ms = |us: Option<u64>| us.map(|us| us as f64 / 1e3);
        let Quantiles { count: _, mean: _, p50, p90: _, p99, p999: _, max } = Quantiles::of(histogram);
        Self { p50: ms(p50), p99: ms(p99), max: ms(max) }
    }
}

/// The smallest value that at least `per_mille` thousandths of `total` do not exceed.
fn at(histogram: &Histogram, total: u64, per_mille: u64) -> Option<u64> {
    histogram.at_rank_us((total * per_mille).div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn milliseconds(from: u64, to: u64) -> Histogram {
        let mut histogram = Histogram::default();
        (from..=to).for_each(|ms| histogram.record(Duration::from_millis(ms)));
        histogram
    }

    fn near(us: Option<u64>, ms: u64) -> bool {
        us.is_some_and(|us| us.abs_diff(ms * 1_000) * 1_000 <= us)
    }

    #[test]
    fn the_99th_percentile_of_a_hundred_is_the_99th() {
        let all = Quantiles::of(&milliseconds(1, 100));
        assert!(
            near(all.p50, 50) && near(all.p90, 90) && near(all.p99, 99) && near(all.p999, 100) && near(all.max, 100)
        );
        assert!(all.mean.is_some());
    }

    #[test]
    fn one_failure_in_a_hundred_leaves_the_99th_percentile_and_takes_what_is_above_it() {
        let judged = Quantiles::among(&milliseconds(1, 99), 100);
        assert!(near(judged.p99, 99));
        assert_eq!((judged.p999, judged.max, judged.mean), (None, None, None));
    }

    #[test]
    fn two_failures_in_a_hundred_take_the_99th_percentile() {
        let judged = Quantiles::among(&milliseconds(1, 98), 100);
        assert!(near(judged.p90, 90));
        assert_eq!(judged.p99, None);
    }

    #[test]
    fn nothing_counted_has_no_quantiles() {
        assert_eq!(Quantiles::of(&Histogram::default()), Quantiles::default());
    }

    #[test]
    fn ranks_are_exact_where_fractions_would_round() {
        for total in [100, 700, 1_000, 3_000, 9_999] {
            let exact = (total * 990_u64).div_ceil(1_000);
            let all = milliseconds(1, total);
            assert_eq!(Quantiles::of(&all).p99, all.at_rank_us(exact));
        }
    }

    /// Failures sorted behind everything, and the rank counted by hand.
    fn by_hand(succeeded: &mut [u64], failed: u64, per_mille: u64) -> Option<u64> {
        succeeded.sort_unstable();
        let total = succeeded.len() as u64 + failed;
        let rank = (total * per_mille).div_ceil(1_000).max(1);
        succeeded.get(rank as usize - 1).copied()
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_acts_however_they_were_split(
            mut succeeded in prop::collection::vec(1..60_000_000_u64, 1..400), failed in 0..40_u64, split in 0..400_usize,
        ) {
            let (first, second) = succeeded.split_at(split.min(succeeded.len()));
            let mut merged = Histogram::default();
            for part in [first, second] {
                let mut histogram = Histogram::default();
                for us in part {
                    histogram.record(Duration::from_micros(*us));
                }
                merged.merge(&histogram);
            }
            let judged = Quantiles::among(&merged, succeeded.len() as u64 + failed);
            for (found, per_mille) in [(judged.p50, 500), (judged.p90, 900), (judged.p99, 990), (judged.p999, 999), (judged.max, 1_000)] {
                let exact = by_hand(&mut succeeded, failed, per_mille);
                prop_assert_eq!(found.is_some(), exact.is_some());
                prop_assert!(found.zip(exact).is_none_or(|(found, exact)| found >= exact && found - exact <= exact / 1_000 + 1));
            }
        }
    }
}
