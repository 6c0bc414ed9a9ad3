//! Openings: who opens the app when, in one journey. Pure; what is computed in floating point uses only operations
//! that IEEE 754 fixes to the last bit, and libm.

use std::time::Duration;

use super::chance::{Source, micros};
use crate::scenario::Arrive;

/// One player opening the app once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    /// Since the start of the load, in whole microseconds.
    pub(super) at: Duration,
    /// Index in the crowd.
    pub(super) player: u32,
}

/// Every opening of a journey that `players` go through.
pub(super) fn openings(arrive: &Arrive, players: u32, source: &Source) -> Vec<Opening> {
    match arrive {
        Arrive::Burst { over } => burst(*over, players, source),
        Arrive::Constant { rate, over } => in_turns(ramp(*rate, *rate, *over), players, source),
        Arrive::Poisson { rate, over } => in_turns(poisson(*rate, *over, source), players, source),
        Arrive::Ramp { from, to, over } => in_turns(ramp(*from, *to, *over), players, source),
        Arrive::Steps { rates, each } => in_turns(steps(rates, *each), players, source),
        Arrive::Replay { file: _, instants, digest: _ } => in_turns(instants.iter().copied(), players, source),
    }
}

/// Everyone once, each at an instant of their own stream.
fn burst(over: Duration, players: u32, source: &Source) -> Vec<Opening> {
    let window = over.as_micros() as u64;
    let instant = |player| Duration::from_micros(source.stream(player).below(window));
    (0..players).map(|player| Opening { at: instant(player), player }).collect()
}

/// The stream that no player has: it draws what belongs to the journey as a whole.
const EVERYONE: u32 = u32::MAX;

/// Players come round in a drawn order, as often as there are instants.
fn in_turns(instants: impl Iterator<Item = Duration>, players: u32, source: &Source) -> Vec<Opening> {
    let order = source.stream(EVERYONE).order(players);
    instants.zip(order.into_iter().cycle()).map(|(at, player)| Opening { at, player }).collect()
}

/// Arrival k comes when the rate, summed over time, reaches k.
///
/// With a rate of `from + (to - from) t / over` that sum is a square in t; its root is written with the k above the
/// fraction line, which stays exact where the two rates are the same or nearly so.
fn ramp(from: f64, to: f64, over: Duration) -> impl Iterator<Item = Duration> {
    let seconds = over.as_secs_f64();
    let growth = if seconds > 0.0 { (to - from) / seconds } else { 0.0 };
    let expected = libm::ceil(f64::midpoint(from, to) * seconds) as u32;
    let instant = move |k: u32| match k {
        0 => Duration::ZERO,
        k => {
            let k = f64::from(k);
            micros(2.0 * k / (from + libm::sqrt((from * from + 2.0 * growth * k).max(0.0))))
        }
    };
    (0..expected).map(instant).take_while(move |at| *at < over)
}

/// As in a ramp, arrival k comes when the rate, summed over all steps so far, reaches k.
fn steps(rates: &[f64], each: Duration) -> impl Iterator<Item = Duration> {
    let seconds = each.as_secs_f64();
    let mut so_far = 0.0;
    (0..).zip(rates).flat_map(move |(nth, &rate)| {
        let (before, from) = (so_far, each * nth);
        so_far += rate * seconds;
        let first = libm::ceil(before) as u64;
        let count = (libm::ceil(so_far) - libm::ceil(before)) as u64;
        (first..first + count)
            .map(move |k| from + micros((k as f64 - before) / rate))
            .take_while(move |at| *at < from + each)
    })
}

/// Exponential gaps between arrivals, the first one included.
fn poisson(rate: f64, over: Duration, source: &Source) -> impl Iterator<Item = Duration> {
    let mut chance = source.stream(EVERYONE - 1);
    let mut seconds = 0.0;
    std::iter::repeat_with(move || {
        seconds -= libm::log(chance.unit()) / rate;
        micros(seconds)
    })
    .take_while(move |at| *at < over)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn source() -> Source {
        Source::new(7, "test")
    }

    fn instants(arrive: &Arrive) -> Vec<Duration> {
        openings(arrive, 4, &source()).iter().map(|opening| opening.at).collect()
    }

    fn millis(list: &[u64]) -> Vec<Duration> {
        list.iter().copied().map(Duration::from_millis).collect()
    }

    #[test]
    fn a_burst_brings_everyone_once_within_its_window() {
        let opened = openings(&Arrive::Burst { over: SECOND }, 100, &source());
        assert_eq!(opened.iter().map(|opening| opening.player).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert!(opened.iter().all(|opening| opening.at < SECOND));
    }

    #[test]
    fn a_burst_is_uniform() {
        let opened = openings(&Arrive::Burst { over: SECOND }, 10_000, &source());
        let firsts = opened.iter().filter(|opening| opening.at < SECOND / 2).count();
        // Five standard deviations of a fair coin thrown 10,000 times.
        assert!(firsts.abs_diff(5000) < 250, "{firsts} of 10,000 in the first half");
    }

    #[test]
    fn a_burst_over_no_time_brings_everyone_at_once() {
        assert_eq!(instants(&Arrive::Burst { over: Duration::ZERO }), millis(&[0, 0, 0, 0]));
    }

    #[test]
    fn a_constant_rate_is_evenly_spaced_and_ends_before_its_end() {
        assert_eq!(instants(&Arrive::Constant { rate: 4.0, over: SECOND }), millis(&[0, 250, 500, 750]));
    }

    #[test]
    fn a_constant_rate_for_twelve_seconds_makes_twelve_times_the_rate() {
        assert_eq!(instants(&Arrive::Constant { rate: 50.0, over: 12 * SECOND }).len(), 600);
    }

    #[test]
    fn a_constant_rate_that_is_no_whole_number_is_rounded_to_the_nearest_microsecond() {
        let expected = [0, 333_333, 666_667].map(Duration::from_micros);
        assert_eq!(instants(&Arrive::Constant { rate: 3.0, over: SECOND }), expected);
    }

    #[test]
    fn a_rate_of_zero_brings_nobody() {
        let over = SECOND;
        assert!(instants(&Arrive::Constant { rate: 0.0, over }).is_empty());
        assert!(instants(&Arrive::Poisson { rate: 0.0, over }).is_empty());
        assert!(instants(&Arrive::Ramp { from: 0.0, to: 0.0, over }).is_empty());
    }

    #[test]
    fn no_time_brings_nobody_by_rate() {
        let over = Duration::ZERO;
        assert!(instants(&Arrive::Constant { rate: 9.0, over }).is_empty());
        assert!(instants(&Arrive::Poisson { rate: 9.0, over }).is_empty());
        assert!(instants(&Arrive::Ramp { from: 0.0, to: 9.0, over }).is_empty());
    }

    #[test]
    fn a_rising_ramp_has_its_arrivals_where_the_summed_rate_reaches_whole_numbers() {
        // A rate of 2t sums to t squared: arrivals at the square roots of 0, 1, 2, 3.
        let expected = [0, 1_000_000, 1_414_214, 1_732_051].map(Duration::from_micros);
        assert_eq!(instants(&Arrive::Ramp { from: 0.0, to: 4.0, over: 2 * SECOND }), expected);
    }

    #[test]
    fn a_falling_ramp_mirrors_the_rising_one() {
        // A rate of 4 - 2t sums to 4t - t squared.
        let expected = [0, 267_949, 585_786, 1_000_000].map(Duration::from_micros);
        assert_eq!(instants(&Arrive::Ramp { from: 4.0, to: 0.0, over: 2 * SECOND }), expected);
    }

    #[test]
    fn steps_have_one_rate_after_the_other_and_none_where_it_is_zero() {
        let steps = Arrive::Steps { rates: vec![2.0, 0.0, 4.0], each: SECOND };
        assert_eq!(instants(&steps), millis(&[0, 500, 2000, 2250, 2500, 2750]));
    }

    #[test]
    fn what_a_step_leaves_of_an_arrival_is_made_up_for_by_the_next() {
        // After 1.5 seconds at 1 a second, the second arrival is half due; at 2 a second that takes a quarter more.
        let steps = Arrive::Steps { rates: vec![1.0, 2.0], each: Duration::from_millis(1500) };
        assert_eq!(instants(&steps), millis(&[0, 1000, 1750, 2250, 2750]));
    }

    #[test]
    fn recorded_arrivals_come_as_they_came() {
        let recorded = millis(&[0, 5, 5, 700]);
        assert_eq!(instants(&Arrive::replay(&recorded)), recorded);
    }

    #[test]
    fn a_poisson_process_has_its_rate_on_average_and_gaps_as_uneven_as_their_mean() {
        let opened = instants(&Arrive::Poisson { rate: 100.0, over: 100 * SECOND });
        // Five standard deviations of a Poisson count of 10,000.
        assert!(opened.len().abs_diff(10_000) < 500, "{} arrivals", opened.len());
        assert!(opened.is_sorted());
        let long = opened.windows(2).filter(|pair| pair[1] > pair[0] + SECOND / 100).count() as f64;
        let share = long / opened.len() as f64;
        assert!((share - 1.0 / std::f64::consts::E).abs() < 0.03, "{share} of the gaps are longer than their mean");
    }

    #[test]
    fn by_rate_players_come_round_in_a_drawn_order() {
        let opened = openings(&Arrive::Constant { rate: 100.0, over: SECOND }, 10, &source());
        let players: Vec<u32> = opened.iter().map(|opening| opening.player).collect();
        let (first, rest) = players.split_at(10);
        assert_ne!(first, (0..10).collect::<Vec<_>>());
        assert!(rest.chunks(10).all(|round| round == first));
        assert_eq!((0..10).filter(|player| first.contains(player)).count(), 10);
    }
}
