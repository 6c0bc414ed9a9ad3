//! What became of the acts over time: successes and every class of failure, stacked and never merged.

use crate::Report;
use crate::recording::Outcomes;

use super::axis::Axis;
use super::bins::{self, each};
use super::figure::{Chart, Figure, Layout, Panel};
use super::ink::Ink;
use super::stack::{Layer, stack};
use super::time::{Span, marks};
use super::unit::Unit;

/// A class of outcome beside success.
pub(crate) struct Class {
    /// Its name in words.
    pub name: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Its colour; classes of one kind share it.
    pub ink: Ink,
    /// How strongly it is filled, which tells apart those that share one.
    pub strength: f64,
    /// How many there were.
    pub count: fn(&Outcomes) -> u64,
}

/// Every class, those of one kind together.
pub(crate) const CLASSES: [Class; 18] = [
    class("timeout", "connected and sent, but no complete answer in time", (Ink::Violet, 1.0), |o| o.timeout),
    class("connect timeout", "no handshake in time", (Ink::Violet, 0.6), |o| o.connect_timeout),
    class("unanswered", "no call of the bot answered it", (Ink::Violet, 0.35), |o| o.unanswered),
    class("refused", "nobody listened", (Ink::Bad, 1.0), |o| o.refused),
    class("reset", "the connection was reset", (Ink::Bad, 0.6), |o| o.reset),
    class("tls failed", "connected, but no TLS session came of it", (Ink::Bad, 0.2), |o| o.tls_failed),
    class("closed", "the connection ended before the answer was whole", (Ink::Bad, 0.35), |o| o.closed),
    class("malformed", "what came is no answer that can be read", (Ink::Bad, 0.8), |o| o.malformed),
    class("status 5xx", "answered with a server error", (Ink::Amber, 1.0), |o| o.status_5xx),
    class("status 4xx", "answered with a client error", (Ink::Amber, 0.6), |o| o.status_4xx),
    class("check failed", "answered, but not as expected", (Ink::Amber, 0.35), |o| o.check_failed),
    class("status 1xx", "answered with a status that was not expected", (Ink::Teal, 1.0), |o| o.status_1xx),
    class("status 2xx", "answered with a status that was not expected", (Ink::Teal, 0.6), |o| o.status_2xx),
    class("status 3xx", "answered with a status that was not expected", (Ink::Teal, 0.35), |o| o.status_3xx),
    class("abandoned", "planned and never sent, the system too far behind or gone", (Ink::Neutral, 1.0), |o| {
        o.abandoned
    }),
    class("stopped", "begun after the scenario had stopped the system", (Ink::Neutral, 0.7), |o| o.stopped),
    class("skipped", "planned and left out on purpose", (Ink::Neutral, 0.4), |o| o.skipped),
    class(
        "rig fault",
        "the rig could not send it or not judge its answer; never charged to the system",
        (Ink::Olive, 1.0),
        |o| o.rig_fault,
    ),
];

const fn class(
    name: &'static str,
    means: &'static str,
    (ink, strength): (Ink, f64),
    count: fn(&Outcomes) -> u64,
) -> Class {
    Class { name, means, ink, strength, count }
}

/// How many did not succeed, those left out on purpose and those after an ordered stop not counted.
pub(crate) fn failed(outcomes: &Outcomes) -> u64 {
    outcomes.total() - outcomes.excused()
}

/// Acts that ended in each bin, by what became of them.
pub(crate) fn chart(report: &Report<'_>, layout: Layout) -> Chart {
    let Some(span) = Span::of(report) else { return nothing() };
    let bins = bins::of_load(report, span, layout);
    let places: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.from, bin.len)).collect();
    let ok = bins.iter().map(|bin| bin.sum(|point| point.ok)).collect();
    let mut layers = vec![Layer { name: "ok".to_owned(), ink: Ink::Good, strength: 0.55, values: ok }];
    layers.extend(CLASSES.iter().map(|class| Layer {
        name: class.name.to_owned(),
        ink: class.ink,
        strength: class.strength,
        values: bins.iter().map(|bin| bin.sum(|point| (class.count)(&point.outcomes))).collect(),
    }));
    let (series, highest) = stack(&places, layers);
    let Some(first) = bins.first().filter(|_| !series.is_empty()) else { return nothing() };
    let title = format!("Acts that ended in {}", each(first.len));
    let panel = Panel { series, ..Panel::new(title, 180.0, Axis::from_zero(highest, Unit::Count, 4)) };
    Chart::Figure(Figure {
        says: "Acts that ended over the time of the run, stacked by outcome".to_owned(),
        x: span.axis(layout),
        panels: vec![panel],
        marks: marks(report, span),
    })
}

fn nothing() -> Chart {
    Chart::Words("No act ended while this run was recorded.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_belongs_to_exactly_one_class() {
        for (name, _) in Outcomes::default().named() {
            let one = serde_json::json!({ name: 1 });
            let mut all = serde_json::to_value(Outcomes::default()).unwrap();
            all.as_object_mut().unwrap().extend(one.as_object().unwrap().clone());
            let outcomes: Outcomes = serde_json::from_value(all).unwrap();
            let counts: Vec<&str> =
                CLASSES.iter().filter(|class| (class.count)(&outcomes) == 1).map(|class| class.name).collect();
            assert_eq!(counts, [name.replace('_', " ").as_str()]);
        }
    }

    #[test]
    fn what_was_left_out_on_purpose_has_not_failed() {
        assert_eq!(failed(&Outcomes { skipped: 3, timeout: 2, abandoned: 1, ..Outcomes::default() }), 3);
    }
}
