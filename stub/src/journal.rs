//! What the stub says of the calls it answered: exact counts by interval, and sightings for whoever watches.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use crate::catalogue::{self, MethodId};

/// A call the stub accepted that put a text or a caption before a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// When the call's head had arrived, since the epoch.
    pub begun: Duration,
    /// When it was accepted, since the epoch.
    pub at: Duration,
    /// The bot's id.
    pub bot: i64,
    /// The chat's id.
    pub chat: i64,
    /// The message that shows it.
    pub message_id: i64,
    /// Its text or caption.
    pub text: String,
}

/// The calls answered since the last time they were taken, counted exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls by the catalogue's spelling of the method.
    pub by_method: BTreeMap<&'static str, MethodCounts>,
    /// Calls made in a scope that a 429 had closed and whose `retry_after` had not yet passed.
    pub calls_while_throttled: u64,
    /// Uploads begun.
    pub uploads: u64,
    /// Bytes received for uploads.
    pub upload_bytes: u64,
    /// The most uploads of all bots that ran at once, in the interval.
    pub uploads_at_once: u64,
    /// The fullest sliding second of one bot so far in the run: attempts.
    pub worst_second_sends: u64,
    /// The same, of accepted calls.
    pub worst_second_accepted: u64,
    /// The fullest sliding minute of one group so far in the run: attempts.
    pub worst_minute_group_sends: u64,
    /// The same, of accepted calls.
    pub worst_minute_group_accepted: u64,
    /// Calls to methods answered by their declared type alone.
    pub unmodelled: BTreeMap<&'static str, u64>,
    /// Calls answered 429, by the rule that did it, as the ceilings name it.
    pub throttled_by: BTreeMap<String, u64>,
    /// When the first 429 of the run was answered, since the epoch.
    pub first_throttled: Option<Duration>,
    /// Sightings dropped because their listener was too slow, so far in the run.
    pub sightings_dropped: u64,
}

/// One method's share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MethodCounts {
    /// Calls answered, however they were.
    pub calls: u64,
    /// Of them, those answered 429.
    pub throttled: u64,
    /// Of them, those answered with any other error.
    pub errors: u64,
}

impl MethodCounts {
    fn count(&mut self, status: u16) {
        self.calls += 1;
        match status {
            200 => {}
            429 => self.throttled += 1,
            _ => self.errors += 1,
        }
    }
}

/// A message that a bot sent or edited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) cursor: u64,
    pub(crate) bot: i64,
    pub(crate) chat: i64,
    pub(crate) message: i64,
}

/// How many of them are kept, for all bots.
const MOST_SENT: usize = 10_000;

/// What was counted since it was last taken, and who watches.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// By the place of a method in the catalogue; since they were last taken.
    methods: Vec<MethodCounts>,
    /// The same since the start.
    totals: Vec<MethodCounts>,
    sent: VecDeque<Sent>,
    sent_so_far: u64,
    has_news: bool,
    unmodelled: HashMap<MethodId, u64>,
    throttled_by: BTreeMap<String, u64>,
    uploads: u64,
    upload_bytes: u64,
    first_throttled: Option<Duration>,
    watchers: Vec<SyncSender<Sighting>>,
    sightings_dropped: u64,
}

impl Journal {
    /// Counts a call by the status of its answer.
    pub(crate) fn answered(&mut self, at: Duration, method: MethodId, status: u16) {
        for counts in [&mut self.methods, &mut self.totals] {
            counts.resize(catalogue::methods().len(), MethodCounts::default());
            counts[method.index()].count(status);
        }
        if status == 429 {
            self.first_throttled.get_or_insert(at);
        }
    }

    /// Notes which rule a call broke.
    pub(crate) fn throttled_by(&mut self, rule: &str) {
        match self.throttled_by.get_mut(rule) {
            Some(calls) => *calls += 1,
            None => drop(self.throttled_by.insert(rule.to_owned(), 1)),
        }
    }

    /// The counts since the start, of methods that were called.
    pub(crate) fn totals(&self) -> impl Iterator<Item = (MethodId, MethodCounts)> {
        let called = catalogue::methods().zip(&self.totals).filter(|(_, counts)| counts.calls > 0);
        called.map(|(method, counts)| (method, *counts))
    }

    /// Notes that a message was sent or edited.
    pub(crate) fn sent(&mut self, bot: i64, chat: i64, message: i64) {
        self.sent_so_far += 1;
        self.has_news = true;
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { cursor: self.sent_so_far, bot, chat, message });
    }

    /// Counts from nothing; who watches goes on watching, and cursors go on.
    pub(crate) fn reset(&mut self) {
        *self = Self { watchers: std::mem::take(&mut self.watchers), sent_so_far: self.sent_so_far, ..Self::default() };
    }

    /// The cursor of what was sent last.
    pub(crate) fn last_cursor(&self) -> u64 {
        self.sent_so_far
    }

    /// Whether anything was sent or edited since this was last asked.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// What a bot sent after the cursor, oldest first, as far back as is kept.
    pub(crate) fn sent_since(&self, bot: i64, cursor: u64) -> impl Iterator<Item = &Sent> {
        let from = self.sent.partition_point(|sent| sent.cursor <= cursor);
        self.sent.range(from..).filter(move |sent| sent.bot == bot)
    }

    pub(crate) fn unmodelled(&mut self, method: MethodId) {
        *self.unmodelled.entry(method).or_default() += 1;
    }

    pub(crate) fn upload_begun(&mut self) {
        self.uploads += 1;
    }

    pub(crate) fn uploaded(&mut self, bytes: u64) {
        self.upload_bytes += bytes;
    }

    pub(crate) fn watch(&mut self, to: SyncSender<Sighting>) {
        self.watchers.push(to);
    }

    /// Tells every watcher; one that is too slow misses it, one that has gone is forgotten.
    pub(crate) fn sighted(&mut self, sighting: &Sighting) {
        let dropped = &mut self.sightings_dropped;
        self.watchers.retain(|watcher| match watcher.try_send(sighting.clone()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                *dropped += 1;
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        });
    }

    pub(crate) fn is_watched(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// The counts of the interval that ends now, without what the ceilings know themselves.
    pub(crate) fn take(&mut self) -> CallCounts {
        let called = catalogue::methods().zip(std::mem::take(&mut self.methods)).filter(|(_, counts)| counts.calls > 0);
        let unmodelled = self.unmodelled.drain().map(|(method, calls)| (method.name(), calls));
        CallCounts {
            unmodelled: unmodelled.collect(),
            throttled_by: std::mem::take(&mut self.throttled_by),
            by_method: called.map(|(method, counts)| (method.name(), counts)).collect(),
            uploads: std::mem::take(&mut self.uploads),
            upload_bytes: std::mem::take(&mut self.upload_bytes),
            first_throttled: self.first_throttled,
            sightings_dropped: self.sightings_dropped,
            ..CallCounts::default()
        }
    }
}
