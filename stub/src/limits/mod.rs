//! The ceilings as data: the `[telegram]` table of a scenario. Every value is a knob; the defaults are the documented
//! ceilings.

mod profile;
mod spread;
mod table;

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use profile::Profile;
use table::Table;

/// The `[telegram]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Table")]
pub struct Limits {
    /// Which set of values the others override.
    pub profile: Profile,
    /// Sends and edits of one bot in any second; 0: no ceiling.
    pub sends_per_second: u32,
    /// Sends and edits to one group in any 60 s; 0: no ceiling.
    pub group_sends_per_minute: u32,
    /// Sends and edits to one private chat, each second; 0: no ceiling.
    pub chat_sends_per_second: u32,
    /// How many of them may come at once after a pause.
    pub chat_burst: u32,
    /// What an album counts as; whether Telegram charges one or all of its items is not known.
    pub album: AlbumWeight,
    /// Waits of up to 8 s become slow answers in place of a 429, as the real server turns them
    /// (<https://github.com/tdlib/td>, `NetQueryDelayer.cpp`).
    pub absorb_short_waits: bool,
    /// The server in front of Telegram sheds what a bot has too much of under way: 310 messages to a chat, 1000
    /// calls, 100 uploads, uploads of one size in quick succession. It holds them for 3 s and answers 429.
    pub gateway_shedding: bool,
    /// What happens to a call about a chat that nobody has written in yet.
    pub unknown_chats: UnknownChats,
    /// How long every call takes to answer, drawn anew for each (`"40ms..120ms"`).
    #[serde(serialize_with = "spread::serialize")]
    pub answer_time: RangeInclusive<Duration>,
    /// How long a woken poll gathers more updates before it answers; the real server takes 1 to 2 ms.
    #[serde(with = "humantime_serde")]
    pub poll_batch: Duration,
    /// Bytes per second of one bot's uploads together; absent: as fast as loopback carries.
    pub upload_bytes_per_second: Option<bytesize::ByteSize>,
    /// Uploads of one bot at once; 0: no slot rule. One more is answered 429.
    pub uploads_at_once: u32,
    /// The `retry_after` of an upload that found no slot (`"30s..60s"`).
    #[serde(serialize_with = "spread::serialize")]
    pub upload_retry_after: RangeInclusive<Duration>,
}

/// What an album counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlbumWeight {
    /// As many messages as it has items.
    Items,
    /// One message.
    One,
}

/// What a chat is that nobody has written in yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownChats {
    /// It is there once it is named: a load test needs no directory of chats.
    Make,
    /// It is answered `chat not found`.
    Refuse,
}

impl Default for Limits {
    fn default() -> Self {
        Profile::Documented.limits()
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
        rule(self.album == AlbumWeight::One, "an album counts as one message".to_owned());
        rule(self.absorb_short_waits, "waits of up to 8 seconds become slow answers".to_owned());
        rule(
            self.gateway_shedding,
            "more than 310 messages to a chat, 1000 calls or 100 uploads under way are shed".to_owned(),
        );
        rule(self.unknown_chats == UnknownChats::Refuse, "chats that nobody wrote in are not found".to_owned());
        if let Some(rate) = self.upload_bytes_per_second {
            rule(true, format!("{} a second of one bot's uploads together", rate.display().iec()));
        }
        rule(self.uploads_at_once > 0, format!("{} uploads of one bot at once", self.uploads_at_once));
        let (low, high) = (self.answer_time.start(), self.answer_time.end());
        rule(true, format!("every answer takes {}", spread::words(*low, *high)));
        rules
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
    fn a_key_overrides_its_profile() {
        let limits: Limits = serde_json::from_str(r#"{"profile":"off","sends_per_second":5}"#).unwrap();
        assert_eq!((limits.sends_per_second, limits.group_sends_per_minute), (5, 0));
        assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), Limits::default());
    }

    #[test]
    fn a_misspelt_key_and_an_unknown_profile_are_refused() {
        assert!(serde_json::from_str::<Limits>(r#"{"sends_per_secnd":5}"#).is_err());
        assert!(serde_json::from_str::<Limits>(r#"{"profile":"gentle"}"#).is_err());
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        for profile in [Profile::Documented, Profile::Strict, Profile::Lenient, Profile::Off] {
            let written = serde_json::to_string(&profile.limits()).unwrap();
            assert_eq!(serde_json::from_str::<Limits>(&written).unwrap(), profile.limits());
        }
    }

    #[test]
    fn a_rule_that_is_off_is_not_said() {
        let none =
            Limits { sends_per_second: 0, group_sends_per_minute: 0, chat_sends_per_second: 0, ..Limits::default() };
        assert_eq!(none.describe().len(), 1);
    }
}
