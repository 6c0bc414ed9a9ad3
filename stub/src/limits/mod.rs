//! The ceilings as data: the `[telegram]` table of a scenario. Every value is a knob; the defaults are the documented
//! ceilings.
//!
//! A [`Profile`] says what holds where the table says nothing; [`Limits::ceilings`] turns the numbers into
//! [`Rule`]s, each with its evidence; `words` says all of it for the report.

mod family;
mod given;
mod profile;
mod rule;
pub mod spread;
mod words;

use std::ops::RangeInclusive;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

pub use family::Family;
pub use profile::Profile;
pub(crate) use rule::{OF_BOT, OF_CHANNEL, OF_GROUP};
pub use rule::{Rule, Scope};

/// The `[telegram]` table.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// What holds where the other keys say nothing: `documented`, `strict`, `lenient` or `off`.
    pub profile: Profile,
    /// Sends and edits of one bot in any second; 0: no ceiling. "No more than 30 messages per second" stands in
    /// <https://core.telegram.org/bots/faq> for bulk notifications; that edits share it is said in
    /// <https://github.com/tdlib/td/issues/2592>.
    pub sends_per_second: u32,
    /// The same for calls with `allow_paid_broadcast`, up to 1000
    /// (<https://core.telegram.org/bots/api#paid-broadcasts>); 0: the bot has no Stars for it, and the parameter
    /// changes nothing.
    pub paid_sends_per_second: u32,
    /// Sends and edits to one group in any 60 s; 0: no ceiling. <https://core.telegram.org/bots/faq>.
    pub group_sends_per_minute: u32,
    /// Sends and edits to one channel in any 60 s; 0: no ceiling. Told by Telegram's support to the authors of
    /// python-telegram-bot (its wiki, "Avoiding flood limits"), documented nowhere.
    pub channel_sends_per_minute: u32,
    /// Sends and edits to one private chat, each second; 0: no ceiling. <https://core.telegram.org/bots/faq>.
    pub chat_sends_per_second: u32,
    /// How many of them may come at once after a pause: "short bursts" may go over
    /// (<https://core.telegram.org/bots/faq>); how many is our guess.
    pub chat_burst: u32,
    /// One send to each group in this long, as for members of a supergroup in slow mode who are no
    /// administrators (`NetQueryDelayer.cpp` of <https://github.com/tdlib/td>); 0s: no slow mode.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub slow_mode: Duration,
    /// Which families of methods the ceilings above count. Sends and edits: <https://github.com/tdlib/td/issues/2592>.
    pub counts: Vec<Family>,
    /// What an album counts as; the server's own cap counts its items (`Client.cpp` of
    /// <https://github.com/tdlib/telegram-bot-api>), of the rest nothing is known.
    pub album: AlbumWeight,
    /// What a 429 closes. Usually other messages fail with it, sometimes they do not
    /// (<https://github.com/tdlib/td/issues/1062>).
    pub throttle_scope: ThrottleScope,
    /// By how much every send into what a 429 closed puts off its end; 0s: not at all. Waits of bots that go on
    /// grow up to hours (<https://github.com/tdlib/telegram-bot-api/issues/535>); by what formula is not known.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub penalty_growth: Duration,
    /// Waits of up to 8 s in all (2 s for `sendChatAction`) are waited by the server itself: a slow answer in
    /// place of a 429, and calls of one kind to one chat queue behind it (`NetQueryCreator.cpp` and
    /// `SequenceDispatcher.cpp` of <https://github.com/tdlib/td>).
    pub absorb_short_waits: bool,
    /// The server's own shedding: 310 unsent messages of a chat, 1000 calls, 100 uploads or 4 GiB of them under way
    /// for one bot, uploads of exactly the same size too fast: held for 3 s, then 429 for 60 s (`Client.cpp` of
    /// <https://github.com/tdlib/telegram-bot-api>).
    pub gateway_shedding: bool,
    /// Further ceilings.
    pub rules: Vec<Rule>,
    /// What becomes of a call about a chat that nobody has written in yet.
    pub unknown_chats: UnknownChats,
    /// How long every call takes to answer, drawn anew for each (`"40ms..120ms"`).
    #[serde(with = "spread")]
    #[schemars(with = "String")]
    pub answer_time: RangeInclusive<Duration>,
    /// How long a woken poll gathers more updates before it answers; the real server takes 1 to 2 ms (`Client.cpp` of
    /// <https://github.com/tdlib/telegram-bot-api>).
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub poll_batch: Duration,
    /// What an upload takes on top, once its bytes are there: the server sends them on only then.
    #[serde(with = "spread")]
    #[schemars(with = "String")]
    pub upload_time: RangeInclusive<Duration>,
    /// Bytes per second of one bot's uploads together; absent: as fast as loopback carries. Bots report one rate
    /// shared by all uploads of a token (`FileUploadManager.cpp` of <https://github.com/tdlib/td>).
    #[schemars(with = "String")]
    pub upload_bytes_per_second: Option<ByteSize>,
    /// Bytes per second of the uploads of all bots together, as one uplink carries them.
    #[schemars(with = "String")]
    pub upload_bytes_per_second_in_all: Option<ByteSize>,
    /// Uploads of one bot at once; 0: no slot rule. One more is answered 429. Bots report one or two; no source
    /// gives a number.
    pub uploads_at_once: u32,
    /// The `retry_after` of an upload that found no slot (`"30s..60s"`).
    #[serde(with = "spread")]
    #[schemars(with = "String")]
    pub upload_retry_after: RangeInclusive<Duration>,
}

/// What an album counts as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlbumWeight {
    /// As many messages as it has items.
    #[default]
    Items,
    /// One message.
    One,
}

/// What a chat is that nobody has written in yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownChats {
    /// It is there once it is named: a load test needs no directory of chats.
    #[default]
    Make,
    /// It is answered `chat not found`.
    Refuse,
}

/// What a 429 closes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleScope {
    /// What its ceiling is about: the chat, or the bot if it was the bot's.
    #[default]
    Chat,
    /// The whole bot, whichever ceiling it was.
    Bot,
}

impl Default for Limits {
    fn default() -> Self {
        Profile::default().limits()
    }
}
