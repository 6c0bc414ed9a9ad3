//! After the load: the system is left alone, and then one player of each journey comes once more, as in the pre-flight.
//!
//! What memory and handles have come to by then is in the vitals, which go on meanwhile.

use std::thread;

use floodrig_reports::recording::{EventKind, Outcome, ProbePlayer, Recovery, Row};

use super::load::{TELL_EVERY, event, micros};
use super::preflight::{self, Visits};
use super::telegram::Telegram;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::{News, Rig};

/// How the wait went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rested {
    /// It was looked at, or there was nothing to look at.
    Done,
    /// Ctrl-C came first.
    CutShort,
}

/// Leaves the system alone and looks at it again; a system that is gone, by itself or by order, has nothing to recover.
pub(super) fn rest(
    rig: &Rig<'_>,
    telegram: &Telegram,
    system: &UnderTest,
    before: &Visits,
    mut tell: impl FnMut(News<'_>),
) -> Result<Rested, Trouble> {
    let (idle, clock) = (rig.order.scenario.idle(), rig.ground.clock);
    if idle.is_zero() || system.is_gone() || !rig.order.places.observes() {
        return Ok(Rested::Done);
    }
    let from = clock.now();
    tell(News::Waiting("leaving the system alone, to see whether it recovers"));
    while clock.now() < from + idle && !rig.stop.asked() && !system.is_gone() {
        thread::park_timeout(TELL_EVERY.min((from + idle).saturating_sub(clock.now())));
    }
    if rig.stop.asked() || system.is_gone() {
        return Ok(if rig.stop.asked() { Rested::CutShort } else { Rested::Done });
    }
    let to = clock.now();
    event(rig, to, EventKind::ProbeCame, "one player of each journey comes once more");
    let after = preflight::visit(rig, telegram)?;
    if rig.stop.asked() {
        return Ok(Rested::CutShort);
    }
    let players = players(before, &after);
    rig.write(Row::Recovery(Recovery { from_us: micros(from), to_us: micros(to), players }));
    Ok(Rested::Done)
}

fn players(before: &Visits, after: &Visits) -> Vec<ProbePlayer> {
    let player = |act: &String| {
        let after_us = after.took_us.get(act).copied();
        let refused = after.refused.iter().find(|(name, _)| name == act).map(|(_, sample)| sample.outcome);
        let fallback = if after_us.is_some() { Outcome::Ok } else { Outcome::Abandoned };
        ProbePlayer {
            act: act.clone(),
            before_us: before.took_us.get(act).copied(),
            after_us,
            outcome: refused.unwrap_or(fallback),
        }
    };
    after.acts.iter().map(player).collect()
}
