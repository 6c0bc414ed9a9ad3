//! Sets of values that go together.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AlbumWeight, Limits, UnknownChats};

/// How much the stub says no.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The ceilings that Telegram documents (<https://core.telegram.org/bots/faq>).
    #[default]
    Documented,
    /// The same without any tolerance: no burst to a private chat, two uploads at once, their bytes slow. What a
    /// bot does well here it does well anywhere.
    Strict,
    /// As users mostly meet it: a longer burst, short waits absorbed by the server, and what it sheds.
    Lenient,
    /// No ceilings at all.
    Off,
}

impl Profile {
    /// Its values.
    pub fn limits(self) -> Limits {
        let documented = Limits {
            profile: self,
            sends_per_second: 30,
            group_sends_per_minute: 20,
            chat_sends_per_second: 1,
            // "Short bursts" are tolerated in the FAQ's words; three is our reading of them.
            chat_burst: 3,
            album: AlbumWeight::Items,
            absorb_short_waits: false,
            gateway_shedding: false,
            unknown_chats: UnknownChats::Make,
            answer_time: Duration::from_millis(40)..=Duration::from_millis(120),
            poll_batch: Duration::ZERO,
            upload_bytes_per_second: None,
            uploads_at_once: 0,
            upload_retry_after: Duration::from_secs(30)..=Duration::from_secs(60),
        };
        match self {
            Self::Documented => documented,
            Self::Strict => Limits {
                chat_burst: 1,
                uploads_at_once: 2,
                upload_bytes_per_second: Some(bytesize::ByteSize::mib(1)),
                ..documented
            },
            Self::Lenient => Limits {
                chat_burst: 5,
                album: AlbumWeight::One,
                absorb_short_waits: true,
                gateway_shedding: true,
                ..documented
            },
            Self::Off => {
                Limits { sends_per_second: 0, group_sends_per_minute: 0, chat_sends_per_second: 0, ..documented }
            }
        }
    }
}
