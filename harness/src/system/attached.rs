//! A system that runs already: found answering, watched as far as its process is known, and left as it is.

use std::net::SocketAddr;
use std::time::Duration;

use floodrig_reports::recording::{Ending, EndingKind};
use floodrig_stub::Stub;

use super::clock::Clock;
use super::ready::{self, Glimpse};
use crate::exchange::Speech;
use crate::keeper::{Identity, Tree};
use crate::scenario::Ready;
use crate::stop::Stop;

/// How often readiness is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A system that somebody else has started.
#[derive(Debug, Clone, Copy)]
pub struct Attached {
    /// Where it listens.
    pub address: SocketAddr,
    process: Option<Identity>,
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
    #[error("there is no process {pid} on this machine")]
    Process {
        /// Its id.
        pid: u32,
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
    /// Waits until it answers, for no longer than `within`.
    pub fn find(sought: &Sought<'_>, (clock, within): (Clock, Duration), stop: &Stop) -> Result<Self, NotThere> {
        let Sought { address, speech, pid, ready, stub } = *sought;
        let identity = |pid| Identity::of(pid).ok_or(NotThere::Process { pid });
        let process = pid.map(identity).transpose()?;
        let until = clock.now() + within;
        if *ready == Ready::Bot && stub.is_none() {
            // Only the rig whose stub it is can see it ask.
            return Ok(Self { address, process });
        }
        loop {
            let left = until.saturating_sub(clock.now());
            let attendance = stub.map(Stub::attendance).unwrap_or_default();
            match ready::look_at((address, speech), ready, attendance, left) {
                Glimpse::Ready => return Ok(Self { address, process }),
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
        self.process.map(|process| Tree::From(process.pid))
    }

    /// Whether its process, if it is known, has ended.
    pub fn is_gone(&self) -> bool {
        self.process.is_some_and(|process| Identity::of(process.pid) != Some(process))
    }

    /// How it ended, if it is known to have ended. Whoever started it knows more: the kernel tells a status only to
    /// the parent.
    pub fn ending(&self, now: Duration) -> Option<Ending> {
        let process = self.process.filter(|_| self.is_gone())?;
        let note = format!(
            "process {} was gone when the run ended; the rig did not start it, so it cannot know how and when it ended",
            process.pid
        );
        Some(Ending {
            kind: EndingKind::Exit,
            code: None,
            signal: None,
            at_ms: now.as_millis() as i64,
            in_flight: 0,
            stderr_tail: Vec::new(),
            oom: None,
            stop_took_ms: None,
            note: Some(note),
        })
    }
}
