//! The time axis that all charts of a run share, so that they can be read one above the other, and what
//! happened once along it. Zero is the start of the load.

use crate::Report;
use crate::recording::{Event, EventKind};

use super::axis::Axis;
use super::figure::{Layout, Mark};
use super::ink::Ink;

/// The share of the load that is shown before its start: how the system was at rest.
const REST: f64 = 0.04;

/// From when to when, in seconds since the start of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    pub from: f64,
    pub to: f64,
}

impl Span {
    /// What a run covers, or nothing when nothing was recorded.
    pub(crate) fn of(report: &Report<'_>) -> Option<Self> {
        let timeline = report.timeline;
        let load = timeline.load.iter().map(|point| (point.from_s, point.len_s));
        let calls = timeline.calls.iter().map(|point| (point.from_s, point.len_s));
        let vitals = timeline.vitals.iter().map(|point| (point.at_s, 0.0));
        let came = timeline.events.iter().filter(|event| event.kind == EventKind::ProbeCame);
        let came = came.map(|event| (event.at_us as f64 / 1e6, 0.0));
        let all = load.chain(calls).chain(vitals).chain(came).map(|(from, len)| (into_load(report, from), len));
        let all = all.map(|(from, len)| (from, from + len)).filter(|(from, to)| from.is_finite() && to.is_finite());
        let (first, last) = all.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)))?;
        let from = if last > 0.0 { first.clamp(-REST * last, 0.0) } else { first };
        Some(Self { from, to: last.max(from + 0.1) })
    }

    /// What several runs cover together.
    pub(crate) fn of_all(reports: &[Report<'_>]) -> Option<Self> {
        let spans = reports.iter().filter_map(Self::of);
        spans.reduce(|one, other| Self { from: one.from.min(other.from), to: one.to.max(other.to) })
    }

    /// How long it is.
    pub(crate) fn len(self) -> f64 {
        self.to - self.from
    }

    /// Whether an instant lies in it.
    pub(crate) fn holds(self, at: f64) -> bool {
        (self.from..=self.to).contains(&at)
    }

    /// The axis.
    pub(crate) fn axis(self, layout: Layout) -> Axis {
        Axis::time(self.from, self.to, layout.ticks())
    }
}

/// Seconds since the start of the load, of seconds since the epoch.
pub(crate) fn into_load(report: &Report<'_>, at_s: f64) -> f64 {
    at_s - report.summary.header.load_us.0 as f64 / 1e6
}

/// The things that happened once and are worth a line through the charts.
pub(crate) fn marks(report: &Report<'_>, span: Span) -> Vec<Mark> {
    let mark = |event: &Event| {
        let ink = ink_of(event.kind)?;
        let at = into_load(report, event.at_us as f64 / 1e6);
        span.holds(at).then(|| Mark { at, name: event.kind.words().to_owned(), ink })
    };
    let mut marks: Vec<Mark> = report.timeline.events.iter().filter_map(mark).collect();
    marks.dedup_by(|later, earlier| later.name == earlier.name);
    marks
}

/// A mark's colour; no mark for what the axis says itself or what needs a sentence.
fn ink_of(kind: EventKind) -> Option<Ink> {
    match kind {
        EventKind::FirstThrottled | EventKind::StopOrdered => Some(Ink::Amber),
        EventKind::Died | EventKind::ServiceDied | EventKind::Interrupted => Some(Ink::Bad),
        EventKind::LoadEnded | EventKind::Settled | EventKind::ProbeCame => Some(Ink::Muted),
        EventKind::LoadStarted | EventKind::Note => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::fixture;

    #[test]
    fn time_counts_from_the_start_of_the_load_and_shows_a_little_of_the_rest_before_it() {
        let mut run = fixture::two_seconds();
        let first = run.timeline.vitals[0].at_s;
        assert!((into_load(&run.report(), first) + 1.0).abs() < 1e-9, "a second of rest was recorded");
        let span = Span::of(&run.report()).unwrap();
        assert!((span.from + REST * span.to).abs() < 1e-9, "{span:?}");
        run.timeline.vitals.clear();
        assert!(Span::of(&run.report()).unwrap().from.abs() < 1e-9);
    }

    #[test]
    fn a_run_that_recorded_nothing_has_no_time() {
        assert_eq!(Span::of(&fixture::empty().report()), None);
    }

    #[test]
    fn a_death_is_marked_at_its_second_and_the_start_of_the_load_is_not() {
        let run = fixture::dead();
        let span = Span::of(&run.report()).unwrap();
        let marks = marks(&run.report(), span);
        assert_eq!(marks.iter().map(|mark| mark.name.as_str()).collect::<Vec<_>>(), ["died", "load ends"]);
        assert!((marks[0].at - 3.1).abs() < 0.06, "{marks:?}");
    }

    #[test]
    fn what_lies_outside_the_shown_time_is_not_marked() {
        let run = fixture::dead();
        assert!(marks(&run.report(), Span { from: 4.0, to: 5.0 }).is_empty());
    }

    #[test]
    fn the_idle_time_after_the_load_is_on_the_axis_up_to_the_player_who_ends_it() {
        let mut run = fixture::two_seconds();
        let from_s = run.summary.header.load_us.0 as f64 / 1e6;
        let at_us = ((from_s + 9.0) * 1e6) as u64;
        run.timeline.events.push(Event { at_us, kind: EventKind::ProbeCame, text: String::new() });
        let span = Span::of(&run.report()).unwrap();
        assert!((span.to - 9.0).abs() < 1e-6, "{span:?}");
        assert_eq!(marks(&run.report(), span).last().map(|mark| mark.name.as_str()), Some("after idle"));
    }
}
