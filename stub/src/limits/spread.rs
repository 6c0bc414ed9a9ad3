//! A range of durations in a value: `"40ms..120ms"`, or `"80ms"` for exactly that.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

/// Writes the range as a scenario has it.
pub fn serialize<S: Serializer>(value: &RangeInclusive<Duration>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&words(value))
}

/// The range in words.
pub(super) fn words(value: &RangeInclusive<Duration>) -> String {
    let (low, high) = (humantime::format_duration(*value.start()), humantime::format_duration(*value.end()));
    format!("{low}..{high}")
}

/// Reads the range from a scenario.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RangeInclusive<Duration>, D::Error> {
    from.deserialize_str(Spread)
}

struct Spread;

impl Visitor<'_> for Spread {
    type Value = RangeInclusive<Duration>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a duration")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let read = |text: &str| {
            let text = text.trim();
            humantime::parse_duration(text).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
        };
        let (low, high) = (read(low)?, read(high)?);
        if low > high {
            return Err(E::custom("the spread ends before it begins: write the shorter time first"));
        }
        Ok(low..=high)
    }
}
