//! Where every player stands: who is busy, what each is due to do next, and the samples of what is done. It moves in
//! steps, each told the time, and waits for nothing.

use std::sync::Arc;
use std::time::Duration;

use floodrig_reports::recording::{Outcome, RigFault, Sample};

use crate::exchange::{Connection, Socket, Stage};
use crate::plan::{Arrival, Plan};
use crate::record::Intervals;
use crate::scenario::Connections;

use super::busy::Busy;
use super::course::Course;
use super::hands::{Hands, Room, Way};
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
    /// Acts abandoned because the rig itself came too late for them.
    pub(super) too_late: u64,
    /// The most connections that were open at once.
    pub(super) open_peak: u64,
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
    /// What their visits carry on, each until the visit ends.
    memories: Vec<(u32, Memory)>,
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
        let socket = player.sockets.iter().position(|(visit, _)| *visit == arrival.visit);
        let socket = socket.map(|at| player.sockets.swap_remove(at).1);
        let (connection, further) = match self.rules.connections {
            Connections::Player => (player.connection.take(), std::mem::take(&mut player.further)),
            Connections::Shared if way == Way::Wire => (self.idle.pop(), Vec::new()),
            Connections::Shared | Connections::Fresh => (None, Vec::new()),
        };
        let connections = u64::from(connection.is_some()) + further.len() as u64;
        let room = Room { connections, sockets: u64::from(socket.is_some()) };
        Hands { connection, further, socket, memory, room }
    }

    /// Gives an act that has begun room for `wanted` connections in all, or for as many of them as may still be open,
    /// and those that are idle among them.
    pub(super) fn widen(&mut self, player: u32, hands: &mut Hands, wanted: u64) {
        while hands.room.connections < wanted && self.rules.connections == Connections::Shared {
            let Some(idle) = self.idle.pop() else { break };
            hands.further.push(idle);
            hands.room.connections += 1;
        }
        let more = wanted.saturating_sub(hands.room.connections).min(self.rules.most_open.saturating_sub(self.open));
        self.grow(player, &mut hands.room, more);
    }

    /// Gives an act that has begun room for one connection more, if one more may be open.
    pub(super) fn one_more(&mut self, player: u32, room: &mut Room) -> bool {
        let fits = self.open < self.rules.most_open || self.close_idle();
        if fits {
            self.grow(player, room, 1);
        }
        fits
    }

    fn grow(&mut self, player: u32, room: &mut Room, more: u64) {
        room.connections += more;
        self.open(more);
        if let Some(busy) = &mut self.players[player as usize].busy {
            busy.room = *room;
        }
    }

    fn open(&mut self, more: u64) {
        self.open += more;
        self.counts.open_peak = self.counts.open_peak.max(self.open);
    }

    /// Begins an act at `now`, unless it needs one connection too many, or the rig itself has stood still: it makes no
    /// storm of what came due meanwhile.
    pub(super) fn begin(&mut self, index: u32, hands: &mut Hands, way: Way, now: Duration) -> Result<(), Outcome> {
        if self.lag(index, now) >= Sample::STOOD_STILL {
            self.counts.too_late += 1;
            return Err(Outcome::Abandoned);
        }
        let needed = hands.room.at_least(way.needs());
        let more = needed.all() - hands.room.all();
        if more > 0 {
            if self.open >= self.rules.most_open && !self.close_idle() {
                return Err(self.keep_back(now));
            }
            self.open(more);
            hands.room = needed;
        }
        let player = self.arrival(index).player;
        self.players[player as usize].busy =
            Some(Busy { started: Some(now), way, room: hands.room, ..Busy::waiting(index) });
        self.sink.begin();
        Ok(())
    }

    /// The rig's own lateness with an act that has not begun: a player that waits for the system is not free.
    fn lag(&self, index: u32, now: Duration) -> Duration {
        let arrival = self.arrival(index);
        let free = self.players[arrival.player as usize].free;
        now.saturating_sub(self.rules.pace.due(self.load_from + arrival.at, free).max(free))
    }

    /// What becomes of an act that finds no connection left to open, and whose doing it is. If there would be none left
    /// had every act that has come due ended at once, the crowd is larger than the rig can hold, and the fault is the
    /// rig's. If there would be, connections are held by a system that does not answer: that is data.
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

    /// Makes room by closing a connection that nobody uses.
    fn close_idle(&mut self) -> bool {
        let closed = self.idle.pop().is_some();
        self.open -= u64::from(closed);
        closed
    }

    /// Connections that would still be open had the system answered everything that has come due: those of players and
    /// visits that have something left which is due only later.
    fn would_be_open(&self) -> u64 {
        (0..).zip(&self.players).map(|(index, player)| self.would_hold(index, player)).sum()
    }

    fn would_hold(&self, index: u32, player: &Standing) -> u64 {
        let begun = player.busy.filter(|busy| busy.started.is_some());
        let goes_on = |visit| u64::from(self.course.goes_on(visit, self.cursor));
        let of_act = begun.map_or(0, |busy| busy.room.sockets * goes_on(self.arrival(busy.arrival).visit));
        let sockets = of_act + player.sockets.iter().map(|(visit, _)| goes_on(*visit)).sum::<u64>();
        match self.rules.connections {
            Connections::Player if self.course.comes_again(index, self.cursor) => {
                let resting = u64::from(player.connection.is_some()) + player.further.len() as u64;
                sockets + begun.map_or(0, |busy| busy.room.connections) + resting
            }
            // Nobody waits for them: the first act that ends hands its connection on, or closes it.
            Connections::Player | Connections::Shared | Connections::Fresh => sockets,
        }
    }

    /// A player's exchange has come so far.
    pub(super) fn come_to(&mut self, player: u32, stage: Stage) {
        if let Some(busy) = &mut self.players[player as usize].busy {
            busy.come_to(stage);
        }
    }

    /// A try of an act in flight has ended so, and its player waits for the next.
    pub(super) fn pause(&mut self, index: u32, last: &Ended) {
        if let Some(busy) = self.busy_at(index) {
            busy.pause(last);
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
        // One that was never begun has kept its player from nothing.
        if begun || again {
            player.free = ended.at;
        }
        if !self.course.ends_visit(index) && !hands.memory.is_empty() {
            player.memories.push((arrival.visit, hands.memory));
        }
        let next = following.filter(|next| *next < self.cursor);
        player.busy = next.map(Busy::waiting);
        let socket = hands.socket.filter(|_| !self.course.ends_visit(index));
        let talks = u64::from(socket.is_some());
        player.sockets.extend(socket.map(|socket| (arrival.visit, socket)));
        let kept = talks + self.keep(arrival.player, hands.connection, hands.further, following.is_some());
        self.open -= hands.room.all().saturating_sub(kept);
        if begun {
            self.let_go(ended);
        }
        self.sink.record(&sample);
        if again {
            self.planned += 1;
            self.sink.offer(arrival.act, ended.at);
        }
        next
    }

    /// An act that had begun is in flight no more.
    fn let_go(&mut self, ended: &Ended) {
        // Nobody listens once what served a connection that was open before has died.
        let again = ended.outcome == Outcome::Refused && ended.tries > 1;
        if again || matches!(ended.outcome, Outcome::Closed | Outcome::Reset) {
            self.sink.cut_off(ended.at);
        } else {
            self.sink.end();
        }
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
        let busy = player.busy.filter(|busy| busy.arrival == index);
        let started = busy.and_then(|busy| busy.started);
        Sample {
            act: arrival.act,
            player: arrival.player,
            scheduled: self.rules.pace.due(self.load_from + arrival.at, player.free),
            free: player.free,
            started: started.unwrap_or(ended.at),
            ended: ended.at,
            outcome: ended.outcome,
            tries: ended.tries,
            late_connect: busy.is_some_and(|busy| busy.late_connect),
        }
    }
}

#[cfg(test)]
mod tests;
