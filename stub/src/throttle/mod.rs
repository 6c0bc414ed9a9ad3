//! Who may send now, and who has to wait for how long. PURE: `now` is an argument.
//!
//! Sends and edits share their budgets (<https://github.com/tdlib/td/issues/2592>). A refused call is never
//! entered, so that hammering does not extend a wait unless the penalty is told to grow. Every ceiling is a
//! [`Rule`](crate::limits::Rule). How Telegram really counts is not public; a sliding window whose
//! `retry_after` counts down is what users report.

mod ceiling;
mod line;
mod pace;
mod slow;
mod tally;
#[cfg(test)]
mod tests;
mod window;

use std::time::Duration;

use ceiling::{Ceiling, Key, LONGEST_WAIT, Met};
pub(crate) use line::{Called, Entered, Kind, Lines, Place};
use slow::{SLOW_CHAT, SlowChats};

use crate::Limits;
use crate::ids::ById;
use crate::limits::{Family, OF_BOT, OF_CHANNEL, OF_GROUP, ThrottleScope};
use crate::world::ChatKind;

/// What asks to be let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) bot: i64,
    /// Absent for a message sent through inline mode, whose chat nobody knows.
    pub(crate) chat: Option<(i64, ChatKind)>,
    pub(crate) family: Family,
    /// How many messages it makes: an album counts as its items.
    pub(crate) weight: u32,
    pub(crate) carries_file: bool,
    /// The pause that the chat itself asks of this bot after each of its sends.
    pub(crate) slow_mode: Option<Duration>,
    /// It came with `allow_paid_broadcast`.
    pub(crate) is_paid: bool,
    /// The longest wait, in seconds, that is waited for it in place of a refusal.
    pub(crate) patience: u32,
    /// It has waited, and asks again.
    pub(crate) again: bool,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission<'a> {
    Accepted,
    /// It shall ask again in so many seconds, and nobody is told.
    Absorbed {
        seconds: u32,
    },
    /// Whole seconds until every broken ceiling has room, rounded up; and the ceiling that takes longest.
    Refused {
        retry_after: u32,
        rule: &'a str,
    },
}

/// The fullest window of a rule so far in the run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fullest {
    pub(crate) attempts: u32,
    pub(crate) accepted: u32,
}

/// The state of every ceiling.
#[derive(Debug)]
pub(crate) struct Throttle {
    ceilings: Vec<Ceiling>,
    growth: Duration,
    closes: ThrottleScope,
    /// Bots that a 429 closed altogether, and until when.
    closed_bots: ById<i64, Duration>,
    slow: SlowChats,
    while_throttled: u64,
    sweep_at: usize,
    /// What the call at hand meets; kept for its memory.
    met: Vec<(usize, Key, Met)>,
}

/// Scopes are swept for idle ones when there are this many, then when they have doubled.
const SWEEP_FROM: usize = 4096;
/// What is said to have refused a call that only its bot's own 429 did.
const CLOSED_BOT: &str = "an earlier 429";

impl Throttle {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            ceilings: limits.ceilings().into_iter().map(Ceiling::new).collect(),
            growth: limits.penalty_growth,
            closes: limits.throttle_scope,
            closed_bots: ById::default(),
            slow: SlowChats::default(),
            while_throttled: 0,
            sweep_at: SWEEP_FROM,
            met: Vec::new(),
        }
    }

    /// Lets a call through or says how long it has to wait; `now` must never go back.
    pub(crate) fn admit(&mut self, now: Duration, call: Counted) -> Admission<'_> {
        self.sweep(now);
        let call = Counted { weight: call.weight.max(1), ..call };
        let mut met = std::mem::take(&mut self.met);
        self.meet(now, &call, &mut met);
        let closed_bot = if met.is_empty() { None } else { self.closed_bot(now, &call) };
        let closed = closed_bot.is_some() || met.iter().any(|(_, _, met)| met.closed);
        self.while_throttled += u64::from(closed && !call.again);
        let slow = self.slow_mode(now, &call);
        let longest = met.iter().max_by_key(|(_, _, met)| met.wait).copied();
        let broken = longest.and_then(|(_, _, met)| met.wait);
        let wait = broken.max(closed_bot).max(slow).map(whole_seconds);
        let admission = match wait {
            None => {
                self.accept(now, &call, &met);
                Admission::Accepted
            }
            Some(seconds) if seconds <= call.patience => Admission::Absorbed { seconds },
            Some(retry_after) => {
                self.refuse(now, &call, &met, retry_after);
                let rule = match longest {
                    _ if slow > broken.max(closed_bot) => SLOW_CHAT,
                    Some((at, _, _)) if broken >= closed_bot => self.ceilings[at].id(),
                    Some(_) | None => CLOSED_BOT,
                };
                Admission::Refused { retry_after, rule }
            }
        };
        met.clear();
        self.met = met;
        admission
    }

    fn accept(&mut self, now: Duration, call: &Counted, met: &[(usize, Key, Met)]) {
        for (at, key, _) in met {
            self.ceilings[*at].accept(now, *key, call.weight);
        }
        if let (Some(delay), Some((chat, _))) = (call.slow_mode, call.chat) {
            self.slow.sent(now, call.bot, chat, delay);
        }
    }

    /// How long the chat's own slow mode still holds the call back.
    fn slow_mode(&self, now: Duration, call: &Counted) -> Option<Duration> {
        let ((chat, _), _) = call.chat.zip(call.slow_mode)?;
        self.slow.wait(now, call.bot, chat)
    }

    /// True when a rule counts that family though its methods do not ask by themselves.
    pub(crate) fn counts(&self, family: Family) -> bool {
        self.ceilings.iter().any(|ceiling| ceiling.counts(family))
    }

    /// The fullest second of a bot.
    pub(crate) fn fullest_second(&self) -> Fullest {
        self.fullest(OF_BOT)
    }

    /// The fullest minute of a group or channel.
    pub(crate) fn fullest_minute(&self) -> Fullest {
        let (group, channel) = (self.fullest(OF_GROUP), self.fullest(OF_CHANNEL));
        Fullest { attempts: group.attempts.max(channel.attempts), accepted: group.accepted.max(channel.accepted) }
    }

    /// Of the first of that name: a rule of the scenario may have the same.
    fn fullest(&self, id: &str) -> Fullest {
        self.ceilings.iter().find(|ceiling| ceiling.id() == id).map(Ceiling::fullest).unwrap_or_default()
    }

    /// Calls that came while a 429 of their scope still asked them to wait, since this was last asked.
    pub(crate) fn take_while_throttled(&mut self) -> u64 {
        std::mem::take(&mut self.while_throttled)
    }

    fn meet(&mut self, now: Duration, call: &Counted, met: &mut Vec<(usize, Key, Met)>) {
        for (at, ceiling) in self.ceilings.iter_mut().enumerate() {
            if let Some(key) = ceiling.key_of(call) {
                met.push((at, key, ceiling.meet(now, key, call, self.growth)));
            }
        }
    }

    /// How long the bot as a whole is still closed.
    fn closed_bot(&mut self, now: Duration, call: &Counted) -> Option<Duration> {
        let until = self.closed_bots.get_mut(&call.bot).filter(|until| now < **until)?;
        if !call.again {
            *until = (*until + self.growth).min(now + LONGEST_WAIT).max(*until);
        }
        Some(until.saturating_sub(now))
    }

    /// A bot that is closed already stays so for as long as it was told: refused calls extend nothing.
    fn refuse(&mut self, now: Duration, call: &Counted, met: &[(usize, Key, Met)], retry_after: u32) {
        for (at, key, met) in met {
            self.ceilings[*at].refuse(now, *key, call.weight, met.room);
        }
        if self.closes == ThrottleScope::Bot {
            let until = self.closed_bots.entry(call.bot).or_default();
            if *until <= now {
                *until = now + Duration::from_secs(u64::from(retry_after));
            }
        }
    }

    /// Forgets scopes that would answer as if they were new, so that memory follows the chats of the last minute.
    fn sweep(&mut self, now: Duration) {
        if self.scopes() < self.sweep_at {
            return;
        }
        self.ceilings.iter_mut().for_each(|ceiling| ceiling.sweep(now));
        self.closed_bots.retain(|_, until| now < *until);
        self.sweep_at = SWEEP_FROM.max(2 * self.scopes());
    }

    fn scopes(&self) -> usize {
        self.ceilings.iter().map(Ceiling::len).sum::<usize>() + self.closed_bots.len()
    }
}

impl Fullest {
    fn note(&mut self, accepted: u32, refused: u32) {
        self.accepted = self.accepted.max(accepted);
        self.attempts = self.attempts.max(accepted.saturating_add(refused));
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
