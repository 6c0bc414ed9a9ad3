//! The act a player is at, and how it ends when everything is ended at once. Pure.

use std::time::Duration;

use floodrig_reports::recording::Outcome;

use super::floor::{Ended, InFlight};
use super::hands::{Room, Way};

/// The act a player is at.
#[derive(Clone, Copy)]
pub(super) struct Busy {
    pub(super) arrival: u32,
    /// When it was begun; nothing: it waits for its task to be run.
    pub(super) started: Option<Duration>,
    /// Requests of those of its tries that have ended.
    pub(super) tries: u16,
    /// It waits for its next try: how the last one ended.
    pub(super) between: Option<Outcome>,
    pub(super) way: Way,
    /// What it may have open.
    pub(super) room: Room,
}

impl Busy {
    /// Not begun.
    pub(super) fn waiting(arrival: u32) -> Self {
        Self { arrival, started: None, tries: 0, between: None, way: Way::Wire, room: Room::default() }
    }

    /// How it ends when everything is ended: what waits for another try has ended as its last one did, unless the rig
    /// itself wants to stop.
    pub(super) fn cut(self, in_flight: InFlight) -> Ended {
        let in_flight = match self.way {
            Way::Wire | Way::Socket => in_flight.wired,
            Way::Bot => in_flight.to_bot,
        };
        let drained = matches!(in_flight, Outcome::Timeout | Outcome::Unanswered);
        let (outcome, tries) = match (self.started, self.between) {
            (None, _) => (Outcome::Abandoned, 0),
            (Some(_), None) => (in_flight, self.tries + 1),
            (Some(_), Some(last)) => (if drained { last } else { in_flight }, self.tries),
        };
        Ended { at: Duration::ZERO, outcome, tries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_cut_between_its_tries_ended_as_the_last_and_one_cut_in_a_try_has_one_more() {
        let busy = Busy { started: Some(Duration::ZERO), tries: 2, ..Busy::waiting(0) };
        let between = Busy { between: Some(Outcome::Status(503)), ..busy };
        let cut = |busy: Busy, in_flight| {
            let ended = busy.cut(InFlight { wired: in_flight, to_bot: Outcome::Unanswered });
            (ended.outcome, ended.tries)
        };
        assert_eq!(cut(busy, Outcome::Timeout), (Outcome::Timeout, 3));
        assert_eq!(cut(between, Outcome::Timeout), (Outcome::Status(503), 2));
        assert_eq!(cut(between, Outcome::Abandoned), (Outcome::Abandoned, 2));
        assert_eq!(cut(Busy { started: None, ..busy }, Outcome::Timeout), (Outcome::Abandoned, 0));
        assert_eq!(cut(Busy { way: Way::Bot, ..busy }, Outcome::Timeout), (Outcome::Unanswered, 3));
    }
}
