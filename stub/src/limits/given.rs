//! The `[telegram]` table as it is written: a profile, and whatever of it is overridden.

use std::ops::RangeInclusive;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Deserializer};

use super::{AlbumWeight, Family, Limits, Profile, Rule, ThrottleScope, UnknownChats, spread};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename = "Limits", expecting = "a table")]
struct Given {
    profile: Profile,
    sends_per_second: Option<u32>,
    paid_sends_per_second: Option<u32>,
    group_sends_per_minute: Option<u32>,
    channel_sends_per_minute: Option<u32>,
    chat_sends_per_second: Option<u32>,
    chat_burst: Option<u32>,
    slow_mode: Option<Span>,
    counts: Option<Vec<Family>>,
    album: Option<AlbumWeight>,
    throttle_scope: Option<ThrottleScope>,
    penalty_growth: Option<Span>,
    absorb_short_waits: Option<bool>,
    gateway_shedding: Option<bool>,
    rules: Option<Vec<Rule>>,
    unknown_chats: Option<UnknownChats>,
    answer_time: Option<Spread>,
    poll_batch: Option<Span>,
    upload_time: Option<Spread>,
    upload_bytes_per_second: Option<ByteSize>,
    upload_bytes_per_second_in_all: Option<ByteSize>,
    uploads_at_once: Option<u32>,
    upload_retry_after: Option<Spread>,
}

#[derive(Deserialize)]
struct Span(#[serde(with = "humantime_serde")] Duration);

#[derive(Deserialize)]
struct Spread(#[serde(with = "spread")] RangeInclusive<Duration>);

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Given::deserialize(from).map(Self::from)
    }
}

impl From<Given> for Limits {
    fn from(given: Given) -> Self {
        let base = given.profile.limits();
        let span = |given: Option<Span>, base| given.map_or(base, |Span(span)| span);
        let spread = |given: Option<Spread>, base| given.map_or(base, |Spread(spread)| spread);
        Self {
            profile: base.profile,
            sends_per_second: given.sends_per_second.unwrap_or(base.sends_per_second),
            paid_sends_per_second: given.paid_sends_per_second.unwrap_or(base.paid_sends_per_second),
            group_sends_per_minute: given.group_sends_per_minute.unwrap_or(base.group_sends_per_minute),
            channel_sends_per_minute: given.channel_sends_per_minute.unwrap_or(base.channel_sends_per_minute),
            chat_sends_per_second: given.chat_sends_per_second.unwrap_or(base.chat_sends_per_second),
            chat_burst: given.chat_burst.unwrap_or(base.chat_burst),
            slow_mode: span(given.slow_mode, base.slow_mode),
            counts: given.counts.unwrap_or(base.counts),
            album: given.album.unwrap_or(base.album),
            throttle_scope: given.throttle_scope.unwrap_or(base.throttle_scope),
            penalty_growth: span(given.penalty_growth, base.penalty_growth),
            absorb_short_waits: given.absorb_short_waits.unwrap_or(base.absorb_short_waits),
            gateway_shedding: given.gateway_shedding.unwrap_or(base.gateway_shedding),
            rules: given.rules.unwrap_or(base.rules),
            unknown_chats: given.unknown_chats.unwrap_or(base.unknown_chats),
            answer_time: spread(given.answer_time, base.answer_time),
            poll_batch: span(given.poll_batch, base.poll_batch),
            upload_time: spread(given.upload_time, base.upload_time),
            upload_bytes_per_second: given.upload_bytes_per_second.or(base.upload_bytes_per_second),
            upload_bytes_per_second_in_all: given
                .upload_bytes_per_second_in_all
                .or(base.upload_bytes_per_second_in_all),
            uploads_at_once: given.uploads_at_once.unwrap_or(base.uploads_at_once),
            upload_retry_after: spread(given.upload_retry_after, base.upload_retry_after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Limits, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_table_is_the_documented_profile() {
        assert_eq!(read("{}"), Ok(Limits::default()));
        assert_eq!(Limits::default(), Profile::Documented.limits());
    }

    #[test]
    fn a_key_overrides_its_profile_wherever_it_stands() {
        let read = read(r#"{"sends_per_second": 7, "profile": "off", "answer_time": "5ms"}"#).unwrap();
        let five = Duration::from_millis(5);
        assert_eq!(read, Limits { sends_per_second: 7, answer_time: five..=five, ..Profile::Off.limits() });
    }

    #[test]
    fn what_is_written_is_read_again_in_every_profile() {
        for profile in [Profile::Documented, Profile::Strict, Profile::Lenient, Profile::Off] {
            let limits = profile.limits();
            assert_eq!(read(&serde_json::to_string(&limits).unwrap()), Ok(limits));
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused_with_those_that_are() {
        let says = read(r#"{"sends_per_secnd": 7}"#).unwrap_err();
        assert!(says.starts_with("unknown field `sends_per_secnd`, expected one of `profile`"), "{says}");
        let says = read(r#"{"profile": "paranoid"}"#).unwrap_err();
        assert!(says.contains("expected one of `documented`, `strict`, `lenient`, `off`"), "{says}");
    }
}
