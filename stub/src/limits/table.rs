//! The table as it is written: every key may be left out, and then the profile's value holds.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::Deserialize;

use super::spread::Spread;
use super::{AlbumWeight, Limits, Profile, UnknownChats};

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(super) struct Table {
    profile: Profile,
    sends_per_second: Option<u32>,
    group_sends_per_minute: Option<u32>,
    chat_sends_per_second: Option<u32>,
    chat_burst: Option<u32>,
    album: Option<AlbumWeight>,
    absorb_short_waits: Option<bool>,
    gateway_shedding: Option<bool>,
    unknown_chats: Option<UnknownChats>,
    answer_time: Option<Spread>,
    #[serde(with = "humantime_serde::option")]
    poll_batch: Option<Duration>,
    upload_bytes_per_second: Option<bytesize::ByteSize>,
    uploads_at_once: Option<u32>,
    upload_retry_after: Option<Spread>,
}

impl From<Table> for Limits {
    fn from(table: Table) -> Self {
        let base = table.profile.limits();
        let range = |given: Option<Spread>, base: RangeInclusive<Duration>| given.map_or(base, |spread| spread.0);
        Self {
            profile: table.profile,
            sends_per_second: table.sends_per_second.unwrap_or(base.sends_per_second),
            group_sends_per_minute: table.group_sends_per_minute.unwrap_or(base.group_sends_per_minute),
            chat_sends_per_second: table.chat_sends_per_second.unwrap_or(base.chat_sends_per_second),
            chat_burst: table.chat_burst.unwrap_or(base.chat_burst),
            album: table.album.unwrap_or(base.album),
            absorb_short_waits: table.absorb_short_waits.unwrap_or(base.absorb_short_waits),
            gateway_shedding: table.gateway_shedding.unwrap_or(base.gateway_shedding),
            unknown_chats: table.unknown_chats.unwrap_or(base.unknown_chats),
            answer_time: range(table.answer_time, base.answer_time),
            poll_batch: table.poll_batch.unwrap_or(base.poll_batch),
            upload_bytes_per_second: table.upload_bytes_per_second.or(base.upload_bytes_per_second),
            uploads_at_once: table.uploads_at_once.unwrap_or(base.uploads_at_once),
            upload_retry_after: range(table.upload_retry_after, base.upload_retry_after),
        }
    }
}
