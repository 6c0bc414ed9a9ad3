//! The stop that the scenario orders in the middle of the load: given at its instant, seen out, and written down.
//!
//! It is the rig's own order, so that what follows is no death: the acts begun before it must still be served, what was
//! accepted must still be delivered, and what is begun afterwards may be refused.

use std::time::Duration;

use floodrig_reports::recording::{EventKind, OrderedStop, Row};
use floodrig_stub::Stub;

use super::Rig;
use super::bot::is_spoken_to;
use super::load::{TELL_EVERY, event, micros};
use super::under_test::UnderTest;
use super::watch::Watching;
use crate::drive::BotSide;
use crate::system::System;

/// How much longer than its time the keeper may take: SIGKILL, and the walk that finds nothing left.
const MARGIN: Duration = Duration::from_secs(15);
/// How long the stub may need for calls that had reached it when the system's last process ended: it answers a real
/// call after 120 ms at most, and an upload is handed over whole before that.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// The order, not yet given or given.
pub(super) struct Ordered<'a> {
    rig: &'a Rig<'a>,
    system: &'a System,
    watching: Option<&'a Watching>,
    due: Duration,
    given: Option<OrderedStop>,
}

impl<'a> Ordered<'a> {
    /// The scenario's order; nothing: there is none, or it is for the rig that has started the system to give.
    pub(super) fn of(
        rig: &'a Rig<'a>,
        system: &'a UnderTest,
        watching: Option<&'a Watching>,
        load_from: Duration,
    ) -> Option<Self> {
        let due = excused_from(rig, load_from)?;
        match system {
            UnderTest::Started(system) => Some(Self { rig, system, watching, due, given: None }),
            // The rig that observes such a system was refused the event.
            UnderTest::Attached(_) => None,
        }
    }

    /// How long the caller may sleep.
    pub(super) fn until_due(&self) -> Duration {
        let left = self.due.saturating_sub(self.rig.ground.clock.now());
        if self.is_open() { left.min(TELL_EVERY) } else { TELL_EVERY }
    }

    /// Whether the order is still to be given: a system that has died takes none.
    pub(super) fn is_open(&self) -> bool {
        self.given.is_none() && self.system.ended_at().is_none()
    }

    /// Whether the order was given and the system has not yet ended.
    pub(super) fn is_under_way(&self) -> bool {
        let Some(given) = self.given.filter(|_| self.system.gone_at().is_none()) else { return false };
        let over = Duration::from_micros(given.at_us) + self.rig.order.scenario.system.stop_within + MARGIN;
        self.rig.ground.clock.now() < over
    }

    /// Gives the order when it is due.
    pub(super) fn look(&mut self) {
        if !self.is_open() || self.rig.ground.clock.now() < self.due {
            return;
        }
        let waiting = self.watching.map_or(0, Watching::awaited);
        let in_flight = self.rig.progress.in_flight().now();
        let at = self.system.order_stop(self.rig.order.scenario.system.stop_within);
        event(self.rig, at, EventKind::StopOrdered, "SIGTERM, by the scenario's order");
        self.given = Some(OrderedStop { at_us: micros(at), in_flight, waiting, ..OrderedStop::default() });
    }

    /// Until when calls of a system that is gone may still become visible.
    pub(super) fn last_calls_until(&self) -> Option<Duration> {
        self.given.and(self.system.gone_at()).map(|gone| gone + LAST_CALLS)
    }

    /// Writes down what the order has led to.
    pub(super) fn finish(self, stub: Option<&Stub>, bot: &BotSide) {
        let Some(given) = self.given else { return };
        let within = self.rig.order.scenario.system.stop_within;
        let gone_us = self.system.gone_at().map(micros);
        let killed = gone_us.is_none_or(|gone| gone.saturating_sub(given.at_us) >= micros(within));
        let spoken_to = stub.filter(|_| is_spoken_to(&self.rig.order.scenario));
        let unacted = spoken_to.map(|stub| {
            let waiting = stub.unacknowledged(self.rig.ground.bot_token, &bot.unanswered);
            (bot.unanswered.len() - waiting) as u64
        });
        self.rig.write(Row::OrderedStop(OrderedStop { gone_us, killed, unacted, ..given }));
    }
}

/// From when on acts that are not served are charged to nobody, on every rig of a joint run alike.
pub(super) fn excused_from(rig: &Rig<'_>, load_from: Duration) -> Option<Duration> {
    rig.order.scenario.terminate_at().map(|at| load_from + at)
}
