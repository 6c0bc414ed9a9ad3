//! An axis: a scale, its unit, and the marks along it.

use super::scale::Scale;
use super::unit::Unit;

/// A scale with its unit and its marks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub scale: Scale,
    pub unit: Unit,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// From zero to a round value that holds `greatest`.
    pub(crate) fn from_zero(greatest: f64, unit: Unit, most_ticks: usize) -> Self {
        let greatest = if greatest > 0.0 { greatest } else { 1.0 };
        let step = unit.step(greatest / most_ticks as f64);
        let steps = (greatest / step - 1e-9).ceil().max(1.0);
        let scale = Scale::Linear { from: 0.0, to: step * steps };
        Self { scale, unit, ticks: (0..=steps as u32).map(|nth| f64::from(nth) * step).collect() }
    }

    /// The time of a run, in seconds since the start of the load. The ends are the run's own, not round ones.
    pub(crate) fn time(from: f64, to: f64, most_ticks: usize) -> Self {
        let step = Unit::Seconds.step((to - from) / most_ticks as f64);
        let first = (from / step).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|nth| nth as f64 * step).collect();
        Self { scale: Scale::Linear { from, to }, unit: Unit::Seconds, ticks }
    }

    /// Durations in microseconds by powers of ten, from a round value below `least` to one above `greatest`.
    pub(crate) fn durations(least: f64, greatest: f64) -> Self {
        let (least, greatest) = (least.max(1.0), greatest.max(1.0));
        let from = 10f64.powf(least.log10().floor());
        let to = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * 10f64.powf(greatest.log10().floor()));
        let to = to.into_iter().find(|to| *to >= greatest).unwrap_or(greatest).max(from * 10.0);
        let decades = (to / from).log10().ceil() as i32;
        let factors: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let ticks = (0..=decades).flat_map(|power| factors.iter().map(move |factor| factor * from * 10f64.powi(power)));
        let ticks = ticks.filter(|tick| *tick <= to * (1.0 + 1e-9)).collect();
        Self { scale: Scale::Log { from, to }, unit: Unit::Micros, ticks }
    }

    /// Quantiles up to the last that `count` values can tell, at most five nines.
    pub(crate) fn quantiles(count: u64) -> Self {
        let nines = (count.max(10) as f64).log10().min(5.0) + 1e-9;
        let ticks = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
        let scale = Scale::Nines { nines };
        Self { scale, unit: Unit::Quantile, ticks: ticks.into_iter().filter(|tick| scale.holds(*tick)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| axis.unit.label(*tick)).collect()
    }

    #[test]
    fn an_axis_from_zero_ends_on_a_mark_that_holds_the_greatest_value() {
        let axis = Axis::from_zero(1_040.0, Unit::Count, 4);
        assert_eq!(labels(&axis), ["0", "500", "1,000", "1,500"]);
        assert!(axis.scale.holds(1_040.0));
    }

    #[test]
    fn an_axis_of_nothing_still_has_a_length() {
        assert_eq!(labels(&Axis::from_zero(0.0, Unit::Count, 4)), ["0", "1"]);
    }

    #[test]
    fn bytes_are_marked_in_binary_steps() {
        let axis = Axis::from_zero(700.0 * 1024.0 * 1024.0, Unit::Bytes, 4);
        assert_eq!(labels(&axis), ["0", "256 MiB", "512 MiB", "768 MiB"]);
    }

    #[test]
    fn time_keeps_the_ends_of_the_run_and_marks_round_seconds() {
        let axis = Axis::time(-0.7, 2.2, 5);
        assert_eq!(labels(&axis), ["0 s", "1 s", "2 s"]);
        assert_eq!(axis.scale, Scale::Linear { from: -0.7, to: 2.2 });
    }

    #[test]
    fn durations_are_marked_by_powers_of_ten() {
        assert_eq!(labels(&Axis::durations(800.0, 2_400_000.0)), ["100 us", "1 ms", "10 ms", "100 ms", "1 s"]);
    }

    #[test]
    fn durations_close_together_are_marked_more_finely() {
        assert_eq!(labels(&Axis::durations(2_000.0, 40_000.0)), ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms"]);
        assert_eq!(labels(&Axis::durations(0.0, 0.0)), ["1 us", "2 us", "5 us", "10 us"]);
    }

    #[test]
    fn quantiles_end_where_the_samples_do() {
        assert_eq!(labels(&Axis::quantiles(1_000)), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        assert_eq!(labels(&Axis::quantiles(1)), ["0 %", "50 %", "90 %"]);
    }
}
