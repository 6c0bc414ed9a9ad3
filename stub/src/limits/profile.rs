//! Which readings of the unpublished ceilings hold where a scenario says nothing itself.
//!
//! How Telegram counts is not public, and its maintainers will not say
//! (<https://github.com/tdlib/td/issues/1236>, <https://github.com/tdlib/td/issues/1834>). So every profile is a
//! reading: `documented` of what is documented, `strict` and `lenient` of what bots report at either end.

use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

use super::{AlbumWeight, Family, Limits, ThrottleScope, UnknownChats};

/// A set of ceilings; any other key of the table overrides it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// What <https://core.telegram.org/bots/faq> says, and nothing that it does not.
    #[default]
    Documented,
    /// The worst that bots report: whatever may count counts, no burst, two uploads at once, a 429 that closes
    /// the whole bot and grows while it is ignored, and the server's own shedding.
    Strict,
    /// The best that maintainers and bots report: no ceiling on the bot short of paid broadcasts, bursts of
    /// five, an album counting once, short waits absorbed.
    Lenient,
    /// No ceiling at all. Answers still take their time, and files keep their largest sizes.
    Off,
}

impl Profile {
    /// What it stands for.
    pub fn limits(self) -> Limits {
        match self {
            Self::Documented => documented(),
            Self::Strict => strict(),
            Self::Lenient => lenient(),
            Self::Off => off(),
        }
    }
}

fn documented() -> Limits {
    Limits {
        profile: Profile::Documented,
        sends_per_second: 30,
        paid_sends_per_second: 0,
        group_sends_per_minute: 20,
        channel_sends_per_minute: 20,
        chat_sends_per_second: 1,
        chat_burst: 3,
        slow_mode: Duration::ZERO,
        counts: vec![Family::Sends, Family::Edits],
        album: AlbumWeight::Items,
        throttle_scope: ThrottleScope::Chat,
        penalty_growth: Duration::ZERO,
        absorb_short_waits: false,
        gateway_shedding: false,
        rules: Vec::new(),
        unknown_chats: UnknownChats::Make,
        answer_time: Duration::from_millis(40)..=Duration::from_millis(120),
        poll_batch: Duration::ZERO,
        upload_time: Duration::ZERO..=Duration::ZERO,
        upload_bytes_per_second: None,
        upload_bytes_per_second_in_all: None,
        uploads_at_once: 0,
        upload_retry_after: Duration::from_secs(30)..=Duration::from_secs(60),
    }
}

fn strict() -> Limits {
    Limits {
        profile: Profile::Strict,
        chat_burst: 1,
        // grammY's guide to flood limits: any method may answer 429 (<https://grammy.dev/advanced/flood>).
        counts: vec![Family::Sends, Family::Edits, Family::Deletes, Family::ChatActions, Family::Pins],
        throttle_scope: ThrottleScope::Bot,
        // No size is public; the growth itself is reported in <https://github.com/tdlib/telegram-bot-api/issues/535>.
        penalty_growth: Duration::from_secs(5),
        gateway_shedding: true,
        // About the 10 Mbit/s that a bot's uploads shared
        // (<https://github.com/anasty17/mirror-leech-telegram-bot/issues/1887>).
        upload_bytes_per_second: Some(ByteSize::mib(1)),
        uploads_at_once: 2,
        ..documented()
    }
}

fn lenient() -> Limits {
    Limits {
        profile: Profile::Lenient,
        // "No global limit on the number of sent messages for bots" apart from broadcasts
        // (<https://github.com/tdlib/td/issues/3034>); paid ones end at a thousand a second.
        sends_per_second: 1000,
        chat_burst: 5,
        album: AlbumWeight::One,
        absorb_short_waits: true,
        ..documented()
    }
}

fn off() -> Limits {
    Limits {
        profile: Profile::Off,
        sends_per_second: 0,
        group_sends_per_minute: 0,
        channel_sends_per_minute: 0,
        chat_sends_per_second: 0,
        ..documented()
    }
}
