//! What lies between each player and the system, drawn from the seed. Pure.
//!
//! Round trips are spread evenly over their range; reading speeds evenly by their logarithm, because a tenth of a speed is
//! as far from it as ten times that speed.

use std::ops::RangeInclusive;

use super::chance::{Chance, Source};
use crate::exchange::Network;
use crate::scenario::Crowd;

/// The network of each of so many players; nothing when all are near.
pub fn networks(seed: u64, crowd: &Crowd, players: u32) -> Vec<Network> {
    if crowd.rtt.is_none() && crowd.reads_at.is_none() {
        return Vec::new();
    }
    let (trips, speeds) = (Source::new(seed, "round trip"), Source::new(seed, "reading speed"));
    let network = |player| Network {
        round_trip: crowd.rtt.as_ref().map(|range| trips.stream(player).within(range)).unwrap_or_default(),
        reads_at: crowd.reads_at.as_ref().map(|range| speed(range, &mut speeds.stream(player))),
    };
    (0..players).map(network).collect()
}

fn speed(range: &RangeInclusive<u64>, chance: &mut Chance) -> u64 {
    let (low, high) = (libm::log(*range.start() as f64), libm::log(*range.end() as f64));
    let drawn = libm::exp(low + chance.unit() * (high - low)) as u64;
    drawn.clamp(*range.start(), *range.end())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::by_hand::scenario;

    fn crowd(rtt: Option<RangeInclusive<u64>>, reads_at: Option<RangeInclusive<u64>>) -> Crowd {
        let rtt = rtt.map(|range| Duration::from_millis(*range.start())..=Duration::from_millis(*range.end()));
        Crowd { rtt, reads_at, ..scenario(Vec::new()).crowd }
    }

    #[test]
    fn a_crowd_that_says_nothing_is_near() {
        assert!(networks(7, &crowd(None, None), 1000).is_empty());
    }

    #[test]
    fn every_player_has_a_network_within_the_ranges_and_the_same_seed_draws_the_same() {
        let crowd = crowd(Some(40..=300), Some(10_000..=1_000_000));
        let drawn = networks(7, &crowd, 1000);
        assert_eq!(drawn, networks(7, &crowd, 1000));
        assert_ne!(drawn, networks(8, &crowd, 1000));
        let trip = |network: &Network| (40..=300).contains(&network.round_trip.as_millis());
        assert!(drawn.iter().all(trip));
        let slow = drawn.iter().filter(|network| network.reads_at.unwrap() < 100_000).count();
        assert!((400..600).contains(&slow), "half are on either side of the geometric middle: {slow}");
        assert!(drawn.iter().all(|network| (10_000..=1_000_000).contains(&network.reads_at.unwrap())));
    }

    #[test]
    fn one_speed_is_that_speed() {
        assert_eq!(networks(7, &crowd(None, Some(5..=5)), 1)[0].reads_at, Some(5));
    }
}
