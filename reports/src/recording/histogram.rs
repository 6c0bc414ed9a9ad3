//! A histogram of durations: HdrHistogram, 3 significant digits, 1 us to an hour.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer as V2Reader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// The longest duration told apart: an hour. Anything longer counts as an hour.
const LONGEST_US: u64 = 3_600_000_000;

/// Durations in microseconds. In a file it is the V2 deflate form in base64, which other HdrHistogram tools read.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        let histogram = hdrhistogram::Histogram::new(3).expect("3 significant digits are in range");
        Self(histogram)
    }
}

impl Histogram {
    /// Counts one duration.
    pub fn record(&mut self, value: Duration) {
        let us = (value.as_micros() as u64).min(LONGEST_US);
        self.0.record(us).expect("an auto-resizing histogram takes any value");
    }

    /// Adds another histogram's counts; exact.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("an auto-resizing histogram takes any other");
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value at a quantile in `0.0..=1.0`, or nothing when nothing was counted.
    pub fn quantile_us(&self, quantile: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile))
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
