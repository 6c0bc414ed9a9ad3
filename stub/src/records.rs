//! A record of every call, for whoever keeps a journal. Where nobody does, it costs a look at an empty cell.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::call::Call;
use crate::catalogue;

/// A call and how it was answered. It never holds the bot's token, nor what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord {
    /// When the call's head had arrived, since the epoch.
    pub begun: Duration,
    /// When its answer began to be sent, since the epoch.
    pub answered: Duration,
    /// The bot's id.
    pub bot: i64,
    /// The method in the catalogue's spelling; one that does not exist in its caller's, cut at 64 characters.
    pub method: Cow<'static, str>,
    /// The chat that `chat_id` names.
    pub chat: Option<i64>,
    /// Bytes of the files that it carried.
    pub file_bytes: u64,
    /// The HTTP status; 0 when the connection was reset on order.
    pub status: u16,
    /// Seconds that a 429 asks to wait.
    pub retry_after: Option<u32>,
    /// What refused it, of a 429: a ceiling by its name, the slots for uploads, the gateway.
    pub rule: Option<Cow<'static, str>>,
    /// How many bytes the answer's body has.
    pub answer_bytes: u64,
}

/// Who takes records, and how many were not taken.
#[derive(Debug, Default)]
pub(crate) struct Records {
    to: OnceLock<SyncSender<CallRecord>>,
    dropped: AtomicU64,
}

/// What is noted of a call before it is answered.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) begun: Duration,
    pub(crate) bot: i64,
    pub(crate) method: Cow<'static, str>,
    pub(crate) chat: Option<i64>,
    pub(crate) file_bytes: u64,
}

/// How it was answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u32>,
    pub(crate) rule: Option<Cow<'static, str>>,
    pub(crate) answer_bytes: u64,
}

/// More of a method that does not exist is not worth a line.
const LONGEST_NAME: usize = 64;

impl Records {
    /// Sends them there from now on; false when somebody takes them already.
    pub(crate) fn send_to(&self, to: SyncSender<CallRecord>) -> bool {
        self.to.set(to).is_ok()
    }

    /// What is noted of a call, where anybody wants it.
    pub(crate) fn asked(&self, note: impl FnOnce() -> Asked) -> Option<Asked> {
        self.to.get().map(|_| note())
    }

    /// Hands a record over; what its taker is too slow for, or gone for, is counted.
    pub(crate) fn tell(&self, asked: Asked, answered: Duration, told: Told) {
        let Asked { begun, bot, method, chat, file_bytes } = asked;
        let Told { status, retry_after, rule, answer_bytes } = told;
        let record =
            CallRecord { begun, answered, bot, method, chat, file_bytes, status, retry_after, rule, answer_bytes };
        if self.to.get().is_some_and(|to| to.try_send(record).is_err()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Asked {
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            begun: call.begun,
            bot: call.bot,
            method: Cow::Borrowed(call.method.name()),
            chat: call.chat(),
            file_bytes: call.params.file_bytes().unwrap_or(0),
        }
    }

    /// A call of a method that does not exist, or one that was refused before it was read to its end.
    pub(crate) fn named(begun: Duration, bot: i64, method: &str) -> Self {
        let method = match catalogue::method(method) {
            Some(known) => Cow::Borrowed(known.name()),
            None => Cow::Owned(method.chars().take(LONGEST_NAME).collect()),
        };
        Self { begun, bot, method, chat: None, file_bytes: 0 }
    }
}
