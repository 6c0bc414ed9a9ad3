//! The watcher: a thread that hears the keeper and notices the system's death at once, behind a wrapper too.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Event, EventKind, Row};

use super::clock::Clock;
use super::death::{Cause, Death};
use super::in_flight::{Lately, Moment};
use super::servers::Servers;
use crate::keeper::{Exit, Heard, Report, Reports};
use crate::stop::Stop;

/// How often the acts in flight are noted: five times in the window of a death, since a turn costs some 45 us.
const NOTE_EVERY: Duration = Duration::from_millis(20);

/// What the watcher is given by the run.
#[derive(Debug, Clone)]
pub struct Watch {
    /// The run's epoch.
    pub epoch: Instant,
    /// Where the event of the death goes.
    pub rows: SyncSender<Row>,
    /// Acts in flight, kept by whoever drives.
    pub in_flight: Arc<AtomicU64>,
    /// The name of the service that is watched; nothing: the system itself.
    pub service: Option<String>,
    /// Whether somebody ends the run, and where the rig's own failure is told.
    pub stop: Stop,
}

/// What is known of the system's end.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Who serves, on the way from whoever waited for readiness to the watcher.
    pub(super) servers: Option<Servers>,
    /// It died by itself.
    pub(super) death: Option<Death>,
    /// The processes of it that have served until then.
    pub(super) served: Vec<u32>,
    /// When the rig ordered it to stop.
    pub(super) stop_ordered: Option<Duration>,
    /// How it ended after that, and when.
    pub(super) stopped: Option<(Exit, Duration)>,
    /// When, since that order, the last process of its tree ended.
    pub(super) last_ended: Option<Duration>,
    /// And the last of those that SIGKILL ended.
    pub(super) last_killed: Option<Duration>,
    /// Nothing of its tree is left, or the keeper has given up.
    pub(super) gone: bool,
    /// When nothing of its tree was left.
    pub(super) gone_at: Option<Duration>,
    /// Processes that SIGKILL did not end.
    pub(super) left: Vec<u32>,
    /// Events that found no room in the recorder's queue.
    pub(super) dropped: u64,
}

/// The end, shared between the watcher and whoever waits for it.
#[derive(Debug, Default)]
pub(super) struct Known {
    end: Mutex<End>,
    changed: Condvar,
}

impl Known {
    /// What is known now.
    pub(super) fn look(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the whole tree is gone, for no longer than `within`.
    pub(super) fn wait_gone(&self, within: Duration) {
        // Whoever panicked with it in hand has left it as it was.
        let _waited = self.changed.wait_timeout_while(self.look(), within, |end| !end.gone);
    }

    /// Any process of the tree, the command or not, that ended after the order to stop.
    fn note_of_stop(&self, how: Exit, at: Duration) {
        let mut end = self.look();
        if end.stop_ordered.is_some_and(|ordered| ordered <= at) {
            end.last_ended = Some(at);
            end.last_killed = if how == Exit::Signal(9) { Some(at) } else { end.last_killed };
        }
    }

    fn change(&self, how: impl FnOnce(&mut End)) {
        how(&mut self.look());
        self.changed.notify_all();
    }
}

/// Hears the keeper until nothing of the system is left.
pub(super) fn hear(mut reports: Reports, watch: &Watch, known: &Known) {
    let clock = Clock::new(watch.epoch);
    let mut lately = Lately::default();
    let mut servers = None;
    let mut unsent = None;
    loop {
        servers = known.look().servers.take().or(servers);
        note(watch, clock, &mut lately, servers.as_mut());
        reports.wait(NOTE_EVERY, servers.as_ref().map(Servers::handles).unwrap_or_default());
        match reports.next(Duration::ZERO) {
            Heard::Report(Report::Ended { how, at_ns, orphan, .. }) => {
                let at = clock.of_monotonic_ns(at_ns);
                known.note_of_stop(how, at);
                if orphan {
                    continue;
                }
                let death = ended(known, how, lately.moment(at), servers.as_ref());
                unsent = death.map(|death| watch.event(death)).or(unsent);
            }
            Heard::Report(Report::Left { pids }) => known.change(|end| (end.gone, end.left) = (true, pids)),
            Heard::Report(Report::Empty {}) => known.change(|end| (end.gone, end.gone_at) = (true, Some(clock.now()))),
            Heard::Lost => {
                let lost = keeper_lost(known, lately.moment(clock.now())).map(|death| watch.event(death));
                reports.clear_up();
                send_at_last(watch, unsent.into_iter().chain(lost), known);
                return;
            }
            Heard::Nothing | Heard::Report(Report::Spawned { .. } | Report::Failed(_)) => {}
        }
        send(&watch.rows, &mut unsent);
    }
}

/// Notes what is in flight. What was read after the last of those who serve had ended says nothing of its end, however
/// late it comes to this thread: so the end is looked for first.
fn note(watch: &Watch, clock: Clock, lately: &mut Lately, servers: Option<&mut Servers>) {
    let (now, in_flight) = (clock.now(), watch.in_flight.load(Ordering::Relaxed));
    if let Some(servers) = servers {
        servers.note_ended(lately.moment(now));
        servers.look(|| clock.now());
    }
    lately.note(now, in_flight);
}

/// The command has ended, and with it the system, perhaps some time ago.
fn ended(known: &Known, how: Exit, command: Moment, servers: Option<&Servers>) -> Option<Death> {
    let mut died = None;
    known.change(|end| {
        // What makes a death or a stop of it is when the command ended: until then somebody may have served again.
        if end.stop_ordered.is_some_and(|ordered| ordered <= command.at) {
            end.stopped = Some((how, command.at));
        } else {
            let Moment { at, in_flight } = servers.map_or(command, |servers| servers.died(command));
            died = Some(Death { at, cause: Cause::Ended(how), in_flight });
            end.death = died;
            end.served = servers.map(|servers| servers.pids().to_vec()).unwrap_or_default();
        }
    });
    died
}

fn keeper_lost(known: &Known, Moment { at, in_flight }: Moment) -> Option<Death> {
    let mut died = None;
    known.change(|end| {
        let unexplained = !end.gone && end.death.is_none() && end.stop_ordered.is_none();
        died = unexplained.then_some(Death { at, cause: Cause::KeeperLost, in_flight });
        end.death = end.death.or(died);
        end.gone = true;
    });
    died
}

impl Watch {
    /// The death of a service is a note: what it does to the system is what is measured.
    fn event(&self, Death { at, cause, in_flight }: Death) -> Row {
        let (kind, text) = match &self.service {
            None => (EventKind::Died, format!("the system {cause}, {in_flight} in flight")),
            Some(name) => (EventKind::Note, format!("the service `{name}` {cause}, {in_flight} in flight")),
        };
        Row::Event(Event { at_us: at.as_micros() as u64, kind, text })
    }
}

/// A full queue is tried again on the next turn; nobody listening any more is the end of a run.
fn send(rows: &SyncSender<Row>, unsent: &mut Option<Row>) {
    let Some(row) = unsent.take() else { return };
    match rows.try_send(row) {
        Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        Err(TrySendError::Full(row)) => *unsent = Some(row),
    }
}

/// How long the last rows wait for room in the queue: far longer than a disk takes to write it out.
const AT_LAST: Duration = Duration::from_secs(5);

/// There is no next turn, so each waits for room; what finds none is counted.
fn send_at_last(watch: &Watch, unsent: impl Iterator<Item = Row>, known: &Known) {
    let clock = Clock::new(watch.epoch);
    let until = clock.now() + AT_LAST;
    for row in unsent {
        let mut unsent = Some(row);
        send(&watch.rows, &mut unsent);
        while unsent.is_some() && clock.now() < until {
            std::thread::sleep(NOTE_EVERY);
            send(&watch.rows, &mut unsent);
        }
        if unsent.is_some() {
            known.change(|end| end.dropped += 1);
        }
    }
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
        let watch =
            Watch { epoch: Instant::now(), rows, in_flight: Arc::default(), service: None, stop: Stop::default() };
        let death = || watch.event(Death { at: Duration::ZERO, cause: Cause::KeeperLost, in_flight: 3 });
        watch.rows.send(death()).unwrap();
        let known = Known::default();
        thread::scope(|scope| {
            scope.spawn(|| send_at_last(&watch, [death(), death()].into_iter(), &known));
            for _ in 0..3 {
                assert!(queue.recv_timeout(AT_LAST).is_ok());
            }
        });
        assert_eq!(known.look().dropped, 0);
    }
}
