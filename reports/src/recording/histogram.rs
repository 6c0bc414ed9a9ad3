//! A histogram of durations: HdrHistogram, 3 significant digits, 1 us to an hour.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer as V2Reader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// The longest duration told apart: an hour. Anything longer counts as an hour.
const LONGEST_US: u64 = 3_600_000_000;

/// Durations in microseconds. In a file it is the V2 deflate form in base64, which other HdrHistogram tools read.
#[derive(Clone)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        let histogram = hdrhistogram::Histogram::new(3).expect("3 significant digits are in range");
        Self(histogram)
    }
}

/// Equal when they counted the same, however much room each has. The library's own comparison is false whenever
/// the left one has more.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let (less_room, more_room) =
            if self.0.distinct_values() <= other.0.distinct_values() { (self, other) } else { (other, self) };
        less_room.0 == more_room.0
    }
}

/// What a person wants to see, not thousands of counts.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, median, max) = (self.count(), self.quantile_us(0.5), self.max_us());
        f.debug_struct("Histogram").field("count", &count).field("p50_us", &median).field("max_us", &max).finish()
    }
}

impl Histogram {
    /// One that already has room for every duration, so that recording never allocates.
    pub fn with_room() -> Self {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1, LONGEST_US, 3).expect("an hour is in range");
        Self(histogram)
    }

    /// Counts one duration.
    pub fn record(&mut self, value: Duration) {
        let us = (value.as_micros() as u64).min(LONGEST_US);
        self.0.record(us).expect("a histogram that resizes or has room takes any value");
    }

    /// Adds another histogram's counts; exact.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("a histogram that resizes or has room takes any other");
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value at a quantile in `0.0..=1.0`, or nothing when nothing was counted.
    pub fn quantile_us(&self, quantile: f64) -> Option<u64> {
        // A millionth of a duration makes up for the rounding of the fraction: 0.07 of 100 is the 7th, not the 8th.
        let rank = (quantile * self.count() as f64 - 1e-6).ceil() as u64;
        self.at_rank_us(rank.max(1))
    }

    /// The value of the `rank`-th smallest duration, counted from 1; nothing beyond those counted.
    pub fn at_rank_us(&self, rank: u64) -> Option<u64> {
        let mut passed = 0;
        self.0.iter_recorded().find_map(|step| {
            passed += step.count_since_last_iteration();
            (rank > 0 && passed >= rank).then(|| self.0.highest_equivalent(step.value_iterated_to()))
        })
    }

    /// The greatest value counted.
    pub fn max_us(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// The mean of the values counted.
    pub fn mean_us(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean())
    }

    /// Forgets everything, keeping the memory.
    pub fn reset(&mut self) {
        self.0.reset();
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).map_err(ser::Error::custom)?;
        to.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = STANDARD.decode(text).map_err(de::Error::custom)?;
        let mut histogram: hdrhistogram::Histogram<u64> =
            V2Reader::new().deserialize(&mut bytes.as_slice()).map_err(de::Error::custom)?;
        histogram.auto(true);
        Ok(Self(histogram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(ms: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        ms.into_iter().for_each(|ms| histogram.record(Duration::from_millis(ms)));
        histogram
    }

    #[test]
    fn a_rank_is_counted_from_one_and_ends_with_the_last_duration() {
        let three = histogram([1, 2, 3]);
        assert_eq!(three.at_rank_us(0), None);
        assert_eq!(three.at_rank_us(1), Some(1_000));
        assert_eq!(three.at_rank_us(3), three.max_us());
        assert_eq!(three.at_rank_us(4), None);
    }

    #[test]
    fn a_quantile_is_not_moved_by_the_rounding_of_its_fraction() {
        let hundred = histogram(1..=100);
        for nth in 1..=100 {
            assert_eq!(hundred.quantile_us(nth as f64 / 100.0), hundred.at_rank_us(nth));
        }
        assert_eq!(hundred.quantile_us(0.0), hundred.at_rank_us(1));
        assert_eq!(Histogram::default().quantile_us(0.5), None);
    }

    #[test]
    fn merging_is_the_same_as_counting_everything_in_one() {
        let mut merged = histogram(1..50);
        merged.merge(&histogram(50..9_000));
        assert_eq!(merged, histogram(1..9_000));
    }

    #[test]
    fn a_histogram_survives_its_text_form_with_or_without_room() {
        let mut roomy = Histogram::with_room();
        roomy.record(Duration::from_secs(7_200));
        for written in [Histogram::default(), histogram([3, 5_000]), roomy] {
            let text = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), written);
        }
    }

    #[test]
    fn what_is_longer_than_an_hour_counts_as_an_hour() {
        let two_hours = histogram([7_200_000]).max_us().unwrap();
        assert_eq!(two_hours, histogram([3_600_000]).max_us().unwrap());
    }
}
