//! A range of durations in a value: `"40ms..120ms"`, or `"80ms"` for exactly that.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

pub(super) fn serialize<S: Serializer>(value: &RangeInclusive<Duration>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&words(*value.start(), *value.end()))
}

pub(super) fn words(low: Duration, high: Duration) -> String {
    let (low, high) = (humantime::format_duration(low), humantime::format_duration(high));
    format!("{low}..{high}")
}

/// The range as a value of its own, where it may be left out.
pub(super) struct Spread(pub(super) RangeInclusive<Duration>);

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let (low, high) = text.split_once("..").unwrap_or((&text, &text));
        let low = humantime::parse_duration(low.trim()).map_err(de::Error::custom)?;
        let high = humantime::parse_duration(high.trim()).map_err(de::Error::custom)?;
        if low > high {
            return Err(de::Error::custom("the range ends before it begins"));
        }
        Ok(Self(low..=high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RangeInclusive<Duration>, String> {
        let text = serde_json::to_string(text).unwrap();
        serde_json::from_str::<Spread>(&text).map(|spread| spread.0).map_err(|error| error.to_string())
    }

    #[test]
    fn one_duration_is_a_range_of_itself() {
        let ms = Duration::from_millis;
        assert_eq!((read("80ms"), read("40ms..120ms")), (Ok(ms(80)..=ms(80)), Ok(ms(40)..=ms(120))));
        assert_eq!(words(ms(40), ms(120)), "40ms..120ms");
    }

    #[test]
    fn a_range_that_ends_before_it_begins_and_a_number_without_unit_are_refused() {
        assert!(read("2s..1s").unwrap_err().contains("the range ends before it begins"));
        assert!(read("80").is_err() && read("soon").is_err());
    }
}
