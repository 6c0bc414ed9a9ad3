//! The observer: ten rows a second of what the kernel says, and at the end what the probe has found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Event, EventKind, Observations, Row, Stack, Stall, Vital};

use super::connects::Connects;
use super::cpu;
use super::heartbeat::{Standing, Watch};
use super::listen::ListenQueues;
use super::named;
use super::netstat::NetStat;
use super::outbound::OutboundWatch;
use super::outside;
use super::own::OwnUse;
use super::own_connects::OwnConnects;
use super::probe::Probe;
use super::processes::{Processes, Whose};
use super::services::Services;
use super::steady::Steady;
use super::subject::Subject;
use crate::system::Clock;

/// Ten rows a second.
const PERIOD: Duration = Duration::from_millis(100);

/// How often the system is asked, and connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Nothing else sees stalls, or it is ordered: twenty of each a second are 2 % of a core for a small server, and a
    /// stall is known to 50 ms.
    Alone,
    /// A heartbeat sees them better, and outside it is told only what it is like there.
    Beside,
}

impl Pace {
    fn period(self) -> Duration {
        match self {
            Self::Alone => Duration::from_millis(50),
            Self::Beside => Duration::from_millis(500),
        }
    }
}

/// An observation under way.
#[derive(Debug)]
pub struct Observer {
    stop: SyncSender<()>,
    thread: JoinHandle<Last>,
    probe: Option<Probe>,
    connects: Option<Connects>,
    heartbeat: Standing,
    black_box: String,
    bare_connects: String,
    proc: String,
    remark: Option<String>,
    listen_queue: String,
    connections: Option<OutboundWatch>,
    outbound: String,
    clock: Clock,
    subject: Subject,
}

/// What an observation found, beyond its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// The stalls seen from outside, in order; those from inside are rows already.
    pub stalls: Vec<Stall>,
    /// The probe's longest delay, a stall or not; nothing: it had no answer.
    pub longest_delay: Option<Duration>,
    /// The longest time in which a connection of the rig was not accepted, a stall or not; nothing: none was made.
    pub longest_accept: Option<Duration>,
    /// The system's memory at the end, shared pages divided among those that share them.
    pub pss_bytes: Option<u64>,
    /// Rows that were dropped because the queue to the recorder was full.
    pub dropped: u64,
    /// What looking at the system's processes has cost the rig.
    pub tree_cpu: Duration,
    /// The loops that serve at the end and are not seen from inside, in words, where all were at the start.
    pub unseen: Option<String>,
}

/// What the observer's own thread leaves.
#[derive(Debug)]
struct Last {
    dropped: u64,
    pss_bytes: Option<u64>,
    tree_cpu: Duration,
}

/// An observation in words.
fn standing<T>(observation: &Result<T, String>) -> String {
    match observation {
        Ok(_) => "active".to_owned(),
        Err(why) => format!("inactive: {why}"),
    }
}

impl Observer {
    /// Starts observing a system that is ready. Its threads inherit the caller's cores.
    pub fn start(subject: Subject, epoch: Instant, rows: SyncSender<Row>) -> Self {
        let clock = Clock::new(epoch);
        let heartbeat = subject.heartbeat(clock);
        let pace = if heartbeat.is_active() && !subject.often { Pace::Beside } else { Pace::Alone };
        let period = pace.period();
        let (steady, own_connects) = (Steady { from: clock.now(), period }, Arc::new(OwnConnects::default()));
        let probe = subject.probe(steady, clock, &own_connects);
        let connects = subject.connects(steady, clock, &own_connects);
        let heartbeat = heartbeat.beside(probe.is_ok());
        let queue = subject.listen_queue();
        let tree = subject.tree();
        let connections = subject.connections(clock, &rows);
        let (black_box, bare_connects) = (black_box(&probe, pace), bare_connects(&connects, pace));
        let (listen_queue, proc, outbound) = (standing(&queue), standing(&tree), standing(&connections));
        let remark = subject.remark();
        let (probe, bare, queue) = (probe.ok(), connects.ok(), queue.ok());
        let (stop, stopped) = sync_channel(1);
        let gauge = probe.as_ref().map(|probe| Arc::clone(&probe.gauge));
        let (kept, door) = (subject.clone(), subject.door());
        let own = OwnUse::of(&subject.rig_cores, &subject.seen_cores, subject.threads);
        let mut observing = Observing {
            clock,
            from: steady.from,
            processes: Processes::new(Whose { tree: tree.ok(), command: subject.command }, subject.system_cores),
            services: Services::new(&subject.services, &subject.rig_cores),
            // On another machine its kernel counts, not this one.
            network: queue.as_ref().and_then(|_| NetStat::start()),
            queue,
            gauge,
            accept_gauge: bare.as_ref().map(|connects| Arc::clone(&connects.gauge)),
            own_connects,
            loops: subject.heartbeat.ok().map(|folder| Watch::new(folder.pages(), door, clock)),
            own,
            rows,
            dropped: 0,
            tree_cpu: Duration::ZERO,
        };
        let thread = named("observer", move || observing.until_stopped(&stopped));
        let connections = connections.ok();
        Self {
            stop,
            thread,
            probe,
            connects: bare,
            heartbeat,
            black_box,
            bare_connects,
            proc,
            remark,
            listen_queue,
            connections,
            outbound,
            clock,
            subject: kept,
        }
    }

    /// Says what is watched here, and why not where it is not.
    pub fn describe(&self, to: &mut Observations) {
        to.heartbeat = self.heartbeat.to_string();
        to.black_box.clone_from(&self.black_box);
        to.bare_connects.clone_from(&self.bare_connects);
        to.proc = self.remark.as_ref().map_or_else(|| self.proc.clone(), |remark| format!("{}: {remark}", self.proc));
        to.listen_queue.clone_from(&self.listen_queue);
        to.outbound.clone_from(&self.outbound);
    }

    /// Why what is watched may not be the system.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Ends the observation; to be called while the system still runs, or after it has died.
    pub fn finish(self) -> Observed {
        let unseen = if self.heartbeat.is_active() { self.subject.unseen(self.clock) } else { None };
        drop(self.stop);
        let requests = self.probe.map(Probe::finish).unwrap_or_default();
        let connects = self.connects.map(Connects::finish).unwrap_or_default();
        let Last { dropped, pss_bytes, tree_cpu } = self.thread.join().expect("the observer never panics");
        let dropped = dropped + self.connections.map_or(0, OutboundWatch::finish);
        Observed {
            stalls: outside::stalls(&requests, &connects),
            longest_delay: requests.longest(),
            longest_accept: connects.longest(),
            pss_bytes,
            dropped,
            tree_cpu,
            unseen,
        }
    }
}

fn black_box(probe: &Result<Probe, String>, pace: Pace) -> String {
    let asked = match (probe, pace) {
        (Err(why), _) => return format!("inactive: {why}"),
        (Ok(_), Pace::Beside) => "active: asked twice a second, beside the heartbeat",
        (Ok(_), Pace::Alone) => "active: asked 20 times a second; under load a stall shorter than 200 ms may be missed",
    };
    match probe {
        Ok(Probe { sees_others: false, .. }) => {
            format!("{asked}; whether others are answered cannot be seen here, and a long queue may count as a stall")
        }
        Ok(_) | Err(_) => asked.to_owned(),
    }
}

fn bare_connects(connects: &Result<Connects, String>, pace: Pace) -> String {
    match (connects, pace) {
        (Err(why), _) => format!("inactive: {why}"),
        (Ok(_), Pace::Beside) => "active: made twice a second, beside the heartbeat".to_owned(),
        (Ok(_), Pace::Alone) => {
            // Measured: `scripts/bench outside`.
            "active: made 20 times a second, which takes about 1 % of a core of a small server".to_owned()
        }
    }
}

struct Observing {
    clock: Clock,
    /// An instant of its schedule, the same as of the probes'.
    from: Duration,
    processes: Processes,
    services: Services,
    queue: Option<ListenQueues>,
    network: Option<NetStat>,
    gauge: Option<Arc<AtomicU64>>,
    accept_gauge: Option<Arc<AtomicU64>>,
    own_connects: Arc<OwnConnects>,
    loops: Option<Watch>,
    own: OwnUse,
    rows: SyncSender<Row>,
    dropped: u64,
    tree_cpu: Duration,
}

impl Observing {
    fn until_stopped(&mut self, stop: &Receiver<()>) -> Last {
        let mut next = self.from;
        loop {
            // A tick that was missed is not made up for.
            while next <= self.clock.now() {
                next += PERIOD;
            }
            match stop.recv_timeout(next.saturating_sub(self.clock.now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return self.last(),
            }
            self.tick(self.clock.now());
        }
    }

    fn tick(&mut self, now: Duration) {
        let at_us = now.as_micros() as u64;
        let before = cpu::this_thread();
        let tick = self.processes.tick();
        self.tree_cpu += cpu::this_thread().saturating_sub(before);
        for text in tick.notes {
            self.send(Row::Event(Event { at_us, kind: EventKind::Note, text }));
        }
        let look = self.loops.as_mut().map(Watch::look).unwrap_or_default();
        self.send_stalls(look.stalls, look.stacks);
        let own = self.own.look(now);
        let services = self.services.tick();
        let queue = self.queue.as_ref().and_then(|queue| queue.look().ok().flatten());
        let taken = |gauge: &Arc<AtomicU64>| Some(gauge.swap(0, Ordering::Relaxed)).filter(|delay| *delay > 0);
        self.send(Row::Vital(Vital {
            pids: tick.pids,
            services,
            listen_queue: queue.map(|queue| queue.without(self.own_connects.waiting())),
            listen_backlog: queue.map(|queue| queue.all.backlog),
            listen_fullest: queue.and_then(|queue| queue.fullest_of_several()),
            network: self.network.as_ref().and_then(NetStat::so_far),
            probe_delay_us: self.gauge.as_ref().and_then(taken),
            accept_delay_us: self.accept_gauge.as_ref().and_then(taken),
            stalling_us: look.stalling.map(|stalling| stalling.as_micros() as u64),
            ..own
        }));
    }

    fn last(&mut self) -> Last {
        let look = self.loops.take().map(Watch::finish).unwrap_or_default();
        self.send_stalls(look.stalls, look.stacks);
        Last { dropped: self.dropped, pss_bytes: self.processes.pss_bytes(), tree_cpu: self.tree_cpu }
    }

    fn send_stalls(&mut self, stalls: Vec<Stall>, stacks: Vec<Stack>) {
        let (stalls, stacks) = (stalls.into_iter().map(Row::Stall), stacks.into_iter().map(Row::Stack));
        for row in stalls.chain(stacks) {
            self.send(row);
        }
    }

    /// Never waits for the recorder.
    fn send(&mut self, row: Row) {
        if self.rows.try_send(row).is_err() {
            self.dropped += 1;
        }
    }
}
