//! Intervals of a recording gathered into bins that are wide enough to see. Counts are added and histograms
//! merged, never averaged; of a gauge the peak is kept.

use crate::Report;
use crate::timeline::{CallPoint, LoadPoint};

use super::figure::Layout;
use super::time::{Span, into_load};
use super::unit::Unit;

/// Neighbouring points of a timeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bin<'a, T> {
    /// Where it begins, in seconds.
    pub from: f64,
    /// How long it is.
    pub len: f64,
    /// What lies in it; never empty.
    pub points: Vec<&'a T>,
}

impl<T> Bin<'_, T> {
    /// The middle of the bin.
    pub(crate) fn middle(&self) -> f64 {
        self.from + self.len / 2.0
    }

    /// The sum of a count over the bin.
    pub(crate) fn sum(&self, count: impl Fn(&T) -> u64) -> f64 {
        self.points.iter().map(|point| count(point)).sum::<u64>() as f64
    }
}

/// The load over the time that is shown.
pub(crate) fn of_load<'a>(report: &Report<'a>, span: Span, layout: Layout) -> Vec<Bin<'a, LoadPoint>> {
    let place = |point: &LoadPoint| (into_load(report, point.from_s), point.len_s);
    bins(&report.timeline.load, place, span, layout.bins())
}

/// The calls to Telegram over the time that is shown.
pub(crate) fn of_calls<'a>(report: &Report<'a>, span: Span, layout: Layout) -> Vec<Bin<'a, CallPoint>> {
    let place = |point: &CallPoint| (into_load(report, point.from_s), point.len_s);
    bins(&report.timeline.calls, place, span, layout.bins())
}

/// Gathers `points` of (begin, length) into at most about `most` bins of one round width, none finer than the recording.
fn bins<T>(points: &[T], place: impl Fn(&T) -> (f64, f64), span: Span, most: usize) -> Vec<Bin<'_, T>> {
    let finest = points.iter().map(|point| place(point).1).fold(0.001, f64::max);
    let len = Unit::Seconds.step(finest.max(span.len() / most as f64) * (1.0 - 1e-6));
    let mut bins: Vec<Bin<'_, T>> = Vec::new();
    for point in points {
        let from = (place(point).0 / len + 1e-6).floor() * len;
        match bins.last_mut() {
            Some(bin) if bin.from >= from => bin.points.push(point),
            Some(_) | None => bins.push(Bin { from, len, points: vec![point] }),
        }
    }
    bins
}

/// How long a bin is, for a title: `each second`, `each 0.5 s`.
pub(crate) fn each(len: f64) -> String {
    if (len - 1.0).abs() < 1e-9 { "each second".to_owned() } else { format!("each {}", Unit::Seconds.label(len)) }
}

/// At most about `most` points of a line: of neighbours the highest, a gap only where all are gaps.
pub(crate) fn peaks(points: &[(f64, Option<f64>)], most: usize) -> Vec<(f64, Option<f64>)> {
    let together = points.len().div_ceil(most).max(1);
    let peak = |few: &[(f64, Option<f64>)]| {
        let highest = few.iter().copied().filter(|(_, value)| value.is_some());
        highest
            .max_by(|(_, one), (_, other)| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal))
            .unwrap_or(few[0])
    };
    points.chunks(together).map(peak).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths_and_counts(points: &[(f64, f64)], most: usize) -> Vec<(f64, usize)> {
        let span = Span { from: 0.0, to: points.len() as f64 * points[0].1 };
        bins(points, |point| *point, span, most).iter().map(|bin| (bin.from, bin.points.len())).collect()
    }

    #[test]
    fn two_seconds_keep_their_tenths() {
        let points: Vec<_> = (0..20).map(|nth| (f64::from(nth) / 10.0, 0.1)).collect();
        let bins = widths_and_counts(&points, 120);
        assert_eq!(bins.len(), 20);
        assert!(bins.iter().all(|(_, count)| *count == 1));
    }

    #[test]
    fn a_minute_of_tenths_is_gathered_into_round_bins() {
        let points: Vec<_> = (0..600).map(|nth| (f64::from(nth) / 10.0, 0.1)).collect();
        let bins = widths_and_counts(&points, 120);
        assert_eq!(bins.len(), 120);
        assert!(bins.iter().all(|(_, count)| *count == 5));
        assert_eq!(bins[1], (0.5, 5));
    }

    #[test]
    fn bins_are_never_finer_than_the_recording() {
        let points: Vec<_> = (0..4).map(|nth| (f64::from(nth), 1.0)).collect();
        assert_eq!(widths_and_counts(&points, 120), [(0.0, 1), (1.0, 1), (2.0, 1), (3.0, 1)]);
    }

    #[test]
    fn of_neighbours_the_peak_is_kept() {
        let points = [(0.0, Some(1.0)), (1.0, Some(9.0)), (2.0, None), (3.0, Some(2.0)), (4.0, None), (5.0, None)];
        assert_eq!(peaks(&points, 3), [(1.0, Some(9.0)), (3.0, Some(2.0)), (4.0, None)]);
    }
}
