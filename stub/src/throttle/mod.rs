//! Who may send now, and who has to wait for how long. PURE: `now` is an argument.
//!
//! Sends and edits share their budgets (<https://github.com/tdlib/td/issues/2592>). A refused call is never
//! entered, so that hammering does not extend a wait. Three ceilings, each of them a value of [`Limits`]:
//! a window per bot, a window per group or channel, a pace per private chat. How Telegram really counts is
//! not public; a sliding window whose `retry_after` counts down is what users report.

mod pace;
#[cfg(test)]
mod tests;
mod window;

use std::collections::HashMap;
use std::time::Duration;

use pace::Pace;
use window::Window;

use crate::Limits;
use crate::world::ChatKind;

/// The span of the ceiling per bot: "30 messages per second".
pub(crate) const BOT_SPAN: Duration = Duration::from_secs(1);
/// The span of the ceiling per group: "20 messages per minute".
pub(crate) const GROUP_SPAN: Duration = Duration::from_secs(60);

/// What asks to be let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) bot: i64,
    /// Absent for a message sent through inline mode, whose chat nobody knows.
    pub(crate) chat: Option<(i64, ChatKind)>,
    /// How many messages it makes: an album counts as its items.
    pub(crate) weight: u32,
    /// How long it may be held until there is room; zero: it is refused at once.
    pub(crate) patience: Duration,
    /// It was held before, and is no new attempt.
    pub(crate) comes_again: bool,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Accepted,
    /// It is to come again after this wait, and is neither accepted nor refused until then.
    Absorbed(Duration),
    /// Whole seconds until every broken ceiling has room, rounded up.
    Refused {
        retry_after: u32,
    },
}

/// The fullest windows of the run so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worst {
    pub(crate) second_attempts: u32,
    pub(crate) second_accepted: u32,
    pub(crate) minute_attempts: u32,
    pub(crate) minute_accepted: u32,
}

/// The state of every ceiling.
#[derive(Debug)]
pub(crate) struct Throttle {
    bot_limit: u32,
    group_limit: u32,
    pace: Option<(Duration, u32)>,
    bots: HashMap<i64, Scope>,
    groups: HashMap<(i64, i64), Scope>,
    chats: HashMap<(i64, i64), Chat>,
    worst: Worst,
    while_throttled: u64,
    sweep_at: usize,
}

#[derive(Debug, Default)]
struct Scope {
    accepted: Window,
    attempts: Window,
    closed_until: Duration,
}

#[derive(Debug, Default)]
struct Chat {
    pace: Pace,
    closed_until: Duration,
}

/// Scopes are swept for idle ones when there are this many, then when they have doubled.
const SWEEP_FROM: usize = 4096;

impl Throttle {
    pub(crate) fn new(limits: &Limits) -> Self {
        let interval = (limits.chat_sends_per_second > 0).then(|| BOT_SPAN / limits.chat_sends_per_second);
        Self {
            bot_limit: limits.sends_per_second,
            group_limit: limits.group_sends_per_minute,
            pace: interval.map(|interval| (interval, limits.chat_burst.max(1))),
            bots: HashMap::new(),
            groups: HashMap::new(),
            chats: HashMap::new(),
            worst: Worst::default(),
            while_throttled: 0,
            sweep_at: SWEEP_FROM,
        }
    }

    /// Lets a call through or says how long it has to wait; `now` must never go back.
    pub(crate) fn admit(&mut self, now: Duration, call: Counted) -> Admission {
        self.sweep(now);
        let weight = call.weight.max(1);
        let mut scopes = self.scopes_of(call);
        scopes.expire(now);
        let closed = !call.comes_again && scopes.attempt(now, weight);
        let admission = match scopes.wait(now, weight) {
            None => {
                scopes.accept(now, weight);
                Admission::Accepted
            }
            Some(wait) if wait <= call.patience => Admission::Absorbed(wait),
            Some(wait) => {
                scopes.close(now, weight);
                Admission::Refused { retry_after: whole_seconds(wait) }
            }
        };
        scopes.note_worst();
        self.while_throttled += u64::from(closed);
        admission
    }

    pub(crate) fn worst(&self) -> Worst {
        self.worst
    }

    /// Calls that came while a 429 of their scope still asked them to wait, since this was last asked.
    pub(crate) fn take_while_throttled(&mut self) -> u64 {
        std::mem::take(&mut self.while_throttled)
    }

    fn scopes_of(&mut self, call: Counted) -> Scopes<'_> {
        let bot = self.bots.entry(call.bot).or_default();
        let (mut group, mut chat) = (None, None);
        match call.chat {
            Some((id, ChatKind::Private)) => {
                chat = self.pace.map(|pace| (self.chats.entry((call.bot, id)).or_default(), pace));
            }
            Some((id, ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel)) => {
                group = Some(self.groups.entry((call.bot, id)).or_default());
            }
            None => {}
        }
        Scopes { bot, group, chat, bot_limit: self.bot_limit, group_limit: self.group_limit, worst: &mut self.worst }
    }

    /// Forgets scopes that would answer as if they were new, so that memory follows the chats of the last minute.
    fn sweep(&mut self, now: Duration) {
        if self.groups.len() + self.chats.len() < self.sweep_at {
            return;
        }
        self.groups.retain(|_, scope| {
            scope.expire(now, GROUP_SPAN);
            scope.attempts.len() > 0 || scope.closed_until > now
        });
        self.chats.retain(|_, chat| !chat.pace.is_full(now) || chat.closed_until > now);
        self.sweep_at = SWEEP_FROM.max(2 * (self.groups.len() + self.chats.len()));
    }
}

/// The scopes of one call.
struct Scopes<'a> {
    bot: &'a mut Scope,
    group: Option<&'a mut Scope>,
    chat: Option<(&'a mut Chat, (Duration, u32))>,
    bot_limit: u32,
    group_limit: u32,
    worst: &'a mut Worst,
}

impl Scopes<'_> {
    fn expire(&mut self, now: Duration) {
        self.bot.expire(now, BOT_SPAN);
        if let Some(group) = &mut self.group {
            group.expire(now, GROUP_SPAN);
        }
    }

    /// Notes the attempt everywhere; true when it came into a scope still closed by a 429.
    fn attempt(&mut self, now: Duration, weight: u32) -> bool {
        let mut closed = self.bot.attempt(now, weight);
        if let Some(group) = &mut self.group {
            closed |= group.attempt(now, weight);
        }
        if let Some((chat, _)) = &self.chat {
            closed |= now < chat.closed_until;
        }
        closed
    }

    /// The longest wait over the broken ceilings.
    fn wait(&self, now: Duration, weight: u32) -> Option<Duration> {
        let group = self.group.as_ref().and_then(|group| group.wait(now, GROUP_SPAN, self.group_limit, weight));
        let chat = self.chat.as_ref().and_then(|(chat, pace)| chat.pace.wait(now, pace.0, pace.1, weight));
        self.bot.wait(now, BOT_SPAN, self.bot_limit, weight).max(group).max(chat)
    }

    /// Closes each broken scope for its own wait.
    fn close(&mut self, now: Duration, weight: u32) {
        let until = |closed: &mut Duration, wait: Option<Duration>| {
            *closed = wait.map_or(*closed, |wait| closing(now, wait).max(*closed));
        };
        let wait = self.bot.wait(now, BOT_SPAN, self.bot_limit, weight);
        until(&mut self.bot.closed_until, wait);
        if let Some(group) = &mut self.group {
            let wait = group.wait(now, GROUP_SPAN, self.group_limit, weight);
            until(&mut group.closed_until, wait);
        }
        if let Some((chat, (interval, burst))) = &mut self.chat {
            let wait = chat.pace.wait(now, *interval, *burst, weight);
            until(&mut chat.closed_until, wait);
        }
    }

    fn accept(&mut self, now: Duration, weight: u32) {
        self.bot.accepted.push(now, weight);
        if let Some(group) = &mut self.group {
            group.accepted.push(now, weight);
        }
        if let Some((chat, (interval, _))) = &mut self.chat {
            chat.pace.push(now, *interval, weight);
        }
    }

    fn note_worst(&mut self) {
        let worst = &mut *self.worst;
        worst.second_attempts = worst.second_attempts.max(self.bot.attempts.len());
        worst.second_accepted = worst.second_accepted.max(self.bot.accepted.len());
        if let Some(group) = &self.group {
            worst.minute_attempts = worst.minute_attempts.max(group.attempts.len());
            worst.minute_accepted = worst.minute_accepted.max(group.accepted.len());
        }
    }
}

impl Scope {
    fn expire(&mut self, now: Duration, span: Duration) {
        self.accepted.expire(now, span);
        self.attempts.expire(now, span);
    }

    fn attempt(&mut self, now: Duration, weight: u32) -> bool {
        self.attempts.push(now, weight);
        now < self.closed_until
    }

    fn wait(&self, now: Duration, span: Duration, limit: u32, weight: u32) -> Option<Duration> {
        if limit == 0 { None } else { self.accepted.wait(now, span, limit, weight) }
    }
}

/// A scope counts as closed for the whole seconds that its caller was told.
fn closing(now: Duration, wait: Duration) -> Duration {
    now + Duration::from_secs(u64::from(whole_seconds(wait)))
}

fn whole_seconds(wait: Duration) -> u32 {
    let up = u64::from(wait.subsec_nanos() > 0);
    (wait.as_secs() + up).max(1) as u32
}
