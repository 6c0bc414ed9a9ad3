//! Several runs in one picture: the same series of each, told apart by colour, dash and name.

use std::collections::BTreeSet;

use crate::Report;

use super::axis::Axis;
use super::bins::{self, peaks};
use super::figure::{Chart, Figure, Layout, Panel, Series, Stroke};
use super::ink::Ink;
use super::percentiles;
use super::time::{Span, into_load};
use super::unit::Unit;

/// How the runs are told apart, the baseline first.
pub(crate) const LOOKS: [(Ink, Stroke); 6] = [
    (Ink::Amber, Stroke::Dashed),
    (Ink::Good, Stroke::Solid),
    (Ink::Teal, Stroke::Dotted),
    (Ink::Violet, Stroke::Bold),
    (Ink::Olive, Stroke::Dashed),
    (Ink::Neutral, Stroke::Solid),
];

/// The acts that any of the runs has response times of.
pub(crate) fn acts(reports: &[Report<'_>]) -> BTreeSet<String> {
    let curves = reports.iter().flat_map(|report| &report.timeline.curves);
    curves.filter(|(_, curve)| curve.count() > 0).map(|(act, _)| act.clone()).collect()
}

/// The percentile curves of one act.
pub(crate) fn curves(reports: &[Report<'_>], act: &str) -> Chart {
    let found = reports.iter().zip(LOOKS).filter_map(|(report, look)| {
        let curve = report.timeline.curves.get(act).filter(|curve| curve.count() > 0)?;
        Some(((report.name(), curve), look))
    });
    let (curves, looks): (Vec<_>, Vec<_>) = found.unzip();
    match percentiles::panel(&format!("Response time of {act}"), &curves, &looks, vec![]) {
        Some((x, panel)) => Chart::Figure(Figure {
            says: format!("Response time of {act} at every percentile, logarithmic, one curve for each run"),
            x,
            panels: vec![panel],
            marks: vec![],
        }),
        None => Chart::Words(format!("No run has a response time of {act}.")),
    }
}

/// Memory, completions and 429s over time.
pub(crate) fn over_time(reports: &[Report<'_>], layout: Layout) -> Chart {
    let Some(span) = Span::of_all(reports) else {
        return Chart::Words("None of the runs recorded anything over time.".to_owned());
    };
    let view = View { reports, span, layout };
    let panels = vec![
        view.panel("Resident memory", 130.0, Unit::Bytes, memory),
        view.panel("Successes per second", 130.0, Unit::Count, successes),
        view.panel("Calls answered 429 per second", 90.0, Unit::Count, throttled),
    ];
    let says = "Resident memory, successes and 429s per second over the time of the runs, one line for each run";
    Chart::Figure(Figure { says: says.to_owned(), x: span.axis(layout), panels, marks: vec![] })
}

struct View<'a> {
    reports: &'a [Report<'a>],
    span: Span,
    layout: Layout,
}

type Points = Vec<(f64, Option<f64>)>;

impl View<'_> {
    fn panel(&self, title: &str, height: f64, unit: Unit, points: fn(&Self, &Report<'_>) -> Points) -> Panel {
        let series = self.reports.iter().zip(LOOKS);
        let series =
            series.map(|(report, (ink, stroke))| Series::line(report.name(), ink, stroke, points(self, report)));
        let series: Vec<Series> = series.filter(|series| !series.is_empty()).collect();
        if series.is_empty() {
            return Panel::blank(title, "not measured in any of the runs");
        }
        let highest = series.iter().map(Series::highest).fold(0.0, f64::max);
        Panel { series, ..Panel::new(title, height, Axis::from_zero(highest, unit, 3)) }
    }
}

fn memory(view: &View<'_>, report: &Report<'_>) -> Points {
    let points = report
        .timeline
        .vitals
        .iter()
        .map(|vital| (into_load(report, vital.at_s), vital.rss_bytes.map(|rss| rss as f64)));
    let points: Points = points.filter(|(at, _)| view.span.holds(*at)).collect();
    peaks(&points, view.layout.points())
}

fn successes(view: &View<'_>, report: &Report<'_>) -> Points {
    let bins = bins::of_load(report, view.span, view.layout);
    bins.iter().map(|bin| (bin.middle(), Some(bin.sum(|point| point.ok) / bin.len))).collect()
}

fn throttled(view: &View<'_>, report: &Report<'_>) -> Points {
    let bins = bins::of_calls(report, view.span, view.layout);
    bins.iter().map(|bin| (bin.middle(), Some(bin.sum(|point| point.throttled) / bin.len))).collect()
}
