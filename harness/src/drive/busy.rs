//! The act a player is at, and how it ends when everything is ended at once. Pure.

use std::time::Duration;

use floodrig_reports::recording::Outcome;

use super::floor::{Ended, InFlight};
use super::hands::{Room, Way};
use crate::exchange::Stage;

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
    /// What its exchange did last was to begin to connect.
    pub(super) connecting: bool,
    /// Requests of its present try that were sent.
    pub(super) sent: u16,
    /// A handshake of any of its tries needed SYN retransmits.
    pub(super) late_connect: bool,
}

impl Busy {
    /// Not begun.
    pub(super) fn waiting(arrival: u32) -> Self {
        Self {
            arrival,
            started: None,
            tries: 0,
            between: None,
            way: Way::Wire,
            room: Room::default(),
            connecting: false,
            sent: 0,
            late_connect: false,
        }
    }

    /// Its exchange has come so far.
    pub(super) fn come_to(&mut self, stage: Stage) {
        match stage {
            Stage::Connecting => self.connecting = true,
            Stage::LetInLate => self.late_connect = true,
            Stage::Sending => (self.connecting, self.sent) = (false, self.sent.saturating_add(1)),
        }
    }

    /// A try has ended, and the next is waited for.
    pub(super) fn pause(&mut self, last: &Ended) {
        (self.tries, self.between, self.connecting, self.sent) = (last.tries, Some(last.outcome), false, 0);
    }

    /// How it ends when everything is ended: what has no connection yet was not let in, and what waits for another try
    /// has ended as its last one did, unless the rig itself wants to stop.
    pub(super) fn cut(self, in_flight: InFlight) -> Ended {
        let (in_flight, sent) = match self.way {
            Way::Wire | Way::Socket => (in_flight.wired, self.sent),
            // An update is handed to the stub as its try begins.
            Way::Bot => (in_flight.to_bot, 1),
        };
        let drained = matches!(in_flight, Outcome::Timeout | Outcome::Unanswered);
        let (outcome, tries) = match (self.started, self.between) {
            (None, _) => (Outcome::Abandoned, 0),
            (Some(_), None) if drained && self.connecting => (Outcome::ConnectTimeout, self.tries + sent),
            (Some(_), None) => (in_flight, self.tries + sent),
            (Some(_), Some(last)) => (if drained { last } else { in_flight }, self.tries),
        };
        Ended { at: Duration::ZERO, outcome, tries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(busy: Busy, in_flight: Outcome) -> (Outcome, u16) {
        let ended = busy.cut(InFlight { wired: in_flight, to_bot: Outcome::Unanswered });
        (ended.outcome, ended.tries)
    }

    #[test]
    fn an_act_cut_while_it_connects_was_not_let_in_and_what_it_did_not_send_is_no_request() {
        let mut busy = Busy { started: Some(Duration::ZERO), ..Busy::waiting(0) };
        busy.come_to(Stage::Connecting);
        assert_eq!(cut(busy, Outcome::Timeout), (Outcome::ConnectTimeout, 0));
        assert_eq!(cut(busy, Outcome::Abandoned), (Outcome::Abandoned, 0));
        busy.come_to(Stage::LetInLate);
        busy.come_to(Stage::Sending);
        assert_eq!((cut(busy, Outcome::Timeout), busy.late_connect), ((Outcome::Timeout, 1), true));
        // A connection that was kept had been closed, and another is made for the same request.
        busy.come_to(Stage::Connecting);
        assert_eq!(cut(busy, Outcome::Timeout), (Outcome::ConnectTimeout, 1));
        busy.pause(&Ended { at: Duration::ZERO, outcome: Outcome::Refused, tries: 1 });
        assert_eq!((cut(busy, Outcome::Timeout), busy.late_connect), ((Outcome::Refused, 1), true));
        busy.between = None;
        busy.come_to(Stage::Connecting);
        assert_eq!(cut(busy, Outcome::Timeout), (Outcome::ConnectTimeout, 1));
    }

    #[test]
    fn an_act_cut_between_its_tries_ended_as_the_last_and_one_cut_in_a_try_has_one_more() {
        let mut busy = Busy { started: Some(Duration::ZERO), tries: 2, ..Busy::waiting(0) };
        busy.come_to(Stage::Sending);
        let between = Busy { between: Some(Outcome::Status(503)), ..busy };
        assert_eq!(cut(busy, Outcome::Timeout), (Outcome::Timeout, 3));
        assert_eq!(cut(between, Outcome::Timeout), (Outcome::Status(503), 2));
        assert_eq!(cut(between, Outcome::Abandoned), (Outcome::Abandoned, 2));
        assert_eq!(cut(Busy { started: None, ..busy }, Outcome::Timeout), (Outcome::Abandoned, 0));
        assert_eq!(cut(Busy { way: Way::Bot, ..busy }, Outcome::Timeout), (Outcome::Unanswered, 3));
    }
}
