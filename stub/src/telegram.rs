//! Everything that the stub knows, under one lock that is held for microseconds and never over an await.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::answer::{Done, Json, Refusal};
use crate::call::Call;
use crate::faults::{Faults, Strike, Then};
use crate::gateway::Gateway;
use crate::journal::{CallCounts, Journal, Sent};
use crate::limits::{AlbumWeight, Limits, UnknownChats};
use crate::methods::{self, Turn};
use crate::throttle::{Lines, Throttle};
use crate::updates::{Asked, Delivery, Inboxes, Kinds, Outcome, Poll};
use crate::uploads::{NoSlot, Uploads};
use crate::users::checkout::Checkouts;
use crate::users::crowd::Listener;
use crate::users::keyboards::Keyboards;
use crate::world::{Found, Shown, World};

/// The stub's state.
#[derive(Debug)]
pub(crate) struct Telegram {
    pub(crate) limits: Limits,
    pub(crate) world: World,
    pub(crate) throttle: Throttle,
    pub(crate) lines: Lines,
    pub(crate) gateway: Gateway,
    pub(crate) inboxes: Inboxes,
    pub(crate) journal: Journal,
    pub(crate) faults: Faults,
    pub(crate) checkouts: Checkouts,
    /// Who plays the users of a bot, if anybody does.
    pub(crate) listener: Option<Listener>,
    /// Kept from the first time on that somebody does.
    pub(crate) keyboards: Option<Keyboards>,
    /// Whether a bot has asked for its updates, by getUpdates or setWebhook.
    pub(crate) is_asked_for_updates: bool,
    uploads: Uploads,
    random: ChaCha8Rng,
}

/// How long a call may wait in place of being refused.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    pub(crate) seconds: u32,
    /// It has waited, and is tried again.
    pub(crate) again: bool,
}

/// What came of trying a call.
#[derive(Debug)]
pub(crate) enum Attempt {
    Answered(Result<Done, Refusal>),
    /// It has done nothing yet and is to be tried again in so many seconds.
    Held {
        seconds: u32,
    },
}

/// The first id of a bot's updates is drawn from here (`TQueue.cpp` of <https://github.com/tdlib/td>).
const FIRST_UPDATE_ID: std::ops::RangeInclusive<i64> = 2_000_001..=1_000_000_000;
/// What is said to have refused an upload that found no slot.
const NO_SLOT: &str = "uploads at once";
/// How many messages one read of what was sent shows.
const MOST_SHOWN: usize = 1000;

impl Telegram {
    pub(crate) fn new(limits: Limits, seed: u64) -> Self {
        Self {
            world: World::new(),
            throttle: Throttle::new(&limits),
            lines: Lines::default(),
            gateway: Gateway::default(),
            uploads: Uploads::new(&limits),
            inboxes: Inboxes::default(),
            journal: Journal::default(),
            faults: Faults::default(),
            checkouts: Checkouts::new(),
            listener: None,
            keyboards: None,
            is_asked_for_updates: false,
            random: ChaCha8Rng::seed_from_u64(seed),
            limits,
        }
    }

    /// Does what a call asks for, or refuses it, and counts it; unless it has the patience to wait.
    pub(crate) fn attempt(&mut self, call: &Call, now: Duration, date: i64, patience: Patience) -> Attempt {
        self.meet(call.bot);
        let mut turn = Turn { call, telegram: self, now, date, patience, held: None };
        let answer = methods::answer(&mut turn);
        if let Some(seconds) = turn.held {
            return Attempt::Held { seconds };
        }
        self.journal.answered(now, call.method, status(&answer));
        if let Some(listener) = self.listener.as_ref().filter(|_| answer.is_ok()) {
            listener.hear(call, now);
        }
        Attempt::Answered(answer)
    }

    /// Refuses a call before it is tried, and counts it.
    pub(crate) fn throttled(&mut self, call: &Call, now: Duration, retry_after: u32, by: &'static str) -> Refusal {
        self.journal.throttled_by(by);
        self.journal.answered(now, call.method, 429);
        Refusal::too_many_by(retry_after, by)
    }

    /// Answers a getUpdates or parks it.
    pub(crate) fn ask(&mut self, call: &Call, now: Duration, poll: Poll) -> Asked {
        self.meet(call.bot);
        self.is_asked_for_updates = true;
        let inbox = self.inboxes.met(call.bot);
        if let Some(kinds) = Kinds::read(call.params.given("allowed_updates")) {
            inbox.kinds = kinds;
        }
        let asked = inbox.ask(now, poll);
        if let Asked::Now(updates) = &asked {
            self.tell_taken(call.bot, now, updates.len());
        }
        asked
    }

    /// What a woken poll takes.
    pub(crate) fn take(&mut self, bot: i64, now: Duration, limit: usize) -> Vec<Json> {
        let updates = self.inboxes.met(bot).peek(now, limit);
        self.tell_taken(bot, now, updates.len());
        updates
    }

    fn tell_taken(&mut self, bot: i64, now: Duration, handed: usize) {
        if let Some(listener) = self.listener.as_ref().filter(|listener| listener.bot == bot) {
            listener.takes(self.inboxes.met(bot).newly_taken(handed), now);
        }
    }

    /// What was ordered to happen to a call.
    pub(crate) fn strike(&mut self, call: &Call, now: Duration) -> Option<Strike> {
        let chat = self.chat_of(call);
        let strike = self.faults.strike(now, call.method.name(), chat)?;
        match &strike.then {
            Then::Answer => {}
            Then::Refuse(refusal) => self.journal.answered(now, call.method, refusal.code),
            // No answer has no status; 0 counts as an error.
            Then::Reset | Then::Hang => self.journal.answered(now, call.method, 0),
        }
        Some(strike)
    }

    /// The chat that a call names, as the world knows it.
    fn chat_of(&mut self, call: &Call) -> Option<i64> {
        let name = call.params.given("chat_id").and_then(|text| text.strip_prefix('@'));
        name.map_or_else(|| call.chat(), |name| Some(self.world.chat_called(name).id))
    }

    /// Forgets what bots and users have done, takes back every fault and counts from nothing; the limits, whoever was
    /// described, and update ids stay.
    pub(crate) fn reset(&mut self) {
        let people = std::mem::take(&mut self.world.people);
        self.world = World::new();
        self.world.people = people;
        self.throttle = Throttle::new(&self.limits);
        self.checkouts = Checkouts::new();
        self.faults.clear();
        self.inboxes.reset();
        self.journal.reset();
        if let Some(keyboards) = &mut self.keyboards {
            *keyboards = Keyboards::none();
        }
    }

    /// What a bot sent after the cursor: each message as it is now, with its own cursor.
    pub(crate) fn sent(&mut self, bot: i64, cursor: u64) -> Vec<(u64, Value)> {
        let sent: Vec<Sent> = self.journal.sent_since(bot, cursor).take(MOST_SHOWN).copied().collect();
        let shown = sent.into_iter().map(|sent| {
            let (chat, people) = (self.world.chat(sent.chat), self.world.people.clone());
            let message = match self.world.find(bot, &chat, sent.message) {
                Found::Message(message) => json!(Shown { people: &people, message, chat: &chat, reply_to: None }),
                Found::Forgotten | Found::Nowhere => json!({ "message_id": sent.message, "chat": chat }),
            };
            (sent.cursor, message)
        });
        shown.collect()
    }

    /// A bot's inbox exists from its first call on.
    fn meet(&mut self, bot: i64) {
        let random = &mut self.random;
        self.inboxes.meet(bot, || random.random_range(FIRST_UPDATE_ID));
    }

    /// Puts an update into a bot's inbox; its id, unless the bot does not want it.
    pub(crate) fn push_update(&mut self, now: Duration, bot: i64, kind: &'static str, update: &Value) -> Option<i64> {
        self.meet(bot);
        self.gateway.note_update(now, bot);
        methods::note_query(&mut self.world.facts, bot, kind, update);
        self.inboxes.push(now, bot, kind, update)
    }

    /// How long the next answer takes.
    pub(crate) fn answer_time(&mut self) -> Duration {
        self.draw(|limits| limits.answer_time.clone())
    }

    /// How long the answer to that call takes: an upload has to be sent on first.
    pub(crate) fn travel_time(&mut self, call: &Call) -> Duration {
        let answer_time = self.answer_time();
        if call.params.file_bytes().is_none() {
            return answer_time;
        }
        answer_time + self.draw(|limits| limits.upload_time.clone())
    }

    /// Takes a slot for an upload.
    pub(crate) fn begin_upload(&mut self, bot: i64) -> Result<(), Refusal> {
        if self.uploads.begin(bot) == Err(NoSlot) {
            self.journal.throttled_by(NO_SLOT);
            let wait = self.draw(|limits| limits.upload_retry_after.clone());
            return Err(Refusal::too_many_by(wait.as_secs().max(1) as u32, NO_SLOT));
        }
        self.journal.upload_begun();
        Ok(())
    }

    /// When the next bytes of an upload will have been carried.
    pub(crate) fn carry(&mut self, now: Duration, bot: i64, bytes: u64) -> Duration {
        self.journal.uploaded(bytes);
        self.uploads.carry(now, bot, bytes)
    }

    pub(crate) fn end_upload(&mut self, bot: i64) {
        self.uploads.end(bot);
    }

    pub(crate) fn deliveries(&mut self, now: Duration) -> (Vec<Delivery>, Option<Duration>) {
        let (due, next) = self.inboxes.deliveries(now);
        if let Some(listener) = &self.listener {
            let its = due.iter().filter(|delivery| delivery.bot == listener.bot);
            listener.takes(its.map(|delivery| delivery.id), now);
        }
        (due, next)
    }

    pub(crate) fn posted(&mut self, now: Duration, delivery: &Delivery, outcome: &Outcome) {
        let chance = self.random.random_range(0.0..1.0);
        self.inboxes.posted(now, delivery, outcome, chance);
    }

    /// The counts since the last time.
    pub(crate) fn take_interval(&mut self) -> CallCounts {
        let (second, minute) = (self.throttle.fullest_second(), self.throttle.fullest_minute());
        CallCounts {
            calls_while_throttled: self.throttle.take_while_throttled(),
            uploads_at_once: self.uploads.take_peak(),
            worst_second_sends: u64::from(second.attempts),
            worst_second_accepted: u64::from(second.accepted),
            worst_minute_group_sends: u64::from(minute.attempts),
            worst_minute_group_accepted: u64::from(minute.accepted),
            ..self.journal.take()
        }
    }

    /// How many messages an album of that many items counts as.
    pub(crate) fn album_weight(&self, items: usize) -> u32 {
        match self.limits.album {
            AlbumWeight::Items => items as u32,
            AlbumWeight::One => 1,
        }
    }

    /// Whether a chat is there only once somebody wrote in it.
    pub(crate) fn refuses_unknown_chats(&self) -> bool {
        self.limits.unknown_chats == UnknownChats::Refuse
    }

    pub(crate) fn poll_batch(&self) -> Duration {
        self.limits.poll_batch
    }

    /// A number that chance gives.
    pub(crate) fn chance(&mut self, range: std::ops::RangeInclusive<i64>) -> i64 {
        self.random.random_range(range)
    }

    fn draw(&mut self, range: impl FnOnce(&Limits) -> std::ops::RangeInclusive<Duration>) -> Duration {
        let (low, high) = range(&self.limits).into_inner();
        if low == high { low } else { self.random.random_range(low..=high) }
    }
}

fn status(answer: &Result<Done, Refusal>) -> u16 {
    answer.as_ref().map_or_else(|refusal| refusal.code, |_| 200)
}
