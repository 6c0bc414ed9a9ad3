//! A webhook's side of an inbox: which update may go out next, and when a failed one is tried again. PURE.
//!
//! Updates of one line go one after the other, lines side by side, up to `max_connections` at once. Read in
//! the server's source (<https://github.com/tdlib/telegram-bot-api>, `WebhookActor.cpp`).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use super::inbox::{Inbox, Woken};
use super::kinds::Line;
use super::posters::Uploaded;
use crate::answer::Json;

/// Where updates go and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) secret: Option<String>,
    pub(crate) max_connections: usize,
    /// The certificates that its server has to show, if the bot uploaded any.
    pub(crate) uploaded: Option<Uploaded>,
}

/// A webhook that is set.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) target: Target,
    /// Which setWebhook it stems from, so that what an older one still delivers does not count.
    generation: u64,
    lines: HashMap<Line, Row>,
    ready: VecDeque<Line>,
    resting: BTreeSet<(Duration, Line)>,
    in_flight: usize,
    gone_since: Option<Duration>,
    pub(crate) last_error: Option<(Duration, String)>,
}

#[derive(Debug, Default)]
struct Row {
    ids: VecDeque<i64>,
    failures: u32,
}

/// One update to be posted now.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    pub(crate) bot: i64,
    pub(crate) target: Target,
    pub(crate) body: Json,
    pub(crate) id: i64,
    line: Line,
    generation: u64,
}

/// How a post ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Delivered,
    Failed {
        says: String,
        /// The system asked for this pause.
        retry_after: Option<Duration>,
        /// It answered 410: the webhook is not wanted any more.
        gone: bool,
    },
}

/// A webhook that answers 410 for so long is deleted.
const GONE_FOR: Duration = Duration::from_hours(23);
/// The longest pause between two tries is drawn from here.
const LONGEST_PAUSE: std::ops::Range<f64> = 60.0..120.0;

impl Hook {
    fn new(target: Target, generation: u64) -> Self {
        Self {
            target,
            generation,
            lines: HashMap::new(),
            ready: VecDeque::new(),
            resting: BTreeSet::new(),
            in_flight: 0,
            gone_since: None,
            last_error: None,
        }
    }

    pub(super) fn joined(&mut self, line: Line, id: i64) {
        let row = self.lines.entry(line).or_default();
        row.ids.push_back(id);
        if row.ids.len() == 1 {
            self.ready.push_back(line);
        }
    }

    /// Forgets what waits; what is under way ends by itself and finds nothing to do.
    pub(super) fn forget_lines(&mut self) {
        self.lines.clear();
        self.ready.clear();
        self.resting.clear();
    }

    fn next(&mut self, now: Duration) -> Option<(Line, i64)> {
        while self.resting.first().is_some_and(|(at, _)| *at <= now) {
            let (_, line) = self.resting.pop_first()?;
            self.ready.push_back(line);
        }
        if self.in_flight >= self.target.max_connections {
            return None;
        }
        let line = self.ready.pop_front()?;
        let id = *self.lines.get(&line)?.ids.front()?;
        self.in_flight += 1;
        Some((line, id))
    }

    /// The update at the head of its line is done with; the next one may go.
    fn advance(&mut self, line: Line, id: i64) {
        let Some(row) = self.lines.get_mut(&line) else { return };
        if row.ids.front() == Some(&id) {
            row.ids.pop_front();
        }
        row.failures = 0;
        if row.ids.is_empty() {
            self.lines.remove(&line);
        } else {
            self.ready.push_back(line);
        }
    }

    /// It is tried again: at once after its first failure, then after 2, 4, 8 ... seconds.
    fn rest(&mut self, now: Duration, line: Line, retry_after: Option<Duration>, chance: f64) {
        let Some(row) = self.lines.get_mut(&line) else { return };
        row.failures += 1;
        let longest = LONGEST_PAUSE.start + chance * (LONGEST_PAUSE.end - LONGEST_PAUSE.start);
        let doubled = f64::from(1_u32 << (row.failures - 1).min(10));
        let pause = if row.failures == 1 { 0.0 } else { doubled.min(longest) };
        self.resting.insert((now + retry_after.unwrap_or(Duration::from_secs_f64(pause)), line));
    }
}

impl Inbox {
    pub(crate) fn hook(&self) -> Option<&Hook> {
        self.hook.as_ref()
    }

    /// Sets the webhook; true when it changed anything.
    pub(crate) fn set_hook(&mut self, target: Target, generation: u64) -> bool {
        if self.hook.as_ref().is_some_and(|hook| hook.target == target) {
            return false;
        }
        self.wake(Woken::ReplacedByWebhook);
        let mut hook = Hook::new(target, generation);
        for (id, update) in &self.queue {
            hook.joined(update.line, *id);
        }
        self.hook = Some(hook);
        true
    }

    /// Deletes the webhook; true when there was one.
    pub(crate) fn delete_hook(&mut self) -> bool {
        self.hook.take().is_some()
    }

    /// What may be posted now; expired updates are dropped on the way.
    pub(crate) fn deliveries(&mut self, now: Duration, bot: i64) -> Vec<Delivery> {
        let mut due = Vec::new();
        let mut dead = Vec::new();
        while let Some(hook) = &mut self.hook
            && let Some((line, id)) = hook.next(now)
        {
            if let Some(update) = self.queue.get(&id).filter(|update| update.expires > now) {
                let (target, body) = (hook.target.clone(), update.body.clone());
                due.push(Delivery { bot, target, body, id, line, generation: hook.generation });
            } else {
                hook.in_flight -= 1;
                hook.advance(line, id);
                dead.push(id);
            }
        }
        for id in dead {
            self.remove(id);
        }
        due
    }

    /// When something that rests may be tried again.
    pub(crate) fn next_try(&self) -> Option<Duration> {
        self.hook.as_ref()?.resting.first().map(|(at, _)| *at)
    }

    /// Takes note of how a post ended; `chance` (0..1) draws the pause.
    pub(crate) fn posted(&mut self, now: Duration, delivery: &Delivery, outcome: &Outcome, chance: f64) {
        let Some(hook) = self.hook.as_mut().filter(|hook| hook.generation == delivery.generation) else { return };
        hook.in_flight -= 1;
        match outcome {
            Outcome::Delivered => {
                hook.gone_since = None;
                hook.advance(delivery.line, delivery.id);
                self.remove(delivery.id);
            }
            Outcome::Failed { says, retry_after, gone } => {
                hook.last_error = Some((now, says.clone()));
                hook.rest(now, delivery.line, *retry_after, chance);
                hook.gone_since = gone.then_some(hook.gone_since.unwrap_or(now));
                if hook.gone_since.is_some_and(|since| now.saturating_sub(since) > GONE_FOR) {
                    self.hook = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Duration = Duration::from_secs(1);

    fn inbox(max_connections: usize) -> Inbox {
        let mut inbox = Inbox::new(1);
        let target = Target { url: "http://127.0.0.1/".to_owned(), secret: None, max_connections, uploaded: None };
        inbox.set_hook(target, 1);
        inbox
    }

    fn message(inbox: &mut Inbox, chat: i64) -> i64 {
        inbox.push(NOW, "message", &json!({ "chat": { "id": chat } })).unwrap()
    }

    fn ids(deliveries: &[Delivery]) -> Vec<i64> {
        deliveries.iter().map(|delivery| delivery.id).collect()
    }

    fn failed(retry_after: Option<u64>) -> Outcome {
        Outcome::Failed { says: "no".to_owned(), retry_after: retry_after.map(Duration::from_secs), gone: false }
    }

    #[test]
    fn updates_of_one_chat_go_one_after_the_other_and_chats_side_by_side() {
        let mut inbox = inbox(40);
        for chat in [1, 1, 2] {
            message(&mut inbox, chat);
        }
        let first = inbox.deliveries(NOW, 9);
        assert_eq!(ids(&first), [1, 3]);
        assert!(inbox.deliveries(NOW, 9).is_empty());
        inbox.posted(NOW, &first[0], &Outcome::Delivered, 0.0);
        assert_eq!(ids(&inbox.deliveries(NOW, 9)), [2]);
        assert_eq!(inbox.len(), 2, "those under way are still counted");
    }

    #[test]
    fn no_more_go_at_once_than_there_may_be_connections() {
        let mut inbox = inbox(2);
        for chat in 1..=3 {
            message(&mut inbox, chat);
        }
        let first = inbox.deliveries(NOW, 9);
        assert_eq!(ids(&first), [1, 2]);
        inbox.posted(NOW, &first[1], &Outcome::Delivered, 0.0);
        assert_eq!(ids(&inbox.deliveries(NOW, 9)), [3]);
    }

    #[test]
    fn a_failed_one_is_tried_at_once_and_then_after_2_4_8_seconds() {
        let mut inbox = inbox(1);
        message(&mut inbox, 1);
        let mut now = NOW;
        for pause in [0, 2, 4, 8] {
            let delivery = inbox.deliveries(now, 9).remove(0);
            inbox.posted(now, &delivery, &failed(None), 0.0);
            assert_eq!(inbox.next_try(), Some(now + Duration::from_secs(pause)));
            now += Duration::from_secs(pause);
        }
    }

    #[test]
    fn the_system_may_ask_for_a_pause_of_its_own() {
        let mut inbox = inbox(1);
        message(&mut inbox, 1);
        let delivery = inbox.deliveries(NOW, 9).remove(0);
        inbox.posted(NOW, &delivery, &failed(Some(30)), 0.0);
        assert_eq!(inbox.next_try(), Some(NOW + Duration::from_secs(30)));
        assert!(inbox.deliveries(NOW + Duration::from_secs(29), 9).is_empty());
    }

    #[test]
    fn a_webhook_that_is_gone_for_23_hours_is_deleted() {
        let mut inbox = inbox(1);
        let gone = Outcome::Failed { says: "Gone".to_owned(), retry_after: None, gone: true };
        let fail_at = |inbox: &mut Inbox, now: Duration| {
            inbox.push(now, "message", &json!({ "chat": { "id": now.as_secs() } })).unwrap();
            let delivery = inbox.deliveries(now, 9).remove(0);
            inbox.posted(now, &delivery, &gone, 0.0);
        };
        fail_at(&mut inbox, NOW);
        fail_at(&mut inbox, NOW + Duration::from_hours(23));
        assert!(inbox.hook().is_some(), "not before");
        fail_at(&mut inbox, NOW + Duration::from_hours(23) + Duration::from_millis(1));
        assert!(inbox.hook().is_none());
    }

    #[test]
    fn an_update_that_expired_meanwhile_is_dropped() {
        let mut inbox = inbox(1);
        message(&mut inbox, 1);
        let delivery = inbox.deliveries(NOW, 9).remove(0);
        inbox.posted(NOW, &delivery, &failed(None), 0.0);
        assert!(inbox.deliveries(NOW + Duration::from_hours(24), 9).is_empty());
        assert_eq!((inbox.len(), inbox.next_try()), (0, None));
    }

    #[test]
    fn what_an_older_webhook_delivers_does_not_count() {
        let mut inbox = inbox(1);
        message(&mut inbox, 1);
        let old = inbox.deliveries(NOW, 9).remove(0);
        inbox.set_hook(Target { url: "http://127.0.0.1/new".to_owned(), ..old.target.clone() }, 2);
        inbox.posted(NOW, &old, &Outcome::Delivered, 0.0);
        assert_eq!(ids(&inbox.deliveries(NOW, 9)), [1]);
    }
}
