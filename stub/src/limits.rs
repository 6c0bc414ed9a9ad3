//! The ceilings as data: the `[telegram]` table of a scenario. Every value is a knob; the defaults are the documented ceilings.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The `[telegram]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Sends and edits of one bot in any second; 0: no ceiling.
    pub sends_per_second: u32,
    /// Sends and edits to one group in any 60 s; 0: no ceiling.
    pub group_sends_per_minute: u32,
    /// Sends and edits to one private chat, each second; 0: no ceiling.
    pub chat_sends_per_second: u32,
    /// How many of them may come at once after a pause.
    pub chat_burst: u32,
    /// How long every call takes to answer, drawn anew for each (`"40ms..120ms"`).
    #[serde(with = "spread")]
    #[schemars(with = "String")]
    pub answer_time: RangeInclusive<Duration>,
    /// Bytes per second of one bot's uploads together; absent: as fast as loopback carries.
    #[schemars(with = "String")]
    pub upload_bytes_per_second: Option<bytesize::ByteSize>,
    /// Uploads of one bot at once; 0: no slot rule. One more is answered 429.
    pub uploads_at_once: u32,
    /// The `retry_after` of an upload that found no slot (`"30s..60s"`).
    #[serde(with = "spread")]
    #[schemars(with = "String")]
    pub upload_retry_after: RangeInclusive<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sends_per_second: 30,
            group_sends_per_minute: 20,
            chat_sends_per_second: 1,
            chat_burst: 3,
            answer_time: Duration::from_millis(40)..=Duration::from_millis(120),
            upload_bytes_per_second: None,
            uploads_at_once: 0,
            upload_retry_after: Duration::from_secs(30)..=Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Every rule in words, for the report.
    pub fn describe(&self) -> Vec<String> {
        let mut rules = Vec::new();
        let mut rule = |holds: bool, says: String| rules.extend(holds.then_some(says));
        rule(self.sends_per_second > 0, format!("{} sends and edits of one bot in any second", self.sends_per_second));
        let group = self.group_sends_per_minute;
        rule(group > 0, format!("{group} sends and edits to one group or channel in any 60 seconds"));
        let (chat, burst) = (self.chat_sends_per_second, self.chat_burst.max(1));
        rule(chat > 0, format!("{chat} sends and edits a second to one private chat, {burst} at once after a pause"));
        if let Some(rate) = self.upload_bytes_per_second {
            rule(true, format!("{} a second of one bot's uploads together", rate.display().iec()));
        }
        rule(self.uploads_at_once > 0, format!("{} uploads of one bot at once", self.uploads_at_once));
        let (low, high) = (self.answer_time.start(), self.answer_time.end());
        rule(true, format!("every answer takes {}", spread::words(*low, *high)));
        rules
    }
}

/// A range of durations in a value: `"40ms..120ms"`, or `"80ms"` for exactly that.
pub mod spread {
    use std::fmt;
    use std::ops::RangeInclusive;
    use std::time::Duration;

    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes the range as a scenario has it.
    pub fn serialize<S: Serializer>(value: &RangeInclusive<Duration>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&words(*value.start(), *value.end()))
    }

    pub(super) fn words(low: Duration, high: Duration) -> String {
        let (low, high) = (humantime::format_duration(low), humantime::format_duration(high));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_say_what_they_hold_bots_to() {
        let says = Limits::default().describe();
        assert_eq!(
            says,
            [
                "30 sends and edits of one bot in any second",
                "20 sends and edits to one group or channel in any 60 seconds",
                "1 sends and edits a second to one private chat, 3 at once after a pause",
                "every answer takes 40ms..120ms",
            ]
        );
    }

    #[test]
    fn a_rule_that_is_off_is_not_said() {
        let none =
            Limits { sends_per_second: 0, group_sends_per_minute: 0, chat_sends_per_second: 0, ..Limits::default() };
        assert_eq!(none.describe().len(), 1);
    }
}
