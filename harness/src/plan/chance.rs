//! Chance: everything that is drawn, from a seed. One key for each purpose and one ChaCha8 stream for each player,
//! so that what one player draws never moves what another draws, and a changed journey leaves the crowd as it was.
//!
//! The key, the stream and every draw are written out here and never left to a library's defaults, whose values may
//! change between versions: the same seed has to mean the same plan for ever.

use std::ops::RangeInclusive;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The source of all draws for one purpose.
pub(crate) struct Source {
    key: [u8; 32],
}

impl Source {
    /// What is drawn for `purpose` under `seed`.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        let key = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(purpose).finalize();
        Self { key: key.into() }
    }

    /// The draws of one player, or of one group.
    pub(crate) fn stream(&self, number: u32) -> Chance {
        let mut generator = ChaCha8Rng::from_seed(self.key);
        generator.set_stream(u64::from(number));
        Chance { generator }
    }
}

/// A stream of draws.
pub(crate) struct Chance {
    generator: ChaCha8Rng,
}

impl Chance {
    /// Any number.
    pub(crate) fn number(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number below `bound`, or 0 when nothing is. Always one draw.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        below(self.number(), bound)
    }

    /// A number above 0 and not above 1, all 53 bits of it drawn.
    pub(crate) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        ((self.number() >> 11) + 1) as f64 * STEP
    }

    /// A whole number of microseconds within `range`, both ends included.
    pub(crate) fn within(&mut self, range: &RangeInclusive<Duration>) -> Duration {
        let (low, high) = (range.start().as_micros() as u64, range.end().as_micros() as u64);
        Duration::from_micros(low + self.below(high - low + 1))
    }

    /// Whether something happens that does once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of a list.
    pub(crate) fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len() as u64) as usize]
    }

    /// The numbers below `count` in a drawn order.
    pub(crate) fn order(&mut self, count: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last as u64 + 1) as usize);
        }
        order
    }
}

/// What a number that may be any is below `bound`, or 0 when nothing is; the bias is at most `bound` in 2^64.
pub(super) fn below(any: u64, bound: u64) -> u64 {
    ((u128::from(any) * u128::from(bound)) >> 64) as u64
}

/// To the nearest microsecond; what is beyond all time is the end of it.
pub(super) fn micros(seconds: f64) -> Duration {
    Duration::from_micros(libm::round(seconds * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: u64 = 7;

    fn chance() -> Chance {
        Source::new(ANY, "test").stream(0)
    }

    #[test]
    fn the_same_seed_purpose_and_stream_draw_the_same() {
        assert_eq!(chance().number(), chance().number());
    }

    #[test]
    fn another_seed_purpose_or_stream_draws_something_else() {
        let others = [
            Source::new(ANY + 1, "test").stream(0).number(),
            Source::new(ANY, "toast").stream(0).number(),
            Source::new(ANY, "test").stream(1).number(),
        ];
        assert!(!others.contains(&chance().number()));
    }

    #[test]
    fn below_reaches_both_ends_and_no_further() {
        let mut chance = chance();
        let drawn: Vec<u64> = (0..1000).map(|_| chance.below(3)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&0), Some(&2)));
    }

    #[test]
    fn a_range_of_one_duration_is_that_duration() {
        let second = Duration::from_secs(1);
        assert_eq!(chance().within(&(second..=second)), second);
    }

    #[test]
    fn a_range_includes_both_its_ends() {
        let (low, high) = (Duration::from_micros(5), Duration::from_micros(6));
        let mut chance = chance();
        let drawn: Vec<Duration> = (0..100).map(|_| chance.within(&(low..=high))).collect();
        assert!(drawn.contains(&low) && drawn.contains(&high));
    }

    #[test]
    fn a_unit_is_never_zero_so_its_logarithm_is_finite() {
        let mut chance = chance();
        assert!((0..10_000).map(|_| chance.unit()).all(|unit| unit > 0.0 && unit <= 1.0));
    }

    #[test]
    fn an_order_holds_every_number_once() {
        let mut order = chance().order(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}
