//! Where every player stands: who is busy, what each is due to do next, and the samples of what is done. It moves in
//! steps, each told the time, and waits for nothing.

use std::sync::Arc;
use std::time::Duration;

use floodrig_reports::recording::{Outcome, Sample};

use crate::exchange::{Connection, Socket};
use crate::plan::{Arrival, Plan};
use crate::record::Intervals;
use crate::scenario::Connections;

use super::course::Course;
use super::pace::Pace;
use super::request::Captured;

/// All players and the schedule.
pub(super) struct Floor {
    plan: Arc<Plan>,
    course: Course,
    load_from: Duration,
    rules: Rules,
    players: Vec<Standing>,
    /// Connections that wait for anybody, where they are shared.
    idle: Vec<Connection>,
    /// Acts to be recorded: those of the plan, and one for each time that one is due again.
    planned: u64,
    /// Arrivals before this one have come due.
    cursor: u32,
    open: u64,
    pub(super) counts: Counts,
    pub(super) sink: Intervals,
}

/// What a floor goes by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Whether the plan is done once, or again and again.
    pub(super) pace: Pace,
    /// Whose connections are.
    pub(super) connections: Connections,
    /// How many may be open at once.
    pub(super) most_open: u64,
}

/// What is counted beside the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Acts abandoned because too many connections were open.
    pub(super) capped: u64,
    /// The most connections that were open at once.
    pub(super) open_peak: u64,
}

/// How an act goes to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Over a connection of the player's.
    Wire,
    /// Through the stub, to the bot.
    Bot,
}

/// What becomes of acts that are still in flight at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlight {
    pub(super) wired: Outcome,
    pub(super) to_bot: Outcome,
}

/// One player.
#[derive(Default)]
struct Standing {
    /// The act they are at.
    busy: Option<Busy>,
    /// When their last act ended.
    free: Duration,
    connection: Option<Connection>,
    /// Further connections that a page load has left open.
    further: Vec<Connection>,
    /// The open `WebSocket`s of their visits, each until the visit ends.
    sockets: Vec<(u32, Socket)>,
    /// What their visits have captured, each until the visit ends.
    captured: Vec<(u32, Captured)>,
}

/// The act a player is at.
#[derive(Clone, Copy)]
struct Busy {
    arrival: u32,
    /// When it was begun; nothing: it waits for its task to be run.
    started: Option<Duration>,
    way: Way,
}

/// What a player has in hand while acting.
#[derive(Default)]
pub(super) struct Hands {
    pub(super) connection: Option<Connection>,
    /// Connections beside it, for what is fetched at the same time.
    pub(super) further: Vec<Connection>,
    /// The visit's WebSocket.
    pub(super) socket: Option<Socket>,
    pub(super) captured: Captured,
    /// How many connections the act may have open, among all that may be.
    room: u64,
}

impl Hands {
    /// How many connections the act has.
    fn used(&self) -> u64 {
        u64::from(self.connection.is_some()) + self.further.len() as u64 + u64::from(self.socket.is_some())
    }

    /// How many connections the act may have open.
    pub(super) fn room(&self) -> u64 {
        self.room
    }
}

/// How an act ended.
pub(super) struct Ended {
    pub(super) at: Duration,
    pub(super) outcome: Outcome,
    pub(super) tries: u16,
}

impl Floor {
    pub(super) fn new(plan: Arc<Plan>, load_from: Duration, rules: Rules, sink: Intervals) -> Self {
        Self {
            course: Course::of(&plan.arrivals),
            load_from,
            rules,
            players: plan.players.iter().map(|_| Standing::default()).collect(),
            idle: Vec::new(),
            planned: plan.arrivals.len() as u64,
            cursor: 0,
            open: 0,
            counts: Counts::default(),
            sink,
            plan,
        }
    }

    /// Whether every act has its sample.
    pub(super) fn is_done(&self) -> bool {
        self.sink.samples() == self.planned
    }

    /// When the next arrival is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.plan.arrivals.get(self.cursor as usize).map(|arrival| self.load_from + arrival.at)
    }

    /// The next arrival that has come due by `now` and whose player is free. One whose player is busy waits: that
    /// player comes to it in [`Self::end`].
    pub(super) fn take_due(&mut self, now: Duration) -> Option<u32> {
        while let Some(scheduled) = self.next_due().filter(|due| *due <= now) {
            let index = self.cursor;
            let arrival = self.arrival(index);
            self.cursor += 1;
            self.sink.offer(arrival.act, scheduled);
            let player = &mut self.players[arrival.player as usize];
            if player.busy.is_none() {
                player.busy = Some(Busy { arrival: index, started: None, way: Way::Wire });
                return Some(index);
            }
        }
        None
    }

    /// What the visit of an act has captured.
    pub(super) fn take_hands(&mut self, index: u32, way: Way) -> Hands {
        let arrival = self.arrival(index);
        let player = &mut self.players[arrival.player as usize];
        let captured = player.captured.iter().position(|(visit, _)| *visit == arrival.visit);
        let captured = captured.map(|at| player.captured.swap_remove(at).1).unwrap_or_default();
        let socket = player.sockets.iter().position(|(visit, _)| *visit == arrival.visit);
        let socket = socket.map(|at| player.sockets.swap_remove(at).1);
        let (connection, further) = match self.rules.connections {
            Connections::Player => (player.connection.take(), std::mem::take(&mut player.further)),
            Connections::Shared if way == Way::Wire => (self.idle.pop(), Vec::new()),
            Connections::Shared | Connections::Fresh => (None, Vec::new()),
        };
        let mut hands = Hands { connection, further, socket, captured, room: 0 };
        hands.room = hands.used();
        hands
    }

    /// Gives an act that has begun room for one connection beyond those it has, unless that is one too many.
    pub(super) fn make_room(&mut self, hands: &mut Hands) -> bool {
        if hands.room > hands.used() {
            return true;
        }
        if self.open >= self.rules.most_open {
            self.counts.capped += 1;
            return false;
        }
        hands.room += 1;
        self.open(1);
        true
    }

    /// Gives an act that has begun room for `wanted` connections in all, or for as many of them as may still be open,
    /// and those that are idle among them.
    pub(super) fn widen(&mut self, hands: &mut Hands, wanted: u64) {
        while hands.room < wanted && self.rules.connections == Connections::Shared {
            let Some(idle) = self.idle.pop() else { break };
            hands.further.push(idle);
            hands.room += 1;
        }
        let more = wanted.saturating_sub(hands.room).min(self.rules.most_open.saturating_sub(self.open));
        hands.room += more;
        self.open(more);
    }

    fn open(&mut self, more: u64) {
        self.open += more;
        self.counts.open_peak = self.counts.open_peak.max(self.open);
    }

    /// Begins an act at `now`, unless it needs one connection too many.
    pub(super) fn begin(&mut self, index: u32, hands: &mut Hands, way: Way, now: Duration) -> Result<(), Outcome> {
        if way == Way::Wire && hands.room == 0 && !self.make_room(hands) {
            return Err(Outcome::Abandoned);
        }
        let player = self.arrival(index).player;
        self.players[player as usize].busy = Some(Busy { arrival: index, started: Some(now), way });
        self.sink.begin();
        Ok(())
    }

    /// The update of an act towards the bot was handed over only now.
    pub(super) fn handed_over(&mut self, index: u32, now: Duration) {
        let player = self.arrival(index).player;
        if let Some(busy) = &mut self.players[player as usize].busy {
            busy.started = Some(now);
        }
    }

    /// Ends an act, records its sample, and says what the same player does at once: an act that came due meanwhile.
    pub(super) fn end(&mut self, index: u32, hands: Hands, ended: &Ended) -> Option<u32> {
        let arrival = self.arrival(index);
        let sample = self.sample(index, ended);
        let again = self.rules.pace.is_due_again(ended.at.saturating_sub(self.load_from));
        let following = if again { Some(index) } else { self.course.following(index) };
        let player = &mut self.players[arrival.player as usize];
        let begun = player.busy.is_some_and(|busy| busy.started.is_some());
        player.free = ended.at;
        if !self.course.ends_visit(index) && !hands.captured.is_empty() {
            player.captured.push((arrival.visit, hands.captured));
        }
        let next = following.filter(|next| *next < self.cursor);
        player.busy = next.map(|arrival| Busy { arrival, started: None, way: Way::Wire });
        let socket = hands.socket.filter(|_| !self.course.ends_visit(index));
        let talks = u64::from(socket.is_some());
        player.sockets.extend(socket.map(|socket| (arrival.visit, socket)));
        let kept = talks + self.keep(arrival.player, hands.connection, hands.further, following.is_some());
        self.open -= hands.room.saturating_sub(kept);
        if begun {
            self.sink.end();
        }
        self.sink.record(&sample);
        if again {
            self.planned += 1;
            self.sink.offer(arrival.act, ended.at);
        }
        next
    }

    /// Keeps connections for whoever may use them next, and says how many; those that nobody will are closed.
    fn keep(&mut self, player: u32, one: Option<Connection>, further: Vec<Connection>, goes_on: bool) -> u64 {
        let kept = u64::from(one.is_some()) + further.len() as u64;
        match self.rules.connections {
            Connections::Player if goes_on => {
                let player = &mut self.players[player as usize];
                (player.connection, player.further) = (one, further);
            }
            Connections::Shared => self.idle.extend(one.into_iter().chain(further)),
            Connections::Player | Connections::Fresh => return 0,
        }
        kept
    }

    /// Ends everything at `now`: acts in flight as `in_flight`, all others as abandoned. Every planned act has its
    /// sample then.
    pub(super) fn end_all(&mut self, in_flight: InFlight, now: Duration) {
        let cut = |way| {
            let outcome = match way {
                Way::Wire => in_flight.wired,
                Way::Bot => in_flight.to_bot,
            };
            Ended { at: now, outcome, tries: 1 }
        };
        let never = Ended { at: now, outcome: Outcome::Abandoned, tries: 0 };
        self.rules.pace = self.rules.pace.ended();
        let busy: Vec<Busy> = self.players.iter().filter_map(|player| player.busy).collect();
        for Busy { arrival, started, way } in busy {
            let cut = if started.is_some() { &cut(way) } else { &never };
            let mut next = self.end(arrival, Hands::default(), cut);
            while let Some(arrival) = next {
                next = self.end(arrival, Hands::default(), &never);
            }
        }
        let planned = self.plan.arrivals.len() as u32;
        for index in std::mem::replace(&mut self.cursor, planned)..planned {
            let sample = self.sample(index, &never);
            self.sink.record(&sample);
        }
    }

    fn arrival(&self, index: u32) -> Arrival {
        self.plan.arrivals[index as usize]
    }

    fn sample(&self, index: u32, ended: &Ended) -> Sample {
        let arrival = self.arrival(index);
        let player = &self.players[arrival.player as usize];
        let started = player.busy.filter(|busy| busy.arrival == index).and_then(|busy| busy.started);
        Sample {
            act: arrival.act,
            player: arrival.player,
            scheduled: self.rules.pace.due(self.load_from + arrival.at, player.free),
            free: player.free,
            started: started.unwrap_or(ended.at),
            ended: ended.at,
            outcome: ended.outcome,
            tries: ended.tries,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::plan::{ActSpec, crowd};

    /// One arrival for each of two players, and then another of the first, all due at once.
    fn floor(most_open: u64) -> Floor {
        floor_by(Rules { pace: Pace::Planned, connections: Connections::Player, most_open })
    }

    fn floor_by(rules: Rules) -> Floor {
        let arrival = |player| Arrival { at: Duration::ZERO, player, visit: player, act: 0, nth: 0 };
        let plan = Plan {
            acts: vec![ActSpec { name: "act".to_owned(), journey: 0, step: 0 }],
            players: crowd(7, 1, 2),
            visits: Vec::new(),
            arrivals: [0, 1, 0].map(arrival).to_vec(),
            digest: [0; 32],
        };
        let (rows, _) = sync_channel(1);
        let second = Duration::from_secs(1);
        let sink = Intervals::new(vec!["act".to_owned()], Duration::ZERO, second, rows, Arc::default());
        Floor::new(Arc::new(plan), Duration::ZERO, rules, sink)
    }

    fn begin(floor: &mut Floor, index: u32) -> Result<(), Outcome> {
        begin_by(floor, index, Way::Wire)
    }

    fn begin_by(floor: &mut Floor, index: u32, way: Way) -> Result<(), Outcome> {
        let mut hands = floor.take_hands(index, way);
        floor.begin(index, &mut hands, way, Duration::ZERO)
    }

    fn all(outcome: Outcome) -> InFlight {
        InFlight { wired: outcome, to_bot: outcome }
    }

    fn end(floor: &mut Floor, index: u32) -> Option<u32> {
        let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
        floor.end(index, Hands { room: 1, ..Hands::default() }, &ended)
    }

    #[test]
    fn a_busy_players_next_act_waits_for_the_end_of_the_last() {
        let mut floor = floor(9);
        let due: Vec<u32> = std::iter::from_fn(|| floor.take_due(Duration::ZERO)).collect();
        assert_eq!(due, [0, 1]);
        begin(&mut floor, 0).unwrap();
        assert_eq!(end(&mut floor, 0), Some(2));
        begin(&mut floor, 2).unwrap();
        assert_eq!(end(&mut floor, 2), None);
    }

    #[test]
    fn a_free_players_next_act_is_taken_by_the_pacer() {
        let mut floor = floor(9);
        assert_eq!(floor.take_due(Duration::ZERO), Some(0));
        begin(&mut floor, 0).unwrap();
        assert_eq!(end(&mut floor, 0), None);
        let due: Vec<u32> = std::iter::from_fn(|| floor.take_due(Duration::ZERO)).collect();
        assert_eq!(due, [1, 2]);
    }

    #[test]
    fn one_connection_too_many_is_not_opened_and_one_that_ended_makes_room() {
        let mut floor = floor(1);
        while floor.take_due(Duration::ZERO).is_some() {}
        assert_eq!(begin(&mut floor, 0), Ok(()));
        assert_eq!(begin(&mut floor, 1), Err(Outcome::Abandoned));
        assert_eq!(end(&mut floor, 0), Some(2));
        assert_eq!(begin(&mut floor, 2), Ok(()));
        assert_eq!((floor.counts.capped, floor.counts.open_peak), (1, 1));
    }

    #[test]
    fn an_act_is_widened_by_what_may_still_be_open_and_leaves_that_room_behind() {
        let mut floor = floor(4);
        while floor.take_due(Duration::ZERO).is_some() {}
        begin(&mut floor, 1).unwrap();
        let mut hands = floor.take_hands(0, Way::Wire);
        floor.begin(0, &mut hands, Way::Wire, Duration::ZERO).unwrap();
        floor.widen(&mut hands, 2);
        assert_eq!((hands.room(), floor.open), (2, 3));
        floor.widen(&mut hands, 6);
        assert_eq!((hands.room(), floor.open, floor.counts.open_peak), (3, 4, 4));
        let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
        floor.end(0, hands, &ended);
        assert_eq!((floor.open, floor.counts.capped), (1, 0));
    }

    #[test]
    fn an_act_towards_the_bot_needs_no_connection_and_frees_none() {
        let mut floor = floor(1);
        while floor.take_due(Duration::ZERO).is_some() {}
        assert_eq!(begin(&mut floor, 0), Ok(()));
        assert_eq!(begin_by(&mut floor, 1, Way::Bot), Ok(()));
        let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
        assert_eq!(floor.end(1, Hands::default(), &ended), None);
        assert_eq!(floor.open, 1);
        assert_eq!(end(&mut floor, 0), Some(2));
        assert_eq!((floor.open, floor.counts.open_peak), (0, 1));
    }

    #[test]
    fn an_act_towards_the_bot_starts_when_its_update_is_handed_over() {
        let mut floor = floor(9);
        assert_eq!(floor.take_due(Duration::ZERO), Some(0));
        begin_by(&mut floor, 0, Way::Bot).unwrap();
        floor.handed_over(0, Duration::from_millis(3));
        let ended = Ended { at: Duration::from_millis(7), outcome: Outcome::Unanswered, tries: 1 };
        let sample = floor.sample(0, &ended);
        assert_eq!((sample.lag(), sample.service()), (Duration::from_millis(3), Duration::from_millis(4)));
    }

    #[test]
    fn at_the_end_every_act_has_its_sample_wherever_it_stands() {
        for begun in 0..=2 {
            let mut floor = floor(9);
            for index in 0..begun {
                assert_eq!(floor.take_due(Duration::ZERO), Some(index));
                begin(&mut floor, index).unwrap();
            }
            floor.end_all(all(Outcome::Timeout), Duration::from_millis(5));
            assert_eq!(floor.sink.samples(), 3, "{begun} begun");
        }
    }

    #[test]
    fn an_act_that_ended_in_time_is_due_again_at_once_and_a_later_one_is_not() {
        let until = Duration::from_millis(10);
        let again = Rules { pace: Pace::Again { until }, connections: Connections::Player, most_open: 9 };
        let mut floor = floor_by(again);
        assert_eq!(floor.take_due(Duration::ZERO), Some(0));
        let mut end = |ms| {
            begin(&mut floor, 0).unwrap();
            let ended = Ended { at: Duration::from_millis(ms), outcome: Outcome::Closed, tries: 1 };
            (floor.end(0, Hands::default(), &ended), floor.planned)
        };
        assert_eq!(end(4), (Some(0), 4));
        assert_eq!(end(9), (Some(0), 5));
        assert_eq!(end(10), (None, 5));
        floor.end_all(all(Outcome::Timeout), until);
        assert!(floor.is_done());
    }

    #[test]
    fn a_closed_loop_that_is_stopped_goes_round_no_more() {
        let until = Duration::from_secs(3600);
        let again = Rules { pace: Pace::Again { until }, connections: Connections::Player, most_open: 9 };
        let mut floor = floor_by(again);
        while let Some(index) = floor.take_due(Duration::ZERO) {
            begin(&mut floor, index).unwrap();
        }
        floor.end_all(all(Outcome::Abandoned), Duration::from_millis(1));
        assert!(floor.is_done());
    }
}
