//! The loops that serve the system's port, each with whether it is seen.
//!
//! The kernel says which threads wait for connections, and a page says which thread writes it; a page's own word that
//! its loop listens decides where the kernel's cannot be had. A worker of Node's cluster is handed its connections by
//! another process, and holds no listening socket; it is known by a variable that it was started with.

use std::ffi::OsStr;
use std::fs;

use procfs::process::Process;

use super::Folder;
use super::name::Name;
use super::page::{Page, State};
use super::process::{Pulse, who};
use super::serving::{Waiter, waiters};
use crate::system::port;

/// Node's `lib/internal/cluster/primary.js` sets it for each worker.
const CLUSTER_WORKER: &str = "NODE_UNIQUE_ID";

/// A process that holds a listening socket.
struct Server {
    pid: u32,
    waiters: Vec<Waiter>,
    pages: Vec<Page>,
}

/// Of these processes, the loops that serve this port. `over`: nothing more will become known.
pub(super) fn pulses_of_servers(folder: &Folder, pids: &[u32], port: u16, over: bool) -> Vec<Pulse> {
    let listeners = port::open_to(port);
    let holding = port::holding(pids, &listeners);
    let servers: Vec<Server> = holding.iter().filter_map(|pid| Server::of(*pid, folder, &listeners)).collect();
    let known = servers.iter().any(Server::is_known);
    let serving = servers.iter().any(|server| server.serves(port));
    let mut pulses = Vec::new();
    // Whoever only holds the socket for others to wait on serves nobody.
    for server in servers.iter().filter(|server| server.serves(port) || !serving) {
        pulses.extend(server.pulses(folder, port, over && known));
    }
    let handed = pids.iter().filter(|pid| !holding.is_empty() && !holding.contains(pid) && is_cluster_worker(**pid));
    pulses.extend(handed.map(|pid| Pulse::of(*pid, folder)));
    pulses
}

fn is_cluster_worker(pid: u32) -> bool {
    let environ = Process::new(pid as i32).and_then(|process| process.environ());
    environ.is_ok_and(|all| all.contains_key(OsStr::new(CLUSTER_WORKER)))
}

fn pages(folder: &Folder, pid: u32) -> Vec<Page> {
    let entries = fs::read_dir(folder.pages()).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        entry.file_name().to_str().and_then(|name| name.parse::<Name>().ok()).is_some_and(|name| name.pid == pid)
    });
    named.filter_map(|entry| Page::parse(&fs::read(entry.path()).ok()?)).collect()
}

impl Server {
    fn of(pid: u32, folder: &Folder, listeners: &[u64]) -> Option<Self> {
        let process = Process::new(pid as i32).ok()?;
        Some(Self { pid, waiters: waiters(&process, listeners), pages: pages(folder, pid) })
    }

    /// Whether a thread of it is known to wait for connections.
    fn is_known(&self) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread().is_some())
    }

    fn serves(&self, port: u16) -> bool {
        !self.waiters.is_empty() || self.own_words(port).next().is_some()
    }

    /// The loops that beat and say themselves that they listen there.
    fn own_words(&self, port: u16) -> impl Iterator<Item = &Page> {
        self.pages.iter().filter(move |page| page.state == State::Beating && page.serves(port))
    }

    /// Of each of its loops. Those that nobody waits on may be left out: a fork has them from its parent.
    fn pulses(&self, folder: &Folder, port: u16, without_unknown: bool) -> Vec<Pulse> {
        let threads: Vec<u32> = self.waiters.iter().filter_map(|waiter| waiter.thread()).collect();
        let more = self.own_words(port).map(|page| page.thread).filter(|thread| !threads.contains(thread));
        let more: Vec<u32> = more.collect();
        let unknown = match self.waiters.len() - threads.len() {
            _ if without_unknown => 0,
            0 if self.waiters.is_empty() && more.is_empty() => 1,
            unknown => unknown.saturating_sub(more.len()),
        };
        let seen = threads.iter().chain(&more).map(|thread| self.pulse(*thread, folder));
        seen.chain((0..unknown).map(|_| self.outside_of_its_loop(folder))).collect()
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
            None => self.silent(
                folder,
                format!(
                    "{who} serves and has no probe: Node loads none into a worker whose `env` has no NODE_OPTIONS, and \
                     Python's is for the servers of asyncio"
                ),
            ),
        }
    }

    fn outside_of_its_loop(&self, folder: &Folder) -> Pulse {
        let who = who(self.pid, self.pid);
        self.silent(folder, format!("{who} waits for connections outside of the loop that beats in it"))
    }

    /// Of a loop that is not seen: because of what is wrong with the whole process, or else for this reason.
    fn silent(&self, folder: &Folder, why: String) -> Pulse {
        match Pulse::of(self.pid, folder) {
            Pulse::Beating { .. } => Pulse::NotYet { why },
            pulse @ (Pulse::NotYet { .. } | Pulse::Silent { .. }) => pulse,
        }
    }
}
