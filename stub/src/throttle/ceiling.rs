//! One rule, and the state of everything that it is about.

use std::time::Duration;

use super::pace::Pace;
use super::tally::Tally;
use super::window::Window;
use super::{Counted, Fullest, closing};
use crate::ids::ById;
use crate::limits::{Family, Rule, Scope};
use crate::world::ChatKind;

/// A bot, and the chat if the rule is about chats.
pub(super) type Key = (i64, i64);

/// A rule at work.
#[derive(Debug)]
pub(super) struct Ceiling {
    rule: Rule,
    scopes: ById<Key, State>,
    fullest: Fullest,
}

#[derive(Debug)]
struct State {
    meter: Meter,
    /// Made by the first refusal: a bot that behaves needs none.
    refused: Option<Box<Tally>>,
    closed_until: Duration,
}

#[derive(Debug)]
enum Meter {
    Window(Window),
    Pace(Pace),
}

/// What a call meets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Met {
    /// It came while a 429 still asked to wait.
    pub(super) closed: bool,
    /// How long until it may come; `None`: now.
    pub(super) wait: Option<Duration>,
    /// How long until the rule itself has room for it.
    pub(super) room: Option<Duration>,
}

/// No wait grows beyond two weeks (`NetQueryDelayer.cpp` of <https://github.com/tdlib/td>).
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(14 * 24 * 60 * 60);

impl Ceiling {
    pub(super) fn new(rule: Rule) -> Self {
        Self { rule, scopes: ById::default(), fullest: Fullest::default() }
    }

    /// The state that a call falls under, if it falls under the rule.
    pub(super) fn key_of(&self, call: &Counted) -> Option<Key> {
        if !self.counts(call.family) {
            return None;
        }
        match (self.rule.scope, call.chat) {
            (Scope::Bot, _) => Some((call.bot, 0)),
            (Scope::Uploads, _) => call.carries_file.then_some((call.bot, 0)),
            (Scope::Chat, Some((id, ChatKind::Private)))
            | (Scope::Group, Some((id, ChatKind::Group | ChatKind::Supergroup)))
            | (Scope::Channel, Some((id, ChatKind::Channel))) => Some((call.bot, id)),
            (Scope::Chat | Scope::Group | Scope::Channel, _) => None,
        }
    }

    /// What a call would meet; with `growth` it may not come before it was told to, and puts that off.
    pub(super) fn meet(&mut self, now: Duration, key: Key, call: &Counted, growth: Duration) -> Met {
        let Self { rule, scopes, .. } = self;
        let state = scopes.entry(key).or_insert_with(|| State::of(rule));
        state.expire(now, rule.window);
        let closed = now < state.closed_until;
        let room = state.meter.wait(now, rule, call);
        let mut wait = room;
        if closed && !growth.is_zero() {
            if !call.again {
                state.closed_until = (state.closed_until + growth).min(now + LONGEST_WAIT);
            }
            wait = wait.max(Some(state.closed_until.saturating_sub(now)));
        }
        Met { closed, wait, room }
    }

    /// Enters a call.
    pub(super) fn accept(&mut self, now: Duration, key: Key, weight: u32) {
        let Some(state) = self.scopes.get_mut(&key) else { return };
        state.meter.push(now, &self.rule, weight);
        self.fullest.note(state.accepted(), state.refused());
    }

    /// Notes that a call was refused, and, if the rule has no room for it, until when that says to wait.
    pub(super) fn refuse(&mut self, now: Duration, key: Key, weight: u32, room: Option<Duration>) {
        let Some(state) = self.scopes.get_mut(&key) else { return };
        state.refused.get_or_insert_default().push(now, self.rule.window, weight);
        if let Some(room) = room {
            state.closed_until = state.closed_until.max(closing(now, room));
        }
        self.fullest.note(state.accepted(), state.refused());
    }

    pub(super) fn counts(&self, family: Family) -> bool {
        self.rule.families.contains(&family)
    }

    pub(super) fn id(&self) -> &str {
        &self.rule.id
    }

    pub(super) fn fullest(&self) -> Fullest {
        self.fullest
    }

    pub(super) fn len(&self) -> usize {
        self.scopes.len()
    }

    /// Forgets what would answer as if it were new.
    pub(super) fn sweep(&mut self, now: Duration) {
        let window = self.rule.window;
        self.scopes.retain(|_, state| {
            state.expire(now, window);
            !state.is_idle(now)
        });
    }
}

impl State {
    fn of(rule: &Rule) -> Self {
        let meter = if rule.burst == 0 { Meter::Window(Window::default()) } else { Meter::Pace(Pace::default()) };
        Self { meter, refused: None, closed_until: Duration::ZERO }
    }

    fn expire(&mut self, now: Duration, window: Duration) {
        if let Meter::Window(entries) = &mut self.meter {
            entries.expire(now, window);
        }
        if let Some(refused) = &mut self.refused {
            refused.expire(now, window);
        }
    }

    fn is_idle(&self, now: Duration) -> bool {
        let meter_is_idle = match &self.meter {
            Meter::Window(entries) => entries.len() == 0,
            Meter::Pace(pace) => pace.is_full(now),
        };
        meter_is_idle && self.refused() == 0 && self.closed_until <= now
    }

    fn accepted(&self) -> u32 {
        match &self.meter {
            Meter::Window(entries) => entries.len(),
            Meter::Pace(_) => 0,
        }
    }

    fn refused(&self) -> u32 {
        self.refused.as_ref().map_or(0, |refused| refused.total())
    }
}

impl Meter {
    fn wait(&self, now: Duration, rule: &Rule, call: &Counted) -> Option<Duration> {
        if rule.limit == 0 {
            return None;
        }
        let limit = if call.is_paid { rule.limit.max(rule.paid_limit) } else { rule.limit };
        match self {
            Self::Window(entries) => entries.wait(now, rule.window, limit, call.weight),
            Self::Pace(pace) => pace.wait(now, interval(rule), rule.burst, call.weight),
        }
    }

    fn push(&mut self, now: Duration, rule: &Rule, weight: u32) {
        match self {
            Self::Window(entries) => entries.push(now, rule.limit, weight),
            Self::Pace(pace) => pace.push(now, interval(rule), weight),
        }
    }
}

/// How long one call of a pace takes to be earned back.
fn interval(rule: &Rule) -> Duration {
    rule.window / rule.limit.max(1)
}
