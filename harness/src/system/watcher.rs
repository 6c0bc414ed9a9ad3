//! The watcher: a thread that hears the keeper and notices the system's death at once, behind a wrapper too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Event, EventKind, Row};

use super::clock::Clock;
use super::death::{Cause, Death};
use super::doubt::{Doubt, Found};
use super::in_flight::{Lately, Moment};
use super::keeper_lost::KeeperLost;
use super::known::Known;
use super::main_process::MainProcess;
use super::servers::{Servers, Sought};
use crate::keeper::{Exit, Heard, Report, Reports, descendants};
use crate::record::InFlight;
use crate::redirect::Lookout;
use crate::stop::{Cut, Stop};

/// How often the acts in flight are noted: a turn costs some 45 us.
pub(super) const NOTE_EVERY: Duration = Duration::from_millis(20);

/// What the watcher is given by the run.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The run's epoch.
    pub epoch: Instant,
    /// Where the event of the death goes.
    pub rows: SyncSender<Row>,
    /// Acts in flight, kept by whoever drives.
    pub in_flight: Arc<InFlight>,
    /// The name of the service that is watched; nothing: the system itself.
    pub service: Option<String>,
    /// Whether somebody ends the run, and where the rig's own failure is told.
    pub stop: Stop,
    /// Stops it when it calls the real Telegram.
    pub lookout: Lookout,
}

/// Hears the keeper until nothing of the system is left.
pub(super) fn hear(reports: Reports, watch: &Watch, known: &Known, sought: Sought) {
    let mut watcher = Watcher {
        watch,
        known,
        sought,
        clock: Clock::new(watch.epoch),
        reports,
        lately: Lately::default(),
        servers: None,
        main: MainProcess::Command,
        told_by: None,
        doubt: None,
        unsent: VecDeque::new(),
    };
    while watcher.turn() {}
    watcher.leave();
}

struct Watcher<'a> {
    watch: &'a Watch,
    known: &'a Known,
    sought: Sought,
    clock: Clock,
    reports: Reports,
    lately: Lately,
    servers: Option<Servers>,
    main: MainProcess,
    /// The signal by which somebody else told the keeper to end.
    told_by: Option<i32>,
    doubt: Option<Doubt>,
    unsent: VecDeque<Row>,
}

impl Watcher<'_> {
    /// Until there is something to hear, for a moment at most; false once the keeper is gone.
    fn turn(&mut self) -> bool {
        self.meet_servers();
        self.note();
        self.reports.wait(NOTE_EVERY, self.servers.as_ref().map(Servers::handles).unwrap_or_default());
        let heard = self.reports.next(Duration::ZERO);
        let goes_on = heard != Heard::Lost;
        match heard {
            Heard::Report(Report::Ended { pid, how, at_ns, orphan }) => {
                self.ended(pid, how, self.clock.of_monotonic_ns(at_ns), orphan);
            }
            Heard::Report(Report::Told { signal }) => {
                self.keeper_lost();
                self.told_by = Some(signal);
            }
            Heard::Report(Report::Left { pids }) => self.known.change(|end| (end.gone, end.left) = (true, pids)),
            Heard::Report(Report::Empty {}) => self.nobody_left(),
            Heard::Lost => self.keeper_lost(),
            Heard::Nothing | Heard::Report(Report::Spawned { .. } | Report::Failed(_)) => {}
        }
        self.resolve();
        send(&self.watch.rows, &mut self.unsent);
        goes_on
    }

    /// The keeper is gone: what it may have left is ended, and what was found is told.
    fn leave(mut self) {
        self.known.change(|end| end.gone = true);
        self.reports.clear_up();
        while self.doubt.is_some() {
            std::thread::sleep(NOTE_EVERY);
            self.resolve();
        }
        send_at_last(self.watch, self.unsent, self.known);
    }

    /// Whoever waited for readiness has found who serves, or the system has put somebody into its place.
    fn meet_servers(&mut self) {
        self.servers = self.known.look().servers.take().or(self.servers.take());
        let is_served = self.servers.as_ref().is_some_and(|servers| !servers.handles().is_empty());
        if is_served && matches!(self.main, MainProcess::Open { .. }) {
            self.follow_successor();
        }
    }

    /// Notes what is in flight. What was read after the last of those who serve had ended says nothing of its end,
    /// however late it comes to this thread: so the end is looked for first.
    fn note(&mut self) {
        let (now, in_flight) = (self.clock.now(), self.watch.in_flight.now());
        if let Some(servers) = &mut self.servers {
            servers.note_ended(self.lately.moment(now));
            servers.look(|| self.clock.now());
        }
        self.lately.note(now, in_flight);
    }

    fn ended(&mut self, pid: u32, how: Exit, at: Duration, orphan: bool) {
        self.known.note_of_stop(how, at);
        if let MainProcess::Open { .. } = self.main {
            self.main = MainProcess::Open { how, at };
        }
        if !self.main.ends_with(pid, orphan) {
            return;
        }
        // What makes a death or a stop of it is when it ended: until then somebody may have served again.
        if self.is_ordered_by(at) {
            self.known.change(|end| end.stopped = Some((how, at)));
        } else if how != Exit::Code(0) || !self.leaves_somebody(at) {
            self.died(how, at);
        }
    }

    fn is_ordered_by(&self, at: Duration) -> bool {
        let ordered = self.known.look().stop_ordered.is_some_and(|ordered| ordered <= at);
        ordered || self.told_by.is_some() || self.watch.stop.interrupted_at().is_some()
    }

    /// Whether a process of a command that has ended with 0 serves on, or may yet come to serve.
    fn leaves_somebody(&mut self, at: Duration) -> bool {
        // They may have been found since the last turn.
        self.meet_servers();
        if self.servers.is_some() {
            return self.follow_successor();
        }
        let (tree, how) = (descendants(self.reports.root()), Exit::Code(0));
        if !tree.is_empty() {
            self.main = MainProcess::Open { how, at };
            self.known.change(|end| end.command_left = true);
        }
        !tree.is_empty()
    }

    /// From now on the system's end is that of whoever serves, if anybody does.
    fn follow_successor(&mut self) -> bool {
        let Some(successor) = self.sought.successor() else { return false };
        self.main = MainProcess::Successor(successor.branch);
        let text = format!(
            "the command of {} ended with 0, and what it left behind serves on: {successor}, watched and stopped in its place",
            self.watch.whose()
        );
        let at_us = self.clock.now().as_micros() as u64;
        self.unsent.push_back(Row::Event(Event { at_us, kind: EventKind::Note, text: text.clone() }));
        self.known.change(|end| end.successor = Some(text));
        true
    }

    /// The command has ended, or whoever served after it, and with it the system, perhaps some time ago.
    fn died(&mut self, how: Exit, at: Duration) {
        let command = self.lately.moment(at);
        let Moment { at, in_flight } = self.servers.as_ref().map_or(command, |servers| servers.died(command));
        let survivor = self.survivor();
        let served = self.servers.as_ref().map(|servers| servers.pids().to_vec()).unwrap_or_default();
        self.known.change(|end| {
            end.ended_at = Some(at);
            end.served = served;
            end.survivor = survivor;
        });
        self.doubt(Found::Died(Death { at, cause: Cause(how), in_flight }));
    }

    /// Who serves although the system has died, in words.
    fn survivor(&self) -> Option<String> {
        self.sought.successor().map(|other| format!("and {other}, stopped by the rig"))
    }

    fn nobody_left(&mut self) {
        if let MainProcess::Open { how, at } = self.main
            && !self.is_ordered_by(at)
        {
            self.died(how, at);
        }
        let now = self.clock.now();
        self.known.change(|end| (end.gone, end.gone_at) = (true, Some(now)));
    }

    fn keeper_lost(&mut self) {
        let is_explained = {
            let end = self.known.look();
            end.gone || end.ended_at.is_some() || end.stop_ordered.is_some() || self.told_by.is_some()
        };
        if !is_explained {
            self.doubt(Found::KeeperLost);
        }
    }

    fn doubt(&mut self, found: Found) {
        self.doubt = Some(Doubt::new(found, self.clock.now()));
    }

    /// Calls what was found by its name, once that is known.
    fn resolve(&mut self) {
        let (now, interrupted) = (self.clock.now(), self.watch.stop.interrupted_at().is_some());
        let Some(doubt) = self.doubt.take_if(|doubt| interrupted || doubt.is_over(now)) else { return };
        match doubt.found {
            Found::Died(Death { at, cause, .. }) if interrupted => {
                self.known.change(|end| end.stopped = Some((cause.0, at)));
            }
            Found::KeeperLost if interrupted => {}
            Found::Died(death) => {
                // By now the driving thread has heard of the connections too.
                let in_flight = self.watch.in_flight.met_by(death.at).unwrap_or(death.in_flight);
                let death = Death { in_flight, ..death };
                self.unsent.push_back(self.watch.event(death));
                // A command may fail before its child has come to listen.
                let survivor = self.known.look().survivor.clone().or_else(|| self.survivor());
                self.known.change(|end| (end.death, end.survivor) = (Some(death), survivor));
            }
            Found::KeeperLost => self.fail(now),
        }
    }

    /// The rig has failed, and so has the run: what comes of it says nothing about the system.
    fn fail(&mut self, now: Duration) {
        let lost = KeeperLost { whose: self.watch.whose(), told_by: self.told_by }.to_string();
        let event = Event { at_us: now.as_micros() as u64, kind: EventKind::Note, text: lost.clone() };
        self.unsent.push_back(Row::Event(event));
        self.known.change(|end| end.fault = Some(lost.clone()));
        self.watch.stop.cut_short(Cut::RigFailed(lost));
    }
}

impl Watch {
    /// What is watched, in words.
    fn whose(&self) -> String {
        self.service.as_ref().map_or_else(|| "the system".to_owned(), |name| format!("the service `{name}`"))
    }

    /// The death of a service is an event of its own: what it does to the system is what is measured.
    fn event(&self, Death { at, cause, in_flight }: Death) -> Row {
        let kind = if self.service.is_none() { EventKind::Died } else { EventKind::ServiceDied };
        let text = format!("{} {cause}, {in_flight} in flight", self.whose());
        Row::Event(Event { at_us: at.as_micros() as u64, kind, text })
    }
}

/// A full queue is tried again on the next turn; nobody listening any more is the end of a run.
fn send(rows: &SyncSender<Row>, unsent: &mut VecDeque<Row>) {
    while let Some(row) = unsent.pop_front() {
        if let Err(TrySendError::Full(row)) = rows.try_send(row) {
            return unsent.push_front(row);
        }
    }
}

/// How long the last rows wait for room in the queue: far longer than a disk takes to write it out.
const AT_LAST: Duration = Duration::from_secs(5);

/// There is no next turn, so they wait for room; what finds none is counted.
fn send_at_last(watch: &Watch, mut unsent: VecDeque<Row>, known: &Known) {
    let clock = Clock::new(watch.epoch);
    let until = clock.now() + AT_LAST;
    send(&watch.rows, &mut unsent);
    while !unsent.is_empty() && clock.now() < until {
        std::thread::sleep(NOTE_EVERY);
        send(&watch.rows, &mut unsent);
    }
    known.change(|end| end.dropped += unsent.len() as u64);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a watch needs an epoch")]
    fn the_event_of_a_death_waits_for_room_in_a_full_queue() {
        let (rows, queue) = sync_channel(1);
        let watch = Watch {
            epoch: Instant::now(),
            rows,
            in_flight: Arc::default(),
            service: None,
            stop: Stop::default(),
            lookout: Lookout::default(),
        };
        let death = || watch.event(Death { at: Duration::ZERO, cause: Cause(Exit::Code(1)), in_flight: 3 });
        watch.rows.send(death()).unwrap();
        let known = Known::default();
        thread::scope(|scope| {
            scope.spawn(|| send_at_last(&watch, [death(), death()].into(), &known));
            for _ in 0..3 {
                assert!(queue.recv_timeout(AT_LAST).is_ok());
            }
        });
        assert_eq!(known.look().dropped, 0);
    }
}
