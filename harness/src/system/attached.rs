//! A system that runs already: found answering, watched as far as its process is known, and left as it is.

use std::net::SocketAddr;
use std::time::Duration;

use floodrig_reports::recording::{Ending, EndingKind};
use floodrig_stub::Stub;
use procfs::process::Process;

use super::clock::Clock;
use super::in_flight::Moment;
use super::ready::{self, Glimpse};
use super::stranger::Stranger;
use super::watcher::Watch;
use crate::exchange::Speech;
use crate::keeper::{Identity, Tree};
use crate::scenario::Ready;
use crate::stop::Stop;

/// How often readiness is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A system that somebody else has started.
#[derive(Debug)]
pub struct Attached {
    /// Where it listens.
    pub address: SocketAddr,
    process: Option<Stranger>,
}

/// What is known of it at the end of a run.
#[derive(Debug, Default)]
pub struct Left {
    /// How it ended; nothing: it goes on, or its process is not known.
    pub ending: Option<Ending>,
    /// Events that found no room in the recorder's queue.
    pub events_dropped: u64,
}

/// What to attach to, and how it shows that it is ready.
#[derive(Debug, Clone, Copy)]
pub struct Sought<'a> {
    /// Where it listens.
    pub address: SocketAddr,
    /// How it is spoken to.
    pub speech: &'a Speech,
    /// Its process, when that is known.
    pub pid: Option<u32>,
    /// When it counts as ready.
    pub ready: &'a Ready,
    /// The stub that its bot calls, when that is this rig's.
    pub stub: Option<&'a Stub>,
}

/// Why there is nothing to attach to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotThere {
    /// No such process on this machine.
    #[error("there is no process {pid} on this machine: look for the system's own again")]
    Process {
        /// Its id.
        pid: u32,
    },
    /// It is a thread of one.
    #[error("{pid} is a thread of process {of}: name that")]
    Thread {
        /// Its id.
        pid: u32,
        /// The process's.
        of: u32,
    },
    /// It did not answer in time.
    #[error("still waiting for {waited_for} after {within:?}")]
    Silent {
        /// What was waited for, and what came instead.
        waited_for: String,
        /// For how long.
        within: Duration,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl Attached {
    /// Waits until it answers, for no longer than `within`; from then on its process, if it is known, is under `watch`.
    pub fn find(
        sought: &Sought<'_>,
        (clock, within): (Clock, Duration),
        watch: Watch,
        stop: &Stop,
    ) -> Result<Self, NotThere> {
        let Sought { address, speech, pid, ready, stub } = *sought;
        let process = pid.map(identity).transpose()?;
        let found = || Self { address, process: process.map(|process| Stranger::watch(process, watch)) };
        let until = clock.now() + within;
        if *ready == Ready::Bot && stub.is_none() {
            // Only the rig whose stub it is can see it ask.
            return Ok(found());
        }
        loop {
            let left = until.saturating_sub(clock.now());
            let attendance = stub.map(Stub::attendance).unwrap_or_default();
            match ready::look_at((address, speech), ready, attendance, left) {
                Glimpse::Ready => return Ok(found()),
                Glimpse::NotYet(waited_for) if left.is_zero() => return Err(NotThere::Silent { waited_for, within }),
                Glimpse::NotYet(_) => {}
            }
            if stop.asked() {
                return Err(NotThere::Interrupted);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Its processes, where one is known.
    pub fn tree(&self) -> Option<Tree> {
        self.process.as_ref().map(|process| Tree::From(process.pid()))
    }

    /// Whether its process, if it is known, has ended.
    pub fn is_gone(&self) -> bool {
        self.process.as_ref().is_some_and(Stranger::is_gone)
    }

    /// Leaves it as it is.
    pub fn leave(self) -> Left {
        let Some(process) = self.process else { return Left::default() };
        let pid = process.pid();
        let (ended, events_dropped) = process.leave();
        Left { ending: ended.map(|moment| ending(pid, moment)), events_dropped }
    }
}

/// The id of a thread names its process in `/proc` too.
fn identity(pid: u32) -> Result<Identity, NotThere> {
    let process = Process::new(pid as i32).ok().and_then(|process| process.status().ok());
    match process.map(|process| process.tgid as u32) {
        Some(of) if of != pid => Err(NotThere::Thread { pid, of }),
        Some(_) | None => Identity::of(pid).ok_or(NotThere::Process { pid }),
    }
}

/// Whoever started it knows more: the kernel tells a status only to the parent.
fn ending(pid: u32, Moment { at, in_flight }: Moment) -> Ending {
    let note = format!("process {pid}: the rig did not start it, so only whoever did is told how it ended");
    Ending {
        kind: EndingKind::Exit,
        code: None,
        signal: None,
        at_ms: at.as_millis() as i64,
        in_flight,
        stderr_tail: Vec::new(),
        oom: None,
        stop_took_ms: None,
        note: Some(note),
    }
}
