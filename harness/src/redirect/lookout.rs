//! A lookout for connections to Telegram itself: a program that neither a variable nor a hook has turned to the stub is
//! found by where its sockets go, stopped at once, and named.
//!
//! It is a net with meshes. A thread asks the kernel for the sockets of this machine, so a connection that is made and
//! closed between two looks is not seen; nor is one of a process whose handles are hidden (another user's), one by way
//! of a proxy, or the look-up of the name. What must not happen at all needs [`crate::isolate`].

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use procfs::process::Process;

use super::telegram::is_telegrams;
use crate::keeper::Tree;
use crate::sockets::{Diag, FAMILIES, Question, Socket, States, held};
use crate::stop::{Cut, Stop};

/// How often is looked until the load begins, when nothing is measured: whoever is not let in tries for minutes, and a
/// first call is three or four round trips, after which most libraries keep the connection for the next.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// And during the load, for [`HTTPS`] alone, so that ten thousand players cost it nothing: a look is two questions, of
/// half a millisecond of CPU time together on a small machine, 0.05 % of a core.
const LOOK_EVERY_UNDER_LOAD: Duration = Duration::from_secs(1);
/// The port of `https://api.telegram.org`.
const HTTPS: u16 = 443;
/// A socket that is the system's in none of so many looks is somebody else's, such as a messenger on the same desk. A
/// walk over the processes may miss one that was started meanwhile.
const STRANGE_AFTER: u32 = 3;

/// A connection of the system's, or of a service's, to Telegram itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Whose it is.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Where it goes.
    pub to: SocketAddr,
}

impl fmt::Display for Stray {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, name, to: address } = self;
        write!(
            to,
            "pid {pid} ({name}) connects to {address}, which is the real Telegram and not the stub, so the run was \
             stopped: neither a variable nor a hook has turned it. Run with --isolate, where the name leads to the stub \
             for every program and nothing outside is reached, or set the API root of its library to \"{{stub.url}}\""
        )
    }
}

/// The lookout of one run, over its system and services. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct Lookout {
    stop: Stop,
    seen: Arc<OnceLock<Stray>>,
    is_loaded: Arc<AtomicBool>,
    standing: Arc<OnceLock<String>>,
}

/// A lookout over one tree of processes; dropped, it ends.
#[derive(Debug)]
pub struct Watchman {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lookout {
    /// One that cuts this run short when it has seen something.
    pub fn over_run(stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..Self::default() }
    }

    /// What it has seen first.
    pub fn seen(&self) -> Option<&Stray> {
        self.seen.get()
    }

    /// From now on something is measured.
    pub fn under_load(&self) {
        self.is_loaded.store(true, Ordering::Relaxed);
    }

    /// Whether it looks out, in a word and its reason.
    pub fn standing(&self) -> String {
        let unknown = || "inactive: the system was not started here, and its pid is not known (--pid)".to_owned();
        self.standing.get().cloned().unwrap_or_else(unknown)
    }

    /// Looks out for the connections of these processes, and does this as soon as there is one; nothing: the kernel does
    /// not tell of them.
    pub fn over(&self, tree: Tree, end_it: impl FnOnce() + Send + 'static) -> Option<Watchman> {
        let post = self.post(tree, end_it);
        self.standing.get_or_init(|| match &post {
            Ok(_) => {
                "active: a connection to Telegram's own addresses that is open for a second stops the run".to_owned()
            }
            Err(cause) => format!("inactive: sock_diag said: {cause}"),
        });
        post.ok()
    }

    fn post(&self, tree: Tree, end_it: impl FnOnce() + Send + 'static) -> io::Result<Watchman> {
        let mut looking = Looking { kernel: Diag::open()?, tree, unknown: BTreeMap::new() };
        looking.look(0)?;
        let (stop, stopped) = sync_channel(1);
        let lookout = self.clone();
        let thread = std::thread::Builder::new().name("lookout".to_owned());
        let thread = thread.spawn(move || lookout.until_seen(&mut looking, end_it, &stopped))?;
        Ok(Watchman { stop: Some(stop), thread: Some(thread) })
    }

    fn until_seen(&self, looking: &mut Looking, end_it: impl FnOnce(), stop: &Receiver<()>) {
        loop {
            let (every, port) =
                if self.is_loaded.load(Ordering::Relaxed) { (LOOK_EVERY_UNDER_LOAD, HTTPS) } else { (LOOK_EVERY, 0) };
            // A kernel that answered at the start and does not now is asked again.
            if let Some(stray) = looking.look(port).ok().flatten() {
                // The first is told of; what it has led to is the end of all.
                self.stop.cut_short(Cut::Strayed(self.seen.get_or_init(|| stray).to_string()));
                return end_it();
            }
            match stop.recv_timeout(every) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

impl Drop for Watchman {
    fn drop(&mut self) {
        drop(self.stop.take());
        // It panics in no case, and if it did, that would be no reason to leave a system running.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

struct Looking {
    kernel: Diag,
    tree: Tree,
    /// Sockets to Telegram that were not the system's, and in how many looks, by inode.
    unknown: BTreeMap<u32, u32>,
}

impl Looking {
    /// A connection of the tree to Telegram, to this port there (0: any).
    fn look(&mut self, port: u16) -> io::Result<Option<Stray>> {
        let sockets = self.sockets(port)?;
        self.unknown.retain(|inode, _| sockets.contains_key(inode));
        let is_strange = |inode: &u32| self.unknown.get(inode).is_some_and(|looks| *looks >= STRANGE_AFTER);
        if sockets.keys().all(is_strange) {
            return Ok(None);
        }
        let found = self.tree.processes().into_iter().find_map(|identity| {
            let process = Process::new(identity.pid as i32).ok()?;
            let to = held(&process).find_map(|inode| sockets.get(&inode).copied())?;
            let name = process.stat().map_or_else(|_| "ended".to_owned(), |stat| stat.comm);
            Some(Stray { pid: identity.pid, name, to })
        });
        for inode in sockets.into_keys() {
            *self.unknown.entry(inode).or_default() += 1;
        }
        Ok(found)
    }

    /// Everybody's connections to Telegram, those that are being made included, by inode.
    fn sockets(&self, port: u16) -> io::Result<BTreeMap<u32, SocketAddr>> {
        let mut found = BTreeMap::new();
        for family in FAMILIES {
            let question = Question { family, states: States::Sought, local_port: 0, remote_port: port, times: false };
            self.kernel.ask(question, |Socket { remote, remote_port, inode, .. }| {
                found.extend(
                    remote.filter(|remote| is_telegrams(*remote)).map(|remote| (inode, (remote, remote_port).into())),
                );
            })?;
        }
        Ok(found)
    }
}
