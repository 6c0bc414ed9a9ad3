//! Response times over time, on a logarithmic axis, over the number of successes that each point rests on.

use crate::Report;
use crate::recording::Histogram;
use crate::timeline::LoadPoint;

use super::axis::Axis;
use super::bins::{self, Bin, each};
use super::figure::{Chart, Figure, Layout, Panel, Series, Stroke};
use super::ink::Ink;
use super::stack::{Layer, stack};
use super::time::{Span, marks};
use super::unit::Unit;

/// The percentiles shown: name, quantile and how they are drawn.
const PERCENTILES: [(&str, f64, Ink, Stroke); 4] = [
    ("max", 1.0, Ink::Neutral, Stroke::Dotted),
    ("p99", 0.99, Ink::High, Stroke::Bold),
    ("p90", 0.9, Ink::Middle, Stroke::Solid),
    ("p50", 0.5, Ink::Low, Stroke::Dashed),
];

/// Percentiles of the response time of successful acts over time.
pub(crate) fn chart(report: &Report<'_>, layout: Layout) -> Chart {
    let Some(span) = Span::of(report) else { return nothing() };
    let bins = bins::of_load(report, span, layout);
    let merged: Vec<Histogram> = bins.iter().map(merge).collect();
    let Some(panel) = percentiles(&bins, &merged) else { return nothing() };
    Chart::Figure(Figure {
        says: "Median, 90th and 99th percentile and maximum of the response time over the time of the run, logarithmic"
            .to_owned(),
        x: span.axis(layout),
        panels: vec![panel, counts(&bins, &merged)],
        marks: marks(report, span),
    })
}

fn nothing() -> Chart {
    Chart::Words(
        "No act succeeded, so there is no response time to show. What became of the acts is under Outcomes.".to_owned(),
    )
}

fn merge(bin: &Bin<'_, LoadPoint>) -> Histogram {
    let mut merged = Histogram::default();
    for point in &bin.points {
        merged.merge(&point.response);
    }
    merged
}

fn percentiles(bins: &[Bin<'_, LoadPoint>], merged: &[Histogram]) -> Option<Panel> {
    let least = merged.iter().filter_map(|bin| bin.quantile_us(0.5)).min()?;
    let greatest = merged.iter().filter_map(Histogram::max_us).max()?;
    let mut panel = Panel::new("Response time of successes", 230.0, Axis::durations(least as f64, greatest as f64));
    for (name, quantile, ink, stroke) in PERCENTILES {
        let points =
            bins.iter().zip(merged).map(|(bin, all)| (bin.middle(), all.quantile_us(quantile).map(|us| us as f64)));
        panel.series.push(Series::line(name, ink, stroke, points));
    }
    Some(panel)
}

fn counts(bins: &[Bin<'_, LoadPoint>], merged: &[Histogram]) -> Panel {
    let places: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.from, bin.len)).collect();
    let values = merged.iter().map(|bin| bin.count() as f64).collect();
    let (series, highest) =
        stack(&places, vec![Layer { name: "successes".to_owned(), ink: Ink::Neutral, strength: 0.7, values }]);
    let width = bins.first().map_or(0.0, |bin| bin.len);
    let title = format!("Successes in {}", each(width));
    Panel { series, ..Panel::new(title, 44.0, Axis::from_zero(highest, Unit::Count, 2)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::Shape;
    use crate::html::fixture;

    #[test]
    fn lines_end_with_the_last_success_and_the_time_goes_on() {
        let run = fixture::dead();
        let Chart::Figure(figure) = chart(&run.report(), Layout::Wide) else { panic!("acts succeeded until it died") };
        for series in &figure.panels[0].series {
            let Shape::Line { runs, .. } = &series.shape else { panic!("percentiles are lines") };
            let last = runs.last().unwrap().last().unwrap();
            assert!((2.0..3.3).contains(&last.0), "{}: {last:?}", series.name);
        }
        assert!(figure.x.scale.holds(11.0));
    }

    #[test]
    fn the_bars_count_every_success() {
        let run = fixture::stampede();
        let Chart::Figure(figure) = chart(&run.report(), Layout::Narrow) else { panic!("acts succeeded") };
        let Shape::Bars { bars, .. } = &figure.panels[1].series[0].shape else { panic!("counts are bars") };
        let counted: f64 = bars.iter().map(|bar| bar.top - bar.base).sum();
        let ok: u64 = run.summary.acts.values().map(|act| act.ok).sum();
        assert_eq!(counted.round() as u64, ok);
    }
}
