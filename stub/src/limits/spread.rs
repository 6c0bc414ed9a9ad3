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

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    fn read(text: &str) -> Result<RangeInclusive<Duration>, String> {
        let text: StrDeserializer<'_, Error> = text.into_deserializer();
        deserialize(text).map_err(|error| error.to_string())
    }

    #[test]
    fn one_duration_is_a_range_of_itself() {
        let ms = Duration::from_millis;
        assert_eq!((read("80ms"), read("40ms..120ms")), (Ok(ms(80)..=ms(80)), Ok(ms(40)..=ms(120))));
        assert_eq!(words(&(ms(40)..=ms(120))), "40ms..120ms");
    }

    #[test]
    fn a_range_that_ends_before_it_begins_and_a_number_without_unit_are_refused() {
        assert!(read("2s..1s").unwrap_err().contains("the spread ends before it begins"));
        assert!(read("80").is_err() && read("soon").is_err());
    }
}
