//! The inboxes of all bots, and which of them have something to post: nobody looks through thousands of idle
//! ones for the one that stirred.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::hook::{Delivery, Outcome, Target};
use super::inbox::Inbox;
use crate::ids::ById;

/// Every bot's inbox.
#[derive(Debug, Default)]
pub(crate) struct Inboxes {
    bots: ById<i64, Inbox>,
    /// Bots whose webhook may have something to post now.
    stirred: BTreeSet<i64>,
    /// Bots whose webhook has something to try again, and when.
    alarms: BTreeSet<(Duration, i64)>,
    generations: u64,
}

impl Inboxes {
    /// Makes sure that the bot has one; a new one starts its ids at `first_id`.
    pub(crate) fn meet(&mut self, bot: i64, first_id: impl FnOnce() -> i64) {
        self.bots.entry(bot).or_insert_with(|| Inbox::new(first_id()));
    }

    /// The inbox of a bot that has called before.
    pub(crate) fn met(&mut self, bot: i64) -> &mut Inbox {
        self.bots.get_mut(&bot).expect("a bot's inbox exists from its first call on")
    }

    /// Puts an update into an inbox that exists.
    pub(crate) fn push(&mut self, now: Duration, bot: i64, kind: &'static str, update: &Value) -> Option<i64> {
        let inbox = self.bots.get_mut(&bot)?;
        let id = inbox.push(now, kind, update);
        if inbox.hook().is_some() {
            self.stirred.insert(bot);
        }
        id
    }

    pub(crate) fn set_hook(&mut self, bot: i64, target: Target) -> bool {
        self.generations += 1;
        self.stirred.insert(bot);
        self.bots.get_mut(&bot).is_some_and(|inbox| inbox.set_hook(target, self.generations))
    }

    /// Empties all of them, takes webhooks away, and lets polls that wait go on waiting.
    pub(crate) fn reset(&mut self) {
        for inbox in self.bots.values_mut() {
            inbox.reset();
        }
    }

    /// The inbox of a bot, if it has ever called.
    pub(crate) fn of(&self, bot: i64) -> Option<&Inbox> {
        self.bots.get(&bot)
    }

    /// What last went wrong with a bot's webhook, and how many updates wait.
    pub(crate) fn trouble(&self, bot: i64) -> Option<(String, usize)> {
        let inbox = self.bots.get(&bot)?;
        let (_, says) = inbox.hook()?.last_error.clone()?;
        Some((says, inbox.len()))
    }

    /// How many of these updates wait, those on their way included.
    pub(crate) fn waiting(&self, bot: i64, updates: &[i64]) -> usize {
        let inbox = self.bots.get(&bot);
        updates.iter().filter(|id| inbox.is_some_and(|inbox| inbox.queue.contains_key(id))).count()
    }

    /// True when there may be something to post.
    pub(crate) fn has_stirred(&self) -> bool {
        !self.stirred.is_empty()
    }

    /// Everything that may be posted now, and when there is more without anything new coming.
    pub(crate) fn deliveries(&mut self, now: Duration) -> (Vec<Delivery>, Option<Duration>) {
        while self.alarms.first().is_some_and(|(at, _)| *at <= now) {
            self.stirred.extend(self.alarms.pop_first().map(|(_, bot)| bot));
        }
        let mut due = Vec::new();
        for bot in std::mem::take(&mut self.stirred) {
            let Some(inbox) = self.bots.get_mut(&bot) else { continue };
            due.extend(inbox.deliveries(now, bot));
            self.alarms.extend(inbox.next_try().map(|at| (at, bot)));
        }
        (due, self.alarms.first().map(|(at, _)| *at))
    }

    pub(crate) fn posted(&mut self, now: Duration, delivery: &Delivery, outcome: &Outcome, chance: f64) {
        self.stirred.insert(delivery.bot);
        if let Some(inbox) = self.bots.get_mut(&delivery.bot) {
            inbox.posted(now, delivery, outcome, chance);
        }
    }
}
