//! The whole distribution of response times, act by act, with as much room for the last percent as for the rest.

use std::time::Duration;

use crate::recording::Histogram;
use crate::summary::Quantiles;
use crate::{Latency, Report};

use super::axis::Axis;
use super::figure::{Chart, Figure, Panel, Pin, Series, Stroke};
use super::ink::Ink;
use super::unit::Unit;

/// How the acts are told apart; further ones are in the table only.
pub(crate) const LOOKS: [(Ink, Stroke); 6] = [
    (Ink::Good, Stroke::Solid),
    (Ink::Amber, Stroke::Dashed),
    (Ink::Teal, Stroke::Bold),
    (Ink::Violet, Stroke::Dotted),
    (Ink::Olive, Stroke::Solid),
    (Ink::Neutral, Stroke::Dashed),
];

/// Points of a curve between two nines.
const POINTS_IN_A_NINE: i32 = 24;

/// The percentile curve of each act, the budgets as pins at their percentiles.
pub(crate) fn chart(report: &Report<'_>) -> Chart {
    let curves = report.timeline.curves.iter().filter(|(_, curve)| curve.count() > 0);
    let curves: Vec<(&str, &Histogram)> = curves.map(|(act, curve)| (act.as_str(), curve)).take(LOOKS.len()).collect();
    let (acts, budgets) = (&report.summary.acts, &report.summary.header.budgets.latency);
    let pins = curves.iter().filter_map(|(act, _)| Some(pins(act, &acts.get(*act)?.judged_us, budgets.get(*act)?)));
    let pins = pins.flatten().collect();
    match panel("Response time by percentile", &curves, &LOOKS, pins) {
        Some((x, panel)) => Chart::Figure(Figure { says: says(&curves), x, panels: vec![panel], marks: vec![] }),
        None => Chart::Words("No act succeeded, so there is no distribution of response times.".to_owned()),
    }
}

/// One panel of named curves; nothing when none has a value.
pub(crate) fn panel(
    title: &str,
    curves: &[(&str, &Histogram)],
    looks: &[(Ink, Stroke)],
    pins: Vec<Pin>,
) -> Option<(Axis, Panel)> {
    let most = curves.iter().map(|(_, curve)| curve.count()).max()?;
    let least = curves.iter().filter_map(|(_, curve)| curve.quantile_us(0.0)).min()?;
    let greatest = curves.iter().filter_map(|(_, curve)| curve.max_us()).max()?;
    let greatest = pins.iter().map(|pin| pin.y).fold(greatest as f64, f64::max);
    let x = Axis::quantiles(most);
    let mut panel = Panel::new(title, 250.0, Axis::durations(least as f64, greatest));
    panel.series =
        curves.iter().zip(looks).map(|((name, curve), (ink, stroke))| line(name, curve, &x, *ink, *stroke)).collect();
    panel.pins = pins.into_iter().filter(|pin| x.scale.holds(pin.x)).collect();
    Some((x, panel))
}

/// A curve as far as its own samples tell, and no further.
fn line(name: &str, curve: &Histogram, x: &Axis, ink: Ink, stroke: Stroke) -> Series {
    let last = 1.0 - 1.0 / curve.count().max(2) as f64;
    let quantiles =
        (0..=6 * POINTS_IN_A_NINE).map(|nth| 1.0 - 10f64.powf(-f64::from(nth) / f64::from(POINTS_IN_A_NINE)));
    let quantiles =
        quantiles.filter(|quantile| *quantile < last).chain([last]).filter(|quantile| x.scale.holds(*quantile));
    Series::line(
        name,
        ink,
        stroke,
        quantiles.map(|quantile| (quantile, curve.quantile_us(quantile).map(|us| us as f64))),
    )
}

/// Where a budget stands among those that it judges, and these are more than the curve shows: all planned acts, of which
/// one that did not succeed ranks slowest.
fn pins(act: &str, judged: &Quantiles, budget: &Latency) -> Vec<Pin> {
    let bounds = [
        ("p50", 0.5, budget.p50, judged.p50),
        ("p90", 0.9, budget.p90, judged.p90),
        ("p99", 0.99, budget.p99, judged.p99),
        ("p999", 0.999, budget.p999, judged.p999),
    ];
    let pin = |(name, x, bound, judged): (&str, f64, Option<Duration>, Option<u64>)| {
        let y = bound?.as_micros() as f64;
        let broken = judged.is_none_or(|us| us as f64 > y);
        Some(Pin { x, y, name: format!("{act} {name} ≤ {}", Unit::Micros.label(y)), broken })
    };
    bounds.into_iter().filter_map(pin).collect()
}

fn says(curves: &[(&str, &Histogram)]) -> String {
    let acts: Vec<&str> = curves.iter().map(|(act, _)| *act).collect();
    format!("Response time at every percentile, logarithmic, of {}", acts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::figure::Shape;

    /// 1 ms to `count` ms, one of each.
    fn curve(count: u64) -> Histogram {
        let mut curve = Histogram::default();
        (1..=count).for_each(|ms| curve.record(Duration::from_millis(ms)));
        curve
    }

    fn p99(ms: u64) -> Latency {
        Latency { p99: Some(Duration::from_millis(ms)), ..Latency::default() }
    }

    #[test]
    fn a_budget_is_pinned_at_its_percentile_and_broken_when_the_judged_acts_are_above_it() {
        let pin = |ms| pins("guess", &Quantiles::of(&curve(1_000)), &p99(ms)).remove(0);
        assert_eq!((pin(100).x, pin(100).y, pin(100).name.as_str()), (0.99, 100_000.0, "guess p99 ≤ 100 ms"));
        assert!(pin(989).broken);
        assert!(!pin(992).broken);
    }

    #[test]
    fn failures_break_a_pinned_budget_however_low_the_curve_of_successes_is() {
        let among = |planned| pins("guess", &Quantiles::among(&curve(1_000), planned), &p99(60_000)).remove(0);
        assert!(!among(1_010).broken);
        assert!(among(1_011).broken);
    }

    #[test]
    fn a_curve_ends_where_its_samples_do_even_beside_a_longer_one() {
        let (short, long) = (curve(10), curve(10_000));
        let (x, panel) = panel("", &[("open", &short), ("guess", &long)], &LOOKS, vec![]).unwrap();
        let ends = panel.series.iter().map(|series| match &series.shape {
            Shape::Line { runs, .. } => runs[0].last().unwrap().0,
            Shape::Bars { .. } => panic!("curves are lines"),
        });
        assert_eq!(ends.collect::<Vec<_>>(), [0.9, 0.9999]);
        assert!(x.scale.holds(0.9999) && !x.scale.holds(0.99999));
    }

    #[test]
    fn curves_of_nothing_make_no_panel() {
        assert!(panel("", &[], &LOOKS, vec![]).is_none());
        assert!(panel("", &[("open", &Histogram::default())], &LOOKS, vec![]).is_none());
    }
}
