//! The updates of one bot that it has not taken yet. Knows no clock and no socket; a parked poll is a sender.
//!
//! Read in the server's source (<https://github.com/tdlib/telegram-bot-api>, `Client.cpp`;
//! <https://github.com/tdlib/td>, `TQueue.cpp`).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

use super::hook::Hook;
use super::kinds::{self, Kinds, Line};
use crate::answer::{Json, Refusal};

/// One bot's inbox.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(super) next_id: i64,
    pub(super) queue: BTreeMap<i64, Waiting>,
    bytes: usize,
    next_expiry: Duration,
    pub(crate) kinds: Kinds,
    pub(super) hook: Option<Hook>,
    parked: Option<oneshot::Sender<Woken>>,
    /// The last update that a poll was handed, as far as anybody asked.
    taken: i64,
    last_asked: Option<(i64, Duration)>,
    next_conflict: Duration,
    next_hook: Duration,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) body: Json,
    pub(super) line: Line,
    pub(super) expires: Duration,
}

/// A getUpdates, its numbers brought into their ranges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Poll {
    pub(crate) offset: i64,
    pub(crate) limit: usize,
    pub(crate) timeout: Duration,
}

/// What a getUpdates gets.
#[derive(Debug)]
pub(crate) enum Asked {
    Now(Vec<Json>),
    /// Nothing is there yet: wait so long for a wake-up, then look again with so many at most.
    Parked {
        woken: oneshot::Receiver<Woken>,
        timeout: Duration,
    },
    Refused(Refusal),
}

/// Why a parked poll is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    Updates,
    ReplacedByPoll,
    ReplacedByWebhook,
}

/// Where the server stops to take more in; what comes then is lost.
const MOST_UPDATES: usize = 100_000;
const MOST_BYTES: usize = 128 << 20;
/// An answer to getUpdates stops at about this size.
const MOST_ANSWERED: usize = 4 << 20;
/// Asking again from the same offset so soon is taken for a loop that spins.
const SPIN: Duration = Duration::from_secs(3);
const FAST_SPIN: Duration = Duration::from_millis(500);
/// A conflict so soon after another is held for as long, so that bots that fight over a token do not spin.
const CONFLICT: Duration = Duration::from_secs(3);
/// A webhook is set once in this time.
const HOOK: Duration = Duration::from_secs(1);

impl Inbox {
    /// An empty one; ids begin somewhere between two million and a thousand million.
    pub(crate) fn new(first_id: i64) -> Self {
        Self {
            next_id: first_id,
            queue: BTreeMap::new(),
            bytes: 0,
            next_expiry: Duration::MAX,
            kinds: Kinds::default(),
            hook: None,
            parked: None,
            taken: 0,
            last_asked: None,
            next_conflict: Duration::ZERO,
            next_hook: Duration::ZERO,
        }
    }

    /// Takes an update in; its id, unless the bot does not want its kind or the inbox is full.
    pub(crate) fn push(&mut self, now: Duration, kind: &'static str, update: &Value) -> Option<i64> {
        if !self.kinds.wants(kind) || self.queue.len() >= MOST_UPDATES || self.bytes >= MOST_BYTES {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        let body = Json::of(&Update { id, kind, value: update });
        let line = kinds::line(kind, update);
        self.bytes += body.as_str().len();
        let expires = now + kinds::lifetime(kind);
        self.next_expiry = self.next_expiry.min(expires);
        self.queue.insert(id, Waiting { body, line, expires });
        match &mut self.hook {
            Some(hook) => hook.joined(line, id),
            None => self.wake(Woken::Updates),
        }
        Some(id)
    }

    /// Answers a getUpdates or parks it; an older parked one has to go then.
    pub(crate) fn ask(&mut self, now: Duration, poll: Poll) -> Asked {
        if self.hook.is_some() {
            let says =
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
            return Asked::Refused(Refusal::conflict(says));
        }
        let poll = self.slowed(now, poll);
        self.confirm(poll.offset);
        let found = self.peek(now, poll.limit);
        if !found.is_empty() || poll.timeout.is_zero() {
            return Asked::Now(found);
        }
        self.wake(Woken::ReplacedByPoll);
        let (sender, woken) = oneshot::channel();
        self.parked = Some(sender);
        Asked::Parked { woken, timeout: poll.timeout }
    }

    /// How long a conflict is held before it is answered. One that is held does not hold the next.
    pub(crate) fn hold_conflict(&mut self, now: Duration) -> Duration {
        if now < self.next_conflict {
            return CONFLICT;
        }
        self.next_conflict = now + CONFLICT;
        Duration::ZERO
    }

    /// True when a webhook may be set now; then not again for a while.
    pub(crate) fn admits_hook(&mut self, now: Duration) -> bool {
        let admits = now >= self.next_hook;
        if admits {
            self.next_hook = now + HOOK;
        }
        admits
    }

    /// What a woken poll takes.
    pub(crate) fn peek(&mut self, now: Duration, limit: usize) -> Vec<Json> {
        self.expire(now);
        let mut room = MOST_ANSWERED;
        let bodies = self.queue.values().take(limit).map(|waiting| &waiting.body);
        let fitting = bodies.take_while(|body| {
            let fits = room > 0;
            room = room.saturating_sub(body.as_str().len());
            fits
        });
        fitting.cloned().collect()
    }

    /// Of the first so many, which a poll was just handed, those that none was handed before.
    pub(crate) fn newly_taken(&mut self, handed: usize) -> Vec<i64> {
        let new: Vec<i64> = self.queue.keys().take(handed).copied().filter(|id| *id > self.taken).collect();
        self.taken = new.last().copied().unwrap_or(self.taken);
        new
    }

    /// How many wait, those on their way included.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.bytes = 0;
        if let Some(hook) = &mut self.hook {
            hook.forget_lines();
        }
    }

    /// As if its bot had not called yet, but for the poll that may wait.
    pub(super) fn reset(&mut self) {
        *self = Self { parked: self.parked.take(), ..Self::new(self.next_id) };
    }

    /// Whether a poll waits.
    pub(crate) fn is_polled(&self) -> bool {
        self.parked.as_ref().is_some_and(|parked| !parked.is_closed())
    }

    pub(super) fn remove(&mut self, id: i64) {
        if let Some(gone) = self.queue.remove(&id) {
            self.bytes -= gone.body.as_str().len();
        }
    }

    /// Ends a parked poll; who waits no more is not told.
    pub(super) fn wake(&mut self, why: Woken) {
        if let Some(parked) = self.parked.take() {
            // Its client may have gone, which nobody needs to know.
            let _ = parked.send(why);
        }
    }

    /// Drops what the offset confirms: everything below it, or all but the last when it is negative.
    fn confirm(&mut self, offset: i64) {
        let tail = self.next_id;
        let from = match offset {
            ..0 => self.queue.keys().rev().nth(offset.unsigned_abs() as usize - 1).copied().unwrap_or(0),
            // Far from anything that was handed out it is some other bot's number, and means nothing.
            _ if offset > tail + 10 || offset < tail - MOST_UPDATES as i64 => 0,
            _ => offset,
        };
        while self.queue.first_key_value().is_some_and(|(id, _)| *id < from) {
            let (_, gone) = self.queue.pop_first().expect("a first one was just seen");
            self.bytes -= gone.body.as_str().len();
        }
    }

    fn slowed(&mut self, now: Duration, mut poll: Poll) -> Poll {
        if let Some((offset, at)) = self.last_asked
            && offset == poll.offset
        {
            if now < at + SPIN {
                poll.timeout = poll.timeout.max(SPIN);
            }
            if now < at + FAST_SPIN {
                poll.limit = 1;
            }
        }
        self.last_asked = Some((poll.offset, now));
        poll
    }

    fn expire(&mut self, now: Duration) {
        if now < self.next_expiry {
            return;
        }
        let dead: Vec<i64> = self.queue.iter().filter(|(_, update)| update.expires <= now).map(|(id, _)| *id).collect();
        for id in dead {
            self.remove(id);
        }
        self.next_expiry = self.queue.values().map(|update| update.expires).min().unwrap_or(Duration::MAX);
    }
}

/// An `Update`.
struct Update<'a> {
    id: i64,
    kind: &'static str,
    value: &'a Value,
}

impl serde::Serialize for Update<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("update_id", &self.id)?;
        map.serialize_entry(self.kind, self.value)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_conflict_is_held_for_3_s_when_it_comes_within_3_s_of_one_that_was_not() {
        let mut inbox = Inbox::new(1);
        let held = [0, 1, 2_999, 3_000, 5_999, 6_000].map(|now| inbox.hold_conflict(at(now)).as_secs());
        assert_eq!(held, [0, 3, 3, 0, 3, 0]);
    }

    #[test]
    fn a_webhook_is_set_once_a_second_and_a_refusal_does_not_extend_it() {
        let mut inbox = Inbox::new(1);
        let admitted = [0, 1, 999, 1_000, 1_999, 2_000].map(|now| inbox.admits_hook(at(now)));
        assert_eq!(admitted, [true, false, false, true, false, true]);
    }
}
