//! Thinking: how long a player takes before an act, drawn from its distribution. Pure; ChaCha8 and libm alone, so that
//! the same seed draws the same on every platform.

use std::f64::consts::TAU;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::chance::{Chance, micros};
use crate::scenario::Think;

/// Nine in ten of a standard normal distribution lie below it (its quantile function at 0.9).
const NORMAL_P90: f64 = 1.281_551_565_544_600_4;

/// A whole number of microseconds. Each distribution always takes as many draws, so that one player's times stand where
/// they stood when another's bounds change.
pub(super) fn think(think: &Think, chance: &mut Chance) -> Duration {
    match think {
        Think::Between(range) => chance.within(range),
        Think::Exponential { mean, within } => bounded(-libm::log(chance.unit()) * mean.as_secs_f64(), within),
        Think::Lognormal { median, p90, within } => {
            let (median, p90) = (median.as_secs_f64(), p90.as_secs_f64());
            let sigma = libm::log(p90 / median) / NORMAL_P90;
            bounded(median * libm::exp(sigma * normal(chance)), within)
        }
    }
}

/// A standard normal number, by the transform of Box and Muller ("A Note on the Generation of Random Normal Deviates",
/// 1958). Its twin is not used.
fn normal(chance: &mut Chance) -> f64 {
    let (radius, angle) = (chance.unit(), chance.unit());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(TAU * angle)
}

fn bounded(seconds: f64, within: &RangeInclusive<Duration>) -> Duration {
    micros(seconds).clamp(*within.start(), *within.end())
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::{MINUTE, SECOND};
    use super::super::chance::Source;
    use super::*;

    const ALL: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_hours(24);
    const MANY: usize = 10_000;

    fn drawn(distribution: &Think) -> Vec<Duration> {
        let mut chance = Source::new(7, "test").stream(0);
        let mut drawn: Vec<Duration> = (0..MANY).map(|_| think(distribution, &mut chance)).collect();
        drawn.sort_unstable();
        drawn
    }

    fn is_near(time: Duration, seconds: f64) -> bool {
        (time.as_secs_f64() / seconds - 1.0).abs() < 0.06
    }

    #[test]
    fn exponential_times_have_their_mean_and_their_median_at_seven_tenths_of_it() {
        let times = drawn(&Think::Exponential { mean: 4 * SECOND, within: ALL });
        assert!(is_near(times.iter().sum::<Duration>() / MANY as u32, 4.0));
        assert!(is_near(times[MANY / 2], 4.0 * std::f64::consts::LN_2));
    }

    #[test]
    fn lognormal_times_have_their_median_and_their_p90() {
        let times = drawn(&Think::Lognormal { median: 4 * SECOND, p90: 12 * SECOND, within: ALL });
        assert!(is_near(times[MANY / 2], 4.0) && is_near(times[MANY * 9 / 10], 12.0));
        // As far below the median as above it, by ratio.
        assert!(is_near(times[MANY / 10], 4.0 / 3.0));
    }

    #[test]
    fn what_is_drawn_outside_the_bounds_is_the_bound() {
        let times = drawn(&Think::Exponential { mean: MINUTE, within: SECOND..=10 * SECOND });
        assert_eq!((times[0], times[MANY - 1]), (SECOND, 10 * SECOND));
    }

    #[test]
    fn the_same_seed_draws_the_same_to_the_microsecond_on_every_platform() {
        let first = |distribution: Think| {
            let mut chance = Source::new(7, "test").stream(0);
            std::array::from_fn::<u128, 3, _>(|_| think(&distribution, &mut chance).as_micros())
        };
        assert_eq!(first(Think::Exponential { mean: 4 * SECOND, within: ALL }), [2_147_140, 1_997_109, 1_798_205]);
        assert_eq!(
            first(Think::Lognormal { median: 4 * SECOND, p90: 12 * SECOND, within: ALL }),
            [1_996_204, 2_866_478, 5_983_204]
        );
    }
}
