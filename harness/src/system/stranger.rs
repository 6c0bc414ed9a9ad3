//! A process that somebody else has started, watched until it ends: when that was, and what was in flight then.
//!
//! How it ended the kernel tells only its parent, so that nothing is said of it here.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::TrySendError;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use floodrig_reports::recording::{Event, EventKind, Row};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::clock::Clock;
use super::in_flight::{Lately, Moment};
use super::watcher::{NOTE_EVERY, Watch};
use crate::keeper::Identity;

/// A process under watch, from a thread of its own.
#[derive(Debug)]
pub(super) struct Stranger {
    process: Identity,
    ended: Arc<OnceLock<Moment>>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

/// What the thread holds.
struct Watching {
    process: Identity,
    handle: Option<OwnedFd>,
    watch: Watch,
    clock: Clock,
    ended: Arc<OnceLock<Moment>>,
    stop: Arc<AtomicBool>,
}

impl Stranger {
    /// Watches it from now on.
    pub(super) fn watch(process: Identity, watch: Watch) -> Self {
        let (ended, stop) = (Arc::new(OnceLock::new()), Arc::new(AtomicBool::new(false)));
        let clock = Clock::new(watch.epoch);
        let handle = process.handle();
        let watching = Watching { process, handle, watch, clock, ended: Arc::clone(&ended), stop: Arc::clone(&stop) };
        let thread = thread::Builder::new().name("watcher".to_owned()).spawn(move || watching.until_stopped());
        let thread = thread.expect("the kernel has a thread for every system");
        Self { process, ended, stop, thread }
    }

    /// Its id.
    pub(super) fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Whether it has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Watches it no longer: its end, if it has come to one, and how many events found no room in the recorder's queue.
    pub(super) fn leave(self) -> (Option<Moment>, u64) {
        self.stop.store(true, Ordering::Relaxed);
        let dropped = self.thread.join().expect("the watch on a process never panics");
        (self.ended.get().copied(), dropped)
    }
}

impl Watching {
    /// How many events were dropped.
    fn until_stopped(&self) -> u64 {
        let mut lately = Lately::default();
        loop {
            // Asked before the last look, so that whatever ended until then is seen.
            let stopped = self.stop.load(Ordering::Relaxed);
            let within = if stopped { Duration::ZERO } else { NOTE_EVERY };
            if self.ends_within(within) {
                let moment = lately.moment(self.clock.now());
                let _first = self.ended.set(moment);
                return self.tell(moment);
            }
            if stopped {
                return 0;
            }
            lately.note(self.clock.now(), self.watch.in_flight.now());
        }
    }

    /// Waits for its end, for no longer than this.
    fn ends_within(&self, within: Duration) -> bool {
        let Some(handle) = &self.handle else {
            // It has ended already, or this kernel gives no handles.
            thread::sleep(within);
            return Identity::of(self.process.pid) != Some(self.process);
        };
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(within.subsec_nanos()) };
        // A wait that a signal has cut short has seen nothing, and the next one comes at once.
        poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Tries again while the queue is full, for as long as the run goes on.
    fn tell(&self, Moment { at, in_flight }: Moment) -> u64 {
        let text = format!("process {}, which the rig did not start, ended, {in_flight} in flight", self.process.pid);
        let mut row = Row::Event(Event { at_us: at.as_micros() as u64, kind: EventKind::Died, text });
        loop {
            let stopped = self.stop.load(Ordering::Relaxed);
            row = match self.watch.rows.try_send(row) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return 0,
                Err(TrySendError::Full(_)) if stopped => return 1,
                Err(TrySendError::Full(row)) => row,
            };
            thread::sleep(NOTE_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::time::Instant;

    use super::*;
    use crate::record::InFlight;
    use crate::redirect::Lookout;
    use crate::stop::Stop;

    #[expect(clippy::disallowed_methods, reason = "a test stands in for `run`, which reads the epoch")]
    fn watched(in_flight: u64) -> (Child, Stranger, Receiver<Row>, Instant) {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let (rows, queue) = sync_channel(1);
        let (epoch, acts) = (Instant::now(), Arc::new(InFlight::default()));
        (0..in_flight).for_each(|_| acts.begin());
        let (stop, lookout) = (Stop::default(), Lookout::default());
        let watch = Watch { epoch, rows, in_flight: acts, service: None, stop, lookout };
        let stranger = Stranger::watch(Identity::of(child.id()).unwrap(), watch);
        (child, stranger, queue, epoch)
    }

    #[test]
    fn the_end_of_a_process_is_known_with_its_instant_and_what_was_in_flight_then() {
        let (mut child, stranger, queue, epoch) = watched(12);
        // Some notes of what is in flight have been taken by then.
        thread::sleep(3 * NOTE_EVERY);
        let killed = epoch.elapsed();
        child.kill().unwrap();
        let Row::Event(event) = queue.recv_timeout(Duration::from_secs(30)).unwrap() else { panic!("an event") };
        let heard = epoch.elapsed();
        assert!(stranger.is_gone());
        child.wait().unwrap();
        let (moment, dropped) = stranger.leave();
        let moment = moment.unwrap();
        assert_eq!((moment.in_flight, dropped, event.kind), (12, 0, EventKind::Died));
        assert!((killed..=heard).contains(&moment.at), "{moment:?}, killed at {killed:?}, heard of at {heard:?}");
        assert_eq!(event.at_us, moment.at.as_micros() as u64);
    }

    #[test]
    fn a_process_that_ended_right_before_it_is_left_has_ended_and_one_that_lives_has_not() {
        let (mut child, stranger, _queue, _) = watched(3);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(stranger.leave().0.is_some());
        let (mut child, stranger, queue, _) = watched(3);
        assert!(!stranger.is_gone());
        assert_eq!(stranger.leave(), (None, 0));
        assert!(queue.try_recv().is_err());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
