//! Where every player stands: who is busy, what each is due to do next, and the samples of what is done. It moves in
//! steps, each told the time, and waits for nothing.

use std::sync::Arc;
use std::time::Duration;

use floodrig_reports::recording::{Outcome, RigFault, Sample};

use crate::exchange::Connection;
use crate::plan::{Arrival, Plan};
use crate::record::Intervals;
use crate::scenario::Connections;

use super::busy::Busy;
use super::course::Course;
use super::memory::Memory;
use super::pace::Pace;

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
    /// When all players were last looked at for it, and whether the crowd alone fills the bound on open connections.
    crowded: Option<(Duration, bool)>,
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

/// For how long a look at all players stands for the next acts that find no connection left: a storm of them must not
/// look a hundred thousand times over.
const BOUND_STANDS: Duration = Duration::from_millis(10);

/// What is counted beside the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Acts abandoned because a system that did not answer held too many connections open.
    pub(super) capped: u64,
    /// Acts not sent, at the rig's own fault, because the crowd has more connections than the rig may open.
    pub(super) held_back: u64,
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
    /// What their visits carry on, each until the visit ends.
    memories: Vec<(u32, Memory)>,
}

/// What a player has in hand while acting.
#[derive(Default)]
pub(super) struct Hands {
    pub(super) connection: Option<Connection>,
    pub(super) memory: Memory,
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
            crowded: None,
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
                player.busy = Some(Busy::waiting(index));
                return Some(index);
            }
        }
        None
    }

    /// What a player has in hand for an act: a connection, and what its visit carries on.
    pub(super) fn take_hands(&mut self, index: u32, way: Way) -> Hands {
        let arrival = self.arrival(index);
        let player = &mut self.players[arrival.player as usize];
        let memory = player.memories.iter().position(|(visit, _)| *visit == arrival.visit);
        let memory = memory.map(|at| player.memories.swap_remove(at).1).unwrap_or_default();
        let connection = match self.rules.connections {
            Connections::Player => player.connection.take(),
            Connections::Shared if way == Way::Wire => self.idle.pop(),
            Connections::Shared | Connections::Fresh => None,
        };
        Hands { connection, memory }
    }

    /// Begins an act at `now`, unless it needs one connection too many.
    pub(super) fn begin(&mut self, index: u32, hands: &Hands, way: Way, now: Duration) -> Result<(), Outcome> {
        if way == Way::Wire && hands.connection.is_none() {
            if self.open >= self.rules.most_open {
                return Err(self.keep_back(now));
            }
            self.open += 1;
            self.counts.open_peak = self.counts.open_peak.max(self.open);
        }
        let player = self.arrival(index).player;
        self.players[player as usize].busy = Some(Busy { started: Some(now), way, ..Busy::waiting(index) });
        self.sink.begin();
        Ok(())
    }

    /// What becomes of an act that finds no connection left to open, and whose doing it is. If there would be none left
    /// had every act in flight ended at once, the crowd is larger than the rig can hold, and the fault is the rig's. If
    /// there would be, connections are held by a system that does not answer: that is data.
    fn keep_back(&mut self, now: Duration) -> Outcome {
        let known = self.crowded.filter(|(at, _)| now < *at + BOUND_STANDS);
        let (at, crowded) = known.unwrap_or_else(|| (now, self.would_be_open() >= self.rules.most_open));
        self.crowded = Some((at, crowded));
        if crowded {
            self.counts.held_back += 1;
            return Outcome::RigFault(RigFault::TooManyOpenFiles);
        }
        self.counts.capped += 1;
        Outcome::Abandoned
    }

    /// Connections that would still be open had every act in flight ended at this moment.
    fn would_be_open(&self) -> u64 {
        let waits = |player: &&Standing| {
            let goes_on = |busy: Busy| {
                busy.started.is_some() && busy.way == Way::Wire && self.course.following(busy.arrival).is_some()
            };
            player.connection.is_some() || player.busy.is_some_and(goes_on)
        };
        match self.rules.connections {
            Connections::Player => self.players.iter().filter(waits).count() as u64,
            // The first act that ends hands its connection on, or closes it.
            Connections::Shared | Connections::Fresh => 0,
        }
    }

    /// A try of an act in flight has ended so, and its player waits for the next.
    pub(super) fn pause(&mut self, index: u32, last: &Ended) {
        if let Some(busy) = self.busy_at(index) {
            (busy.tries, busy.between) = (last.tries, Some(last.outcome));
        }
    }

    /// The next try begins.
    pub(super) fn go_on(&mut self, index: u32) {
        if let Some(busy) = self.busy_at(index) {
            busy.between = None;
        }
    }

    fn busy_at(&mut self, index: u32) -> Option<&mut Busy> {
        let player = self.arrival(index).player;
        self.players[player as usize].busy.as_mut()
    }

    /// The update of an act towards the bot was handed over only now.
    pub(super) fn handed_over(&mut self, index: u32, now: Duration) {
        // A further try is part of the act that has started already.
        if let Some(busy) = self.busy_at(index).filter(|busy| busy.tries == 0) {
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
        let dialled = player.busy.is_some_and(|busy| busy.started.is_some() && busy.way == Way::Wire);
        let was_open = dialled || hands.connection.is_some();
        player.free = ended.at;
        if !self.course.ends_visit(index) && !hands.memory.is_empty() {
            player.memories.push((arrival.visit, hands.memory));
        }
        let next = following.filter(|next| *next < self.cursor);
        player.busy = next.map(Busy::waiting);
        let kept = self.keep(arrival.player, hands.connection, following.is_some());
        self.open -= u64::from(was_open && !kept);
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

    /// Keeps a connection for whoever may use it next; one that nobody will is closed.
    fn keep(&mut self, player: u32, connection: Option<Connection>, goes_on: bool) -> bool {
        let Some(connection) = connection else { return false };
        match self.rules.connections {
            Connections::Player if goes_on => self.players[player as usize].connection = Some(connection),
            Connections::Shared => self.idle.push(connection),
            Connections::Player | Connections::Fresh => return false,
        }
        true
    }

    /// Ends everything at `now`: acts in flight as `in_flight`, all others as abandoned. Every planned act has its
    /// sample then.
    pub(super) fn end_all(&mut self, in_flight: InFlight, now: Duration) {
        let never = Ended { at: now, outcome: Outcome::Abandoned, tries: 0 };
        self.rules.pace = self.rules.pace.ended();
        let busy: Vec<Busy> = self.players.iter().filter_map(|player| player.busy).collect();
        for busy in busy {
            let cut = Ended { at: now, ..busy.cut(in_flight) };
            let mut next = self.end(busy.arrival, Hands::default(), &cut);
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
            acts: vec![ActSpec { name: "act".to_owned(), journey: 0, step: 0, fault: None }],
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
        let hands = floor.take_hands(index, way);
        floor.begin(index, &hands, way, Duration::ZERO)
    }

    fn all(outcome: Outcome) -> InFlight {
        InFlight { wired: outcome, to_bot: outcome }
    }

    fn end(floor: &mut Floor, index: u32) -> Option<u32> {
        let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
        floor.end(index, Hands::default(), &ended)
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
        assert!(begin(&mut floor, 1).is_err());
        assert_eq!(end(&mut floor, 0), Some(2));
        assert_eq!(begin(&mut floor, 2), Ok(()));
        assert_eq!(floor.counts.open_peak, 1);
    }

    #[test]
    fn connections_that_only_a_slow_system_holds_are_its_doing_and_those_of_a_large_crowd_the_rigs() {
        let crowded = Outcome::RigFault(RigFault::TooManyOpenFiles);
        for (connections, first, outcome) in [
            // The first act's player comes again and keeps the connection; the second's does not.
            (Connections::Player, 0, crowded),
            (Connections::Player, 1, Outcome::Abandoned),
            (Connections::Shared, 0, Outcome::Abandoned),
            (Connections::Fresh, 0, Outcome::Abandoned),
        ] {
            let mut floor = floor_by(Rules { pace: Pace::Planned, connections, most_open: 1 });
            while floor.take_due(Duration::ZERO).is_some() {}
            assert_eq!(begin(&mut floor, first), Ok(()));
            assert_eq!(begin(&mut floor, 1 - first), Err(outcome), "{connections:?}");
            let held_back = u64::from(outcome == crowded);
            assert_eq!((floor.counts.held_back, floor.counts.capped), (held_back, 1 - held_back));
        }
    }

    #[test]
    fn an_act_towards_the_bot_needs_no_connection_and_frees_none() {
        let mut floor = floor(1);
        while floor.take_due(Duration::ZERO).is_some() {}
        assert_eq!(begin(&mut floor, 0), Ok(()));
        assert_eq!(begin_by(&mut floor, 1, Way::Bot), Ok(()));
        assert_eq!(end(&mut floor, 1), None);
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
