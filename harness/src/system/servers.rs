//! Who serves, and when the last of them ended: behind a wrapper that is when the system died.
//!
//! The command may be a wrapper, which ends later than the server behind it (`npm start` by 58 to 480 ms, a script by
//! whatever it does last). So a handle is held on every process that listens on the system's port or, where none does,
//! that is connected to the stub. It tells of an end at once and costs nothing until then; the tree is walked only while
//! nobody is known to serve. Helpers and workers that come and go beside them are not looked at.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::in_flight::Moment;
use super::main_process::Successor;
use super::port;
use crate::keeper::{Identity, branch, descendants};

/// How often whoever serves is looked for while nobody does: after a restart, for one.
const SEARCH_EVERY: Duration = Duration::from_millis(100);
/// A search after an end may take this share of the time, one part in so many: the system is being started again.
const AGAIN_SHARE: u32 = 100;
/// And where nobody was ever found, as another user's process cannot be, so that it is never over.
const NEVER_SHARE: u32 = 1000;
/// How soon the command must follow a process that was connected to the stub: unlike a listener's, its end need not be
/// the system's. A script may call `curl` whenever it likes. `npm` follows within 480 ms (measured).
const FOLLOWS_WITHIN: Duration = Duration::from_secs(2);

/// By what they are known.
#[derive(Debug, Clone)]
pub(super) struct Sought {
    /// The process below which all of the system lives.
    pub(super) root: u32,
    /// The port that the system is to listen on.
    pub(super) port: u16,
    /// The ports at which it finds the stub.
    pub(super) stub: Vec<u16>,
}

/// What made them known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Listens,
    Calls,
}

/// The processes that serve.
#[derive(Debug)]
pub(super) struct Servers {
    sought: Sought,
    door: Door,
    /// Those that live.
    handles: Vec<OwnedFd>,
    /// Everyone there has been.
    pids: Vec<u32>,
    last_ended: Option<Moment>,
    search_at: Duration,
}

/// Of a crash loop the first ones are remembered.
const REMEMBERED: usize = 1000;

impl Servers {
    /// Looks for them once.
    pub(super) fn find(sought: Sought, now: impl Fn() -> Duration) -> Self {
        let mut servers = Self {
            sought,
            door: Door::Listens,
            handles: Vec::new(),
            pids: Vec::new(),
            last_ended: None,
            search_at: Duration::ZERO,
        };
        servers.search(now);
        servers
    }

    /// Looks for them again while nobody serves, now and then.
    pub(super) fn look(&mut self, now: impl Fn() -> Duration) {
        if self.handles.is_empty() && now() >= self.search_at {
            self.search(now);
        }
    }

    fn search(&mut self, now: impl Fn() -> Duration) {
        let from = now();
        let tree = descendants(self.sought.root);
        let (door, found) = self.sought.among(&tree);
        let found = tree.iter().filter(|process| found.contains(&process.pid));
        let found: Vec<(u32, OwnedFd)> =
            found.filter_map(|process: &Identity| Some((process.pid, process.handle()?))).collect();
        if !found.is_empty() {
            (self.door, self.last_ended) = (door, None);
        }
        for (pid, handle) in found {
            self.handles.push(handle);
            if self.pids.len() < REMEMBERED {
                self.pids.push(pid);
            }
        }
        let (to, share) = (now(), if self.last_ended.is_some() { AGAIN_SHARE } else { NEVER_SHARE });
        self.search_at = to + SEARCH_EVERY.max(to.saturating_sub(from) * share);
    }

    /// What becomes readable when one of them ends.
    pub(super) fn handles(&self) -> &[OwnedFd] {
        &self.handles
    }

    /// Everyone that has served so far.
    pub(super) fn pids(&self) -> &[u32] {
        &self.pids
    }

    /// Looks whether any has ended; with the last of them, this is the moment of it.
    pub(super) fn note_ended(&mut self, now: Moment) {
        let living = self.handles.len();
        let mut ended = ended(&self.handles).into_iter();
        self.handles.retain(|_| ended.next() == Some(false));
        if self.handles.is_empty() && living > 0 {
            self.last_ended = Some(now);
        }
    }

    /// When the system died whose command ended at this instant: then, or when the last of them ended before it.
    pub(super) fn died(&self, command: Moment) -> Moment {
        let before = self.last_ended.filter(|last| last.at <= command.at);
        let counts = |last: &Moment| match self.door {
            Door::Listens => true,
            Door::Calls => last.at + FOLLOWS_WITHIN >= command.at,
        };
        before.filter(counts).unwrap_or(command)
    }
}

impl Sought {
    /// Whoever serves now, nearest to the keeper.
    pub(super) fn successor(&self) -> Option<Successor> {
        let tree = descendants(self.root);
        let (door, found) = self.among(&tree);
        let server = tree.into_iter().find(|process| found.contains(&process.pid))?;
        let (branch, program) = (branch(self.root, server.pid)?, server.program()?);
        let port = match door {
            Door::Listens => Some(self.port),
            Door::Calls => None,
        };
        Some(Successor { branch, pid: server.pid, program, port })
    }

    fn among(&self, tree: &[Identity]) -> (Door, Vec<u32>) {
        let pids: Vec<u32> = tree.iter().map(|process| process.pid).collect();
        let listening = port::servers(&pids, self.port);
        if !listening.is_empty() {
            return (Door::Listens, listening);
        }
        (Door::Calls, self.stub.iter().flat_map(|stub| port::callers(&pids, *stub)).collect())
    }
}

/// Of each, whether its process has ended.
fn ended(handles: &[OwnedFd]) -> Vec<bool> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut watched: Vec<PollFd<'_>> = handles.iter().map(|handle| PollFd::new(handle, PollFlags::IN)).collect();
    // Of a look that failed nothing is readable, and the next one comes soon.
    let _ready = poll(&mut watched, Some(&at_once));
    watched.iter().map(|handle| !handle.revents().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    const NOWHERE: Sought = Sought { root: 0, port: 0, stub: Vec::new() };

    fn ms(at: u64, in_flight: u64) -> Moment {
        Moment { at: Duration::from_millis(at), in_flight }
    }

    fn sleeper() -> (Child, OwnedFd) {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let handle = Identity::of(child.id()).unwrap().handle().unwrap();
        (child, handle)
    }

    fn end(child: &mut Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn after(door: Door, last: Option<Moment>) -> Servers {
        Servers { door, last_ended: last, ..Servers::find(NOWHERE, || Duration::ZERO) }
    }

    #[test]
    fn the_system_died_when_the_last_of_those_that_serve_did() {
        let [(mut one, handle), (mut other, second)] = [sleeper(), sleeper()];
        let mut servers = Servers { handles: vec![handle, second], ..after(Door::Listens, None) };
        end(&mut one);
        servers.note_ended(ms(10, 5));
        assert_eq!((servers.handles().len(), servers.died(ms(20, 0))), (1, ms(20, 0)), "another one serves");
        end(&mut other);
        servers.note_ended(ms(30, 4));
        servers.note_ended(ms(40, 0));
        assert_eq!((servers.handles().len(), servers.died(ms(60_000, 0))), (0, ms(30, 4)));
    }

    #[test]
    fn a_command_that_serves_itself_died_when_the_first_of_both_was_heard_of() {
        let servers = after(Door::Listens, Some(ms(30, 4)));
        assert_eq!(servers.died(ms(30, 9)), ms(30, 4));
        assert_eq!(servers.died(ms(29, 9)), ms(29, 9));
    }

    #[test]
    fn a_process_that_only_called_the_stub_was_the_system_only_if_the_command_follows_at_once() {
        let follows = FOLLOWS_WITHIN.as_millis() as u64;
        let servers = after(Door::Calls, Some(ms(30, 4)));
        assert_eq!(servers.died(ms(30 + follows, 9)), ms(30, 4));
        assert_eq!(servers.died(ms(31 + follows, 9)), ms(31 + follows, 9));
    }

    #[test]
    fn who_is_not_found_is_not_sought_all_the_time() {
        let mut servers = after(Door::Listens, None);
        let (soon, later) = (Duration::from_millis(99), SEARCH_EVERY);
        servers.look(|| soon);
        assert_eq!(servers.search_at, SEARCH_EVERY);
        servers.look(|| later);
        assert_eq!(servers.search_at, later + SEARCH_EVERY);
    }
}
