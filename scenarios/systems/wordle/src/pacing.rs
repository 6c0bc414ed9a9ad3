//! When the next call may leave, so that no second ever holds more than Telegram takes. PURE.
//!
//! Telegram counts a call at some instant between its departure and its answer. A call therefore holds its place from
//! its departure until a second after its answer, and there are fewer places than Telegram allows: then the ceiling
//! holds whatever the network or a busy processor does to the calls on their way.

use std::collections::VecDeque;
use std::time::Duration;

/// Telegram's ceiling is 30 a second (<https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>).
const PLACES: usize = 29;

/// The window of that ceiling.
const WINDOW: Duration = Duration::from_secs(1);

/// The distance between departures: 25 a second.
pub(crate) const SPACING: Duration = Duration::from_millis(40);

/// Whether a call may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Departure {
    /// Now; its place is taken.
    Now,
    /// Not before this instant: ask again then.
    At(Duration),
    /// Not before a call under way is answered.
    AfterAnAnswer,
}

/// The departures of one bot.
#[derive(Debug, Default)]
pub(crate) struct Pacing {
    under_way: usize,
    answered: VecDeque<Duration>,
    not_before: Duration,
}

impl Pacing {
    /// Asks to leave now.
    pub(crate) fn ask(&mut self, now: Duration) -> Departure {
        while self.answered.front().is_some_and(|answered| *answered + WINDOW <= now) {
            self.answered.pop_front();
        }
        if now < self.not_before {
            return Departure::At(self.not_before);
        }
        if self.under_way + self.answered.len() >= PLACES {
            return self
                .answered
                .front()
                .map_or(Departure::AfterAnAnswer, |answered| Departure::At(*answered + WINDOW));
        }
        self.under_way += 1;
        self.not_before = now + SPACING;
        Departure::Now
    }

    /// A call that had left was answered, or given up.
    pub(crate) fn answered(&mut self, now: Duration) {
        assert!(self.under_way > 0, "only a call under way is answered");
        self.under_way -= 1;
        self.answered.push_back(now);
    }

    /// A refusal: nobody leaves for as long as Telegram said.
    pub(crate) fn pause(&mut self, now: Duration, retry_after: Duration) {
        self.not_before = self.not_before.max(now + retry_after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn departures_are_40_ms_apart() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.ask(ms(0)), Departure::Now);
        assert_eq!(pacing.ask(ms(39)), Departure::At(ms(40)));
        assert_eq!(pacing.ask(ms(40)), Departure::Now);
    }

    #[test]
    fn an_idle_spell_earns_no_burst() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.ask(ms(5000)), Departure::Now);
        assert_eq!(pacing.ask(ms(5001)), Departure::At(ms(5040)));
    }

    #[test]
    fn a_refusal_pauses_everyone_until_it_is_over() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.ask(ms(0)), Departure::Now);
        pacing.pause(ms(100), ms(3000));
        pacing.pause(ms(200), ms(1000));
        assert_eq!(pacing.ask(ms(3099)), Departure::At(ms(3100)));
        assert_eq!(pacing.ask(ms(3100)), Departure::Now);
    }

    #[test]
    fn unanswered_calls_keep_their_places() {
        let mut pacing = Pacing::default();
        for nth in 0..29 {
            assert_eq!(pacing.ask(SPACING * nth), Departure::Now);
        }
        assert_eq!(pacing.ask(ms(60_000)), Departure::AfterAnAnswer);
        pacing.answered(ms(60_000));
        assert_eq!(pacing.ask(ms(60_999)), Departure::At(ms(61_000)));
        assert_eq!(pacing.ask(ms(61_000)), Departure::Now);
    }
}
