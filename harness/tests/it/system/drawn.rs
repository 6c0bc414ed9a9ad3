//! Chance for tests: the seed is printed, and `FLOODRIG_TEST_SEED` draws the same again.

use std::hash::{BuildHasher, RandomState};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Numbers drawn at random.
pub(crate) struct Drawn(ChaCha8Rng);

impl Drawn {
    #[expect(clippy::print_stdout, reason = "the seed, for whoever repeats it")]
    #[expect(clippy::disallowed_methods, reason = "a person who repeats a failed test gives its seed")]
    pub(crate) fn new() -> Self {
        let given = std::env::var("FLOODRIG_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0));
        println!("FLOODRIG_TEST_SEED={seed}");
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// One of `0..bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }
}
