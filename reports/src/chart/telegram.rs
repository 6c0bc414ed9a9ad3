//! The calls the system made to Telegram over time, and how many of them were refused for coming too fast.

use crate::Report;
use crate::timeline::CallPoint;

use super::axis::Axis;
use super::bins::{self, Bin, each};
use super::figure::{Chart, Figure, Layout, Panel};
use super::ink::Ink;
use super::stack::{Layer, stack};
use super::time::{Span, marks};
use super::unit::Unit;

/// Calls accepted, answered 429 and answered with another error.
pub(crate) fn chart(report: &Report<'_>, layout: Layout) -> Chart {
    let Some(span) = Span::of(report) else { return nothing() };
    let bins = bins::of_calls(report, span, layout);
    let places: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.from, bin.len)).collect();
    let layers = vec![
        layer("accepted", Ink::Good, 0.55, &bins, |point| point.accepted),
        layer("429", Ink::Amber, 1.0, &bins, |point| point.throttled),
        layer("other errors", Ink::Bad, 1.0, &bins, |point| point.errors),
    ];
    let (series, highest) = stack(&places, layers);
    let Some(first) = bins.first().filter(|_| !series.is_empty()) else { return nothing() };
    let title = format!("Calls to Telegram in {}", each(first.len));
    let panel = Panel { series, ..Panel::new(title, 150.0, Axis::from_zero(highest, Unit::Count, 4)) };
    Chart::Figure(Figure {
        says: "Calls to Telegram over the time of the run, stacked by accepted, 429 and other errors".to_owned(),
        x: span.axis(layout),
        panels: vec![panel],
        marks: marks(report, span),
    })
}

fn layer(name: &str, ink: Ink, strength: f64, bins: &[Bin<'_, CallPoint>], count: fn(&CallPoint) -> u64) -> Layer {
    Layer { name: name.to_owned(), ink, strength, values: bins.iter().map(|bin| bin.sum(count)).collect() }
}

fn nothing() -> Chart {
    Chart::Words("The system made no call to Telegram.".to_owned())
}
