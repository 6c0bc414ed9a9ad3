//! What was planned against what came back, and how much was under way: the first sign of a system that falls behind.

use crate::Report;
use crate::timeline::LoadPoint;

use super::axis::Axis;
use super::bins::{self, Bin};
use super::figure::{Chart, Figure, Layout, Panel, Series, Stroke};
use super::ink::Ink;
use super::outcomes::failed;
use super::time::{Span, marks};
use super::unit::Unit;

/// Arrivals, completions and acts in flight over time.
pub(crate) fn chart(report: &Report<'_>, layout: Layout) -> Chart {
    let Some(span) = Span::of(report).filter(|_| !report.timeline.load.is_empty()) else {
        return Chart::Words("No act was due while this run was recorded.".to_owned());
    };
    let bins = bins::of_load(report, span, layout);
    Chart::Figure(Figure {
        says: "Planned, successful and failed acts per second, and acts in flight, over the time of the run".to_owned(),
        x: span.axis(layout),
        panels: vec![rates(&bins), in_flight(&bins)],
        marks: marks(report, span),
    })
}

fn rates(bins: &[Bin<'_, LoadPoint>]) -> Panel {
    let offered = per_second(bins, |point| point.offered);
    let ok = per_second(bins, |point| point.ok);
    let not_ok = per_second(bins, |point| failed(&point.outcomes));
    let highest = [&offered, &ok, &not_ok].into_iter().flatten().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let any_failed = not_ok.iter().any(|(_, rate)| *rate > 0.0);
    let mut panel = Panel::new("Acts per second", 170.0, Axis::from_zero(highest, Unit::Count, 4));
    panel.series.push(line("planned", Ink::Neutral, Stroke::Dashed, offered));
    panel.series.push(line("ok", Ink::Good, Stroke::Solid, ok).filled());
    if any_failed {
        panel.series.push(line("failed", Ink::Bad, Stroke::Dotted, not_ok));
    }
    panel
}

fn in_flight(bins: &[Bin<'_, LoadPoint>]) -> Panel {
    let peak = |bin: &Bin<'_, LoadPoint>| bin.points.iter().map(|point| point.in_flight).max().unwrap_or(0) as f64;
    let points: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.middle(), peak(bin))).collect();
    let highest = points.iter().map(|(_, peak)| *peak).fold(0.0, f64::max);
    let mut panel = Panel::new("Acts in flight", 80.0, Axis::from_zero(highest, Unit::Count, 2));
    panel.series.push(line("in flight", Ink::Violet, Stroke::Solid, points).filled());
    panel
}

/// A count as a rate, over the part of each bin that was recorded.
fn per_second(bins: &[Bin<'_, LoadPoint>], count: fn(&LoadPoint) -> u64) -> Vec<(f64, f64)> {
    let recorded = |bin: &Bin<'_, LoadPoint>| bin.points.iter().map(|point| point.len_s).sum::<f64>().max(0.001);
    bins.iter().map(|bin| (bin.middle(), bin.sum(count) / recorded(bin))).collect()
}

fn line(name: &str, ink: Ink, stroke: Stroke, points: Vec<(f64, f64)>) -> Series {
    Series::line(name, ink, stroke, points.into_iter().map(|(x, y)| (x, Some(y))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::fixture;

    fn lines(run: &fixture::Run) -> Vec<String> {
        let Chart::Figure(figure) = chart(&run.report(), Layout::Wide) else { panic!("acts were due") };
        figure.panels[0].series.iter().map(|series| series.name.clone()).collect()
    }

    #[test]
    fn failures_have_a_line_when_there_are_any() {
        assert_eq!(lines(&fixture::calm()), ["planned", "ok"]);
        assert_eq!(lines(&fixture::dead()), ["planned", "ok", "failed"]);
    }
}
