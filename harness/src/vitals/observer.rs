//! The observer: ten rows a second of what the kernel says, and at the end what the probe has found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Event, EventKind, Observations, Row, Stall, Vital};

use super::listen::ListenQueue;
use super::own::OwnUse;
use super::probe::Probe;
use super::processes::Processes;
use crate::system::Clock;

/// What is said of observations that need somebody who listens.
const UNPROBED: &str = "inactive: the system is ready once its bot asks for updates, and need not listen anywhere";

/// Ten rows a second.
const PERIOD: Duration = Duration::from_millis(100);

/// What is observed.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The process below which all of the system lives.
    pub root: u32,
    /// Where the system listens.
    pub port: u16,
    /// Whether it is to listen there at all: a bot that only asks for its updates is not probed.
    pub listens: bool,
    /// What the probe asks for, the path of readiness or `/`; nothing: it does not speak as the system does.
    pub path: Option<String>,
    /// The cores that the system is to stay on.
    pub system_cores: Vec<u32>,
    /// The rig's own cores.
    pub rig_cores: Vec<u32>,
    /// The stub's threads, whose CPU time is told apart from the rig's.
    pub stub_threads: Vec<u32>,
}

/// An observation under way.
#[derive(Debug)]
pub struct Observer {
    stop: SyncSender<()>,
    thread: JoinHandle<u64>,
    probe: Option<Probe>,
    black_box: String,
    proc: String,
    listen_queue: String,
}

/// What an observation found, beyond its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// The stalls, in order.
    pub stalls: Vec<Stall>,
    /// The probe's longest delay, a stall or not; nothing: it had no answer.
    pub longest_delay: Option<Duration>,
    /// Rows that were dropped because the queue to the recorder was full.
    pub dropped: u64,
}

impl Observer {
    /// Starts observing a system that is ready. Its threads inherit the caller's cores.
    pub fn start(subject: Subject, epoch: Instant, rows: SyncSender<Row>) -> Self {
        let clock = Clock::new(epoch);
        let active = || "active".to_owned();
        let asked = subject.path.as_ref().filter(|_| subject.listens);
        let probe = asked.and_then(|path| Probe::start(subject.port, path, clock));
        let black_box = match (&probe, asked) {
            (Some(_), _) => active(),
            (None, Some(path)) => format!("inactive: no answer to GET {path} within 2 s"),
            (None, None) if subject.listens => {
                "inactive: the probe speaks plain HTTP/1.1, and the system does not".to_owned()
            }
            (None, None) => UNPROBED.to_owned(),
        };
        let queue = ListenQueue::of(subject.port).and_then(|queue| queue.depth().map(|_| queue));
        let queue = queue.map(|queue| subject.listens.then_some(queue));
        let listen_queue = match &queue {
            Ok(Some(_)) => active(),
            Ok(None) => UNPROBED.to_owned(),
            Err(cause) => format!("inactive: sock_diag said: {cause}"),
        };
        let processes = || Processes::new(subject.root, subject.system_cores.clone());
        let seen = !processes().tick().pids.is_empty();
        let proc = if seen { active() } else { "inactive: /proc shows no process of the system".to_owned() };
        let (stop, stopped) = sync_channel(1);
        let gauge = probe.as_ref().map(|probe| Arc::clone(&probe.gauge));
        let mut observing = Observing {
            clock,
            processes: processes(),
            queue: queue.ok().flatten(),
            gauge,
            own: OwnUse::new(subject.rig_cores, subject.stub_threads),
            rows,
            dropped: 0,
        };
        let thread = std::thread::spawn(move || observing.until_stopped(&stopped));
        Self { stop, thread, probe, black_box, proc, listen_queue }
    }

    /// Says what is watched here, and why not where it is not.
    pub fn describe(&self, to: &mut Observations) {
        to.black_box.clone_from(&self.black_box);
        to.proc.clone_from(&self.proc);
        to.listen_queue.clone_from(&self.listen_queue);
    }

    /// Ends the observation; to be called while the system still runs, or after it has died.
    pub fn finish(self) -> Observed {
        drop(self.stop);
        let delays = self.probe.map(Probe::finish).unwrap_or_default();
        let dropped = self.thread.join().expect("the observer never panics");
        Observed { stalls: delays.stalls(), longest_delay: delays.longest(), dropped }
    }
}

struct Observing {
    clock: Clock,
    processes: Processes,
    queue: Option<ListenQueue>,
    gauge: Option<Arc<AtomicU64>>,
    own: OwnUse,
    rows: SyncSender<Row>,
    dropped: u64,
}

impl Observing {
    /// Returns how many rows were dropped.
    fn until_stopped(&mut self, stop: &Receiver<()>) -> u64 {
        let mut next = self.clock.now() + PERIOD;
        loop {
            match stop.recv_timeout(next.saturating_sub(self.clock.now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.dropped,
            }
            let now = self.clock.now();
            // A tick that was missed is not made up for.
            while next <= now {
                next += PERIOD;
            }
            self.tick(now);
        }
    }

    fn tick(&mut self, now: Duration) {
        let at_us = now.as_micros() as u64;
        let tick = self.processes.tick();
        for text in tick.notes {
            self.send(Row::Event(Event { at_us, kind: EventKind::Note, text }));
        }
        let own = self.own.look(now);
        let delay = self.gauge.as_ref().map(|gauge| gauge.swap(0, Ordering::Relaxed));
        self.send(Row::Vital(Vital {
            pids: tick.pids,
            listen_queue: self.queue.as_ref().and_then(|queue| queue.depth().ok().flatten()),
            probe_delay_us: delay.filter(|delay| *delay > 0),
            ..own
        }));
    }

    /// Never waits for the recorder.
    fn send(&mut self, row: Row) {
        if self.rows.try_send(row).is_err() {
            self.dropped += 1;
        }
    }
}
