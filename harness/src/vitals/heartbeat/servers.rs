//! The loops that serve the system's port, or that call the stub where none need listen, each with whether it is seen.
//!
//! The kernel says which threads wait for connections or answers, and a page says which thread writes it; a page's own
//! word that its loop listens decides where the kernel's cannot be had. A worker of Node's cluster is handed its
//! connections by another process, and holds no listening socket; it is known by a variable that it was started with. A
//! listening socket that no epoll watches is asked by some thread without a loop, be it in `accept`, `poll` or `select`.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use procfs::process::Process;

use super::Folder;
use super::name::Name;
use super::page::{Page, State};
use super::process::{Pulse, Runtime, who};
use super::serving::{Waiter, waiters, watched};
use crate::system::port;

/// Node's `lib/internal/cluster/primary.js` sets it for each worker.
const CLUSTER_WORKER: &str = "NODE_UNIQUE_ID";

/// A process that holds a socket that counts.
struct Server {
    pid: u32,
    waiters: Vec<Waiter>,
    /// Whether it holds a listening socket that no loop watches.
    asks: bool,
    pages: Vec<Page>,
}

/// Of these processes, the loops that serve this port. `over`: nothing more will become known.
pub(super) fn pulses_of_servers(folder: &Folder, pids: &[u32], port: u16, over: bool) -> Vec<Pulse> {
    let listeners = port::open_to(port);
    let holding = port::holding(pids, &listeners);
    let asking = port::holding(&holding, &unwatched(&holding, &listeners));
    let server = |pid: &u32| Some(Server { asks: asking.contains(pid), ..Server::of(*pid, folder, &listeners)? });
    let servers: Vec<Server> = holding.iter().filter_map(server).collect();
    let known = servers.iter().any(Server::is_known);
    let serving = servers.iter().any(|server| server.serves(port));
    let mut pulses = Vec::new();
    // Whoever only holds the socket for others to wait on serves nobody.
    for server in servers.iter().filter(|server| server.serves(port) || !serving) {
        pulses.extend(server.pulses(folder, port, over && known));
    }
    let handed = pids.iter().filter(|pid| !holding.is_empty() && !holding.contains(pid) && is_cluster_worker(**pid));
    pulses.extend(handed.map(|pid| Pulse::of(*pid, folder)));
    // One process may have several threads of which the same is to be said.
    pulses.dedup();
    pulses
}

/// Of these processes, the loops that wait for the stub's answers, unless one of them is seen or none is known.
pub(super) fn pulses_of_callers(folder: &Folder, pids: &[u32], stub: u16, over: bool) -> Option<Vec<Pulse>> {
    let sockets = port::connected_to(stub);
    let calling = port::holding(pids, &sockets);
    let callers: Vec<Server> = calling.iter().filter_map(|pid| Server::of(*pid, folder, &sockets)).collect();
    let mut pulses: Vec<Pulse> = callers.iter().flat_map(|caller| caller.pulses_of_threads(folder)).collect();
    pulses.dedup();
    let busy = callers.iter().find(|caller| !caller.waiters.is_empty());
    match busy {
        Some(caller) if pulses.is_empty() && !over => Some(vec![caller.outside_of_its_loop(folder)]),
        Some(_) | None => (!pulses.is_empty() && pulses.iter().all(|pulse| pulse.beats().is_none())).then_some(pulses),
    }
}

/// The sockets among these that no epoll of these processes watches.
fn unwatched(pids: &[u32], listeners: &[u64]) -> Vec<u64> {
    let processes = pids.iter().filter_map(|pid| Process::new(*pid as i32).ok());
    let watched: Vec<u64> = processes.flat_map(|process| watched(&process)).collect();
    listeners.iter().copied().filter(|listener| !watched.contains(listener)).collect()
}

pub(super) fn is_cluster_worker(pid: u32) -> bool {
    let environ = Process::new(pid as i32).and_then(|process| process.environ());
    environ.is_ok_and(|all| all.contains_key(OsStr::new(CLUSTER_WORKER)))
}

/// The pages in this folder of the loops of this process.
pub(super) fn pages(folder: &Path, pid: u32) -> Vec<Page> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        entry.file_name().to_str().and_then(|name| name.parse::<Name>().ok()).is_some_and(|name| name.pid == pid)
    });
    named.filter_map(|entry| Page::parse(&fs::read(entry.path()).ok()?)).collect()
}

impl Server {
    fn of(pid: u32, folder: &Folder, sockets: &[u64]) -> Option<Self> {
        let process = Process::new(pid as i32).ok()?;
        Some(Self { pid, waiters: waiters(&process, sockets), asks: false, pages: pages(&folder.pages(), pid) })
    }

    /// Whether a thread of it is known to wait for connections.
    fn is_known(&self) -> bool {
        self.threads().next().is_some()
    }

    /// The threads that are known to wait.
    fn threads(&self) -> impl Iterator<Item = u32> {
        self.waiters.iter().filter_map(|waiter| waiter.thread())
    }

    fn pulses_of_threads(&self, folder: &Folder) -> Vec<Pulse> {
        self.threads().map(|thread| self.pulse(thread, folder)).collect()
    }

    fn serves(&self, port: u16) -> bool {
        !self.waiters.is_empty() || self.asks || self.own_words(port).next().is_some()
    }

    /// The loops that beat and say themselves that they listen there.
    fn own_words(&self, port: u16) -> impl Iterator<Item = &Page> {
        self.pages.iter().filter(move |page| page.state == State::Beating && page.serves(port))
    }

    /// Of each of its loops. Those that nobody waits on may be left out: a fork has them from its parent.
    fn pulses(&self, folder: &Folder, port: u16, without_unknown: bool) -> Vec<Pulse> {
        let threads: Vec<u32> = self.threads().collect();
        let more = self.own_words(port).map(|page| page.thread).filter(|thread| !threads.contains(thread));
        let more: Vec<u32> = more.collect();
        let unknown_waiters = self.waiters.len() - threads.len();
        // A loop that says that it listens may be the one that asks in another way, if it is not one that waits.
        let asks = usize::from(self.asks).saturating_sub(more.len().saturating_sub(unknown_waiters));
        let unknown = match unknown_waiters {
            _ if without_unknown => 0,
            0 if self.waiters.is_empty() && more.is_empty() && !self.asks => 1,
            unknown => unknown.saturating_sub(more.len()),
        };
        let seen = threads.iter().chain(&more).map(|thread| self.pulse(*thread, folder));
        seen.chain((0..unknown + asks).map(|_| self.outside_of_its_loop(folder))).collect()
    }

    /// Of the loop in this thread.
    fn pulse(&self, thread: u32, folder: &Folder) -> Pulse {
        let who = who(self.pid, thread);
        match self.pages.iter().find(|page| page.thread == thread).map(|page| page.state) {
            Some(State::Beating) => Pulse::Beating { who },
            Some(State::Hello | State::Ended) => {
                self.silent(folder, format!("the loop of {who} has not come round once"))
            }
            None if thread == self.pid => self.outside_of_its_loop(folder),
            None => self.silent(folder, self.unentered(&who)),
        }
    }

    fn unentered(&self, who: &str) -> String {
        let exe = Process::new(self.pid as i32).and_then(|process| process.exe());
        let why = match exe.map_or_else(|_| Runtime::Other(String::new()), |exe| Runtime::of(&exe)) {
            Runtime::Node => {
                "a worker loads none when its `env` has no NODE_OPTIONS, and has one only while it listens"
            }
            Runtime::Python => "a loop beside the first one has one only once its `create_server` is called",
            Runtime::Other(_) => "it is neither Node nor Python",
        };
        format!("{who} serves and has no probe: {why}")
    }

    fn outside_of_its_loop(&self, folder: &Folder) -> Pulse {
        let who = who(self.pid, self.pid);
        self.silent(folder, format!("{who} answers outside of the loop that beats in it"))
    }

    /// Of a loop that is not seen: because of what is wrong with the whole process, or else for this reason.
    fn silent(&self, folder: &Folder, why: String) -> Pulse {
        match Pulse::of(self.pid, folder) {
            Pulse::Beating { .. } => Pulse::NotYet { why },
            pulse @ (Pulse::NotYet { .. } | Pulse::Silent { .. }) => pulse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::tests::page;
    use super::*;

    /// This very process, one of whose loops beats in thread 42, and says that it listens on this port.
    fn server(waiters: &[Waiter], says: u64) -> Server {
        let mut bytes = page(2, 99, &[]);
        bytes[72..80].copy_from_slice(&says.to_ne_bytes());
        let pages = vec![Page::parse(&bytes).unwrap()];
        Server { pid: std::process::id(), waiters: waiters.to_vec(), asks: false, pages }
    }

    fn beats(server: &Server, without_unknown: bool) -> Vec<bool> {
        let pulses = server.pulses(&Folder::create().unwrap(), 8080, without_unknown);
        pulses.iter().map(|pulse| pulse.beats().is_some()).collect()
    }

    #[test]
    fn a_loop_is_seen_whose_thread_waits_for_connections_and_beats() {
        assert_eq!(beats(&server(&[Waiter::Thread(42)], 0), false), [true]);
        assert_eq!(beats(&server(&[Waiter::Thread(42), Waiter::Thread(43)], 0), false), [true, false]);
    }

    #[test]
    fn where_the_kernel_does_not_say_who_waits_the_loops_own_word_decides() {
        assert_eq!(beats(&server(&[Waiter::Unknown], 8080), false), [true]);
        assert_eq!(beats(&server(&[], 8080), false), [true]);
        assert_eq!(beats(&server(&[Waiter::Unknown], 9090), false), [false]);
        assert_eq!(beats(&server(&[Waiter::Unknown, Waiter::Unknown], 8080), false), [true, false]);
    }

    #[test]
    fn whoever_asks_a_socket_that_no_loop_watches_is_not_seen_unless_a_loop_says_that_it_does() {
        let asking = |waiters: &[Waiter], says| Server { asks: true, ..server(waiters, says) };
        assert_eq!(beats(&asking(&[Waiter::Thread(42)], 8080), true), [true, false]);
        assert_eq!(beats(&asking(&[Waiter::Unknown], 8080), true), [true, false]);
        assert_eq!(beats(&asking(&[], 0), false), [false]);
        assert_eq!(beats(&asking(&[], 8080), false), [true]);
    }

    #[test]
    fn what_a_fork_has_from_its_parent_is_no_loop_of_its_own() {
        assert_eq!(beats(&server(&[Waiter::Unknown], 0), true), [false; 0]);
    }
}
