//! The system's own connections to others: how many there are to each port, and how many wait for an answer.
//!
//! A thread of its own asks the kernel five times a second, by port, so that ten thousand players cost it nothing.
//! Whose a socket is stands in `/proc/<pid>/fd` alone, at some 8 us a handle: that is read only when there is a
//! socket nobody knows yet, and so rarely that it stays below a hundredth of a core. Sockets of the Unix kind cannot
//! be seen, and an answer that takes less than a millisecond cannot be told from none.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use floodrig_reports::recording::{Outbound, Row, Towards};
use procfs::process::Process;

use crate::keeper::Tree;
use crate::sockets::{Diag, FAMILIES, Last, Question, Socket, State, States, held};
use crate::system::Clock;

/// How often connections are counted: a pool that is full for a fifth of a second makes nobody wait long.
const PERIOD: Duration = Duration::from_millis(200);
/// How often new ones are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Looking into the handles of all processes may take this share of the time: one part in so many.
const LOOK_SHARE: u32 = 100;
/// Remote ports counted; a question about one costs about a millisecond.
const PORTS: usize = 8;
/// Sent and received in one millisecond means that the next question followed an answer at once, or that an answer
/// came at once; after this long it was the latter.
const SAME_MS: u32 = 1000;

/// Counts the system's connections.
#[derive(Debug)]
pub(super) struct OutboundWatch {
    stop: SyncSender<()>,
    thread: JoinHandle<u64>,
}

/// What is watched.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    /// The system's processes.
    pub(super) tree: Tree,
    /// The ports on which it is served or listens itself; connections of those are not its own.
    pub(super) own_ports: Vec<u16>,
    /// What listens on a port, where the run knows.
    pub(super) names: BTreeMap<u16, String>,
}

impl OutboundWatch {
    /// Starts watching, unless the kernel does not answer.
    pub(super) fn start(watched: Watched, clock: Clock, rows: SyncSender<Row>) -> io::Result<Self> {
        let mut watching = Watching::new(watched)?;
        watching.discover(clock.now(), || clock.now())?;
        let (stop, stopped) = sync_channel(1);
        let thread = std::thread::Builder::new().name("connections".to_owned());
        let thread = thread.spawn(move || until_stopped(&mut watching, clock, &rows, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Ends it; how many rows were dropped.
    pub(super) fn finish(self) -> u64 {
        drop(self.stop);
        self.thread.join().expect("the watch on connections never panics")
    }
}

fn until_stopped(watching: &mut Watching, clock: Clock, rows: &SyncSender<Row>, stop: &Receiver<()>) -> u64 {
    let mut dropped = 0;
    loop {
        match stop.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return dropped,
        }
        let now = clock.now();
        // A kernel that answered at the start and does not now leaves a gap, which the chart shows as one.
        let counted = watching.discover(now, || clock.now()).and_then(|()| watching.count());
        let Ok(to) = counted else { continue };
        let row =
            Row::Outbound(Outbound { at_us: now.as_micros() as u64, to, uncounted_ports: watching.uncounted_ports() });
        dropped += u64::from(rows.try_send(row).is_err());
    }
}

#[derive(Debug)]
struct Watching {
    kernel: Diag,
    watched: Watched,
    /// By family (an index into [`FAMILIES`]) and remote port.
    ports: BTreeSet<(usize, u16)>,
    /// Those for which there was no room any more.
    uncounted: BTreeSet<(usize, u16)>,
    ours: BTreeSet<u32>,
    others: BTreeSet<u32>,
    look_at: Duration,
    search_at: Duration,
}

impl Watching {
    fn new(watched: Watched) -> io::Result<Self> {
        Ok(Self {
            kernel: Diag::open()?,
            watched,
            ports: BTreeSet::new(),
            uncounted: BTreeSet::new(),
            ours: BTreeSet::new(),
            others: BTreeSet::new(),
            look_at: Duration::ZERO,
            search_at: Duration::ZERO,
        })
    }

    /// Looks for connections that were not there before, when it is time to.
    fn discover(&mut self, now: Duration, after: impl Fn() -> Duration) -> io::Result<()> {
        if now < self.look_at {
            return Ok(());
        }
        self.look_at = now + LOOK_EVERY;
        let candidates = self.candidates()?;
        let alive: BTreeSet<u32> = candidates.iter().map(|(_, socket)| socket.inode).collect();
        self.ours.retain(|inode| alive.contains(inode));
        self.others.retain(|inode| alive.contains(inode));
        let is_known = |inode: &u32| self.ours.contains(inode) || self.others.contains(inode);
        if now >= self.search_at && !alive.iter().all(is_known) {
            let held = held_by(self.watched.tree);
            let took = after().saturating_sub(now);
            self.search_at = now + took * LOOK_SHARE;
            self.ours = alive.intersection(&held).copied().collect();
            self.others = alive.difference(&held).copied().collect();
        }
        let ours = candidates.iter().filter(|(_, socket)| self.ours.contains(&socket.inode));
        for (family, socket) in ours {
            let port = (*family, socket.remote_port);
            if self.ports.len() < PORTS {
                self.ports.insert(port);
            } else if !self.ports.contains(&port) {
                self.uncounted.insert(port);
            }
        }
        Ok(())
    }

    fn uncounted_ports(&self) -> u64 {
        self.uncounted.iter().map(|(_, port)| port).collect::<BTreeSet<_>>().len() as u64
    }

    /// Every established connection that may be one of the system to others.
    fn candidates(&self) -> io::Result<Vec<(usize, Socket)>> {
        let mut listening: BTreeSet<u16> = self.watched.own_ports.iter().copied().collect();
        let mut sockets = Vec::new();
        for (index, family) in FAMILIES.into_iter().enumerate() {
            let question = Question { family, states: States::Either, local_port: 0, remote_port: 0, times: false };
            let own = &self.watched.own_ports;
            self.kernel.ask(question, |socket| {
                if socket.state == State::Listening {
                    listening.insert(socket.local_port);
                } else if !own.contains(&socket.local_port) && !own.contains(&socket.remote_port) {
                    sockets.push((index, socket));
                }
            })?;
        }
        // An accepted connection has its listener's port.
        sockets.retain(|(_, socket)| !listening.contains(&socket.local_port));
        Ok(sockets)
    }

    fn count(&self) -> io::Result<Vec<Towards>> {
        let mut counts = BTreeMap::new();
        for (family, port) in &self.ports {
            let count: &mut Towards = counts.entry(*port).or_insert_with(|| Towards {
                port: *port,
                name: self.watched.names.get(port).cloned(),
                ..Towards::default()
            });
            let question = Question {
                family: FAMILIES[*family],
                states: States::Established,
                local_port: 0,
                remote_port: *port,
                times: true,
            };
            self.kernel.ask(question, |socket| {
                // One that came since the last look is most likely the system's: it has been seen to go there.
                if !self.others.contains(&socket.inode) {
                    count.established += 1;
                    count.waiting += u64::from(socket.last.is_some_and(waits));
                }
            })?;
        }
        Ok(counts.into_values().collect())
    }
}

/// A question is out and its answer has not come: nothing was received since something was sent.
fn waits(last: Last) -> bool {
    last.sent_ms < last.received_ms || (last.sent_ms == last.received_ms && last.sent_ms <= SAME_MS)
}

/// The sockets that these processes hold.
fn held_by(tree: Tree) -> BTreeSet<u32> {
    let processes = tree.processes().into_iter().filter_map(|identity| Process::new(identity.pid as i32).ok());
    processes.flat_map(|process| held(&process)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_question_without_an_answer_waits_and_an_answered_one_does_not() {
        let last = |sent_ms, received_ms| waits(Last { sent_ms, received_ms, has_sent: true, has_received: true });
        assert!(last(5, 6));
        assert!(!last(6, 5));
        assert!(last(0, 0), "the next question followed the answer within a millisecond");
        assert!(!last(SAME_MS + 1, SAME_MS + 1), "an answer within a millisecond, long ago");
    }

    #[test]
    fn connections_are_counted_by_port_with_those_that_wait() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut connections: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut accepted: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        for (connection, peer) in connections.iter_mut().zip(&mut accepted) {
            std::thread::sleep(Duration::from_millis(5));
            peer.write_all(b"hello").unwrap();
            connection.read_exact(&mut [0; 5]).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
        connections[0].write_all(b"question").unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let tree = Tree::From(std::process::id());
        let watched = Watched { tree, own_ports: Vec::new(), names: [(address.port(), "db".to_owned())].into() };
        let mut watching = Watching::new(watched).unwrap();
        watching.discover(Duration::ZERO, || Duration::ZERO).unwrap();
        let counted = watching.count().unwrap().into_iter().find(|to| to.port == address.port());
        let expected = Towards { port: address.port(), name: Some("db".to_owned()), established: 3, waiting: 1 };
        assert_eq!(counted, Some(expected));
    }

    #[test]
    fn a_port_beyond_those_that_are_counted_is_known_to_be_missing() {
        let mut watching = Watching::new(Watched {
            tree: Tree::From(std::process::id()),
            own_ports: Vec::new(),
            names: BTreeMap::new(),
        })
        .unwrap();
        let mut held = Vec::new();
        let mut connect_to_another = |watching: &mut Watching| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            held.push((listener.accept().unwrap(), connection, listener));
            let now = watching.look_at.max(watching.search_at);
            watching.discover(now, || now).unwrap();
        };
        // Other tests of this process may have connections of their own meanwhile.
        while watching.ports.len() < PORTS {
            connect_to_another(&mut watching);
        }
        let before = watching.uncounted_ports();
        connect_to_another(&mut watching);
        assert!(watching.uncounted_ports() > before);
        assert_eq!(watching.ports.len(), PORTS);
    }

    #[test]
    fn somebody_elses_connection_is_not_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let _connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let watched = Watched { tree: Tree::Below(std::process::id()), own_ports: Vec::new(), names: BTreeMap::new() };
        let mut watching = Watching::new(watched).unwrap();
        watching.discover(Duration::ZERO, || Duration::ZERO).unwrap();
        assert_eq!(watching.count().unwrap(), []);
    }
}
