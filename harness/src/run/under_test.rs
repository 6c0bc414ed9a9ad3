//! The system of a run: one that the rig has started and will stop, or one that it found running and leaves so.

use std::time::Duration;

use floodrig_reports::recording::{Confined, Ending, Logs};

use super::telegram::Telegram;
use super::trouble::Trouble;
use super::{Rig, Running};
use crate::keeper::Tree;
use crate::system::cores::{self, Pinning};
use crate::system::{Attached, Left, NotThere, Sought, Stopped, System};

/// From the close of a dying process's sockets until its end is heard of: it gives its memory back first.
const DYING: Duration = Duration::from_millis(300);

/// The system under test.
pub(super) enum UnderTest {
    /// Started by this rig.
    Started(Box<System>),
    /// Found running.
    Attached(Attached),
}

/// What is left to say of a system at the end of a run.
pub(super) struct Last {
    /// How it ended; nothing: it goes on.
    pub(super) ending: Option<Ending>,
    /// What it logged; nothing: its output is not the rig's to read.
    pub(super) logs: Option<Logs>,
    /// What its control group counted; nothing: it has none.
    pub(super) confined: Option<Confined>,
    /// Events that were dropped because the recorder had no room.
    pub(super) events_dropped: u64,
}

impl UnderTest {
    /// Attaches to one that runs already, or that the first shard is about to build and start: it has until the load
    /// begins.
    pub(super) fn attach(rig: &Rig<'_>, telegram: &Telegram, running: &Running, advice: &str) -> Result<Self, Trouble> {
        let (system, ground) = (&rig.order.scenario.system, rig.ground);
        let to_start = ground.start_at.map(|start| start.saturating_sub(ground.clock.now()));
        let wait = (ground.clock, system.ready_within.max(to_start.unwrap_or_default()));
        let (address, stub) = (running.target.address, telegram.stub().map(|stub| &**stub));
        let sought = Sought { address, speech: &system.speech, pid: running.pid, ready: &system.ready, stub };
        let found = Attached::find(&sought, wait, rig.watch(), rig.stop);
        found.map(Self::Attached).map_err(|cause| match cause {
            NotThere::Interrupted => Trouble::Interrupted,
            NotThere::Process { .. } | NotThere::Thread { .. } => Trouble::NotReady(cause.to_string()),
            NotThere::Silent { .. } => Trouble::NotReady(format!("{cause}; {advice}")),
        })
    }

    /// From its start to its readiness, when this rig saw both.
    pub(super) fn ready_after(&self) -> Option<Duration> {
        match self {
            Self::Started(system) => Some(system.ready_after()),
            Self::Attached(_) => None,
        }
    }

    /// Its processes, or why they are not watched.
    pub(super) fn tree(&self) -> Result<Tree, String> {
        match self {
            Self::Started(system) => Ok(Tree::Below(system.root())),
            Self::Attached(attached) => {
                attached.tree().ok_or_else(|| "the system was not started here, and its pid is not known".to_owned())
            }
        }
    }

    /// The processes of one that was found running, where they are known.
    pub(super) fn found(&self) -> Option<Tree> {
        match self {
            Self::Started(_) => None,
            Self::Attached(attached) => attached.tree(),
        }
    }

    /// The process of its command; nothing: the rig has not started it.
    pub(super) fn command(&self) -> Option<u32> {
        match self {
            Self::Started(system) => Some(system.pid()),
            Self::Attached(_) => None,
        }
    }

    /// What holds it to its limits: `active: ..` or `inactive: ..`.
    pub(super) fn confinement(&self) -> String {
        match self {
            Self::Started(system) => system.confinement(),
            Self::Attached(_) => "inactive: the system was not started here, and no limit is set from here".to_owned(),
        }
    }

    /// Whether it ended before this instant, without an order of the rig's.
    pub(super) fn died_before(&self, at: Duration, now: Duration) -> bool {
        match self {
            Self::Started(system) => system.ended_at().is_some_and(|ended| ended < at),
            Self::Attached(attached) => now < at && attached.is_gone(),
        }
    }

    /// Whether it has ended by itself, or does so at once: its end is heard of a moment after its sockets are closed.
    pub(super) fn is_dying(&self) -> bool {
        match self {
            Self::Started(system) => system.ends_within(DYING),
            Self::Attached(attached) => attached.is_gone(),
        }
    }

    /// Who serves in the place of its command, in words.
    pub(super) fn successor(&self) -> Option<String> {
        match self {
            Self::Started(system) => system.successor(),
            Self::Attached(_) => None,
        }
    }

    /// Whether it has ended, by itself or by order.
    pub(super) fn is_gone(&self) -> bool {
        match self {
            Self::Started(system) => system.ended_at().is_some() || system.gone_at().is_some(),
            Self::Attached(attached) => attached.is_gone(),
        }
    }

    /// The last lines on its stderr, where they are the rig's to read.
    pub(super) fn stderr_tail(&self) -> Vec<String> {
        match self {
            Self::Started(system) => system.stderr_tail(),
            Self::Attached(_) => Vec::new(),
        }
    }

    /// Where its threads are, against where they should be; nothing: nobody can tell.
    pub(super) fn pinning(&self, system: &[u32]) -> Option<Pinning> {
        match self {
            Self::Started(started) => Some(started.verify_cores(system)),
            Self::Attached(attached) => attached.tree().map(|tree| cores::verify(tree, system)),
        }
    }

    /// Stops what this rig has started.
    pub(super) fn end(self, within: Duration) -> Last {
        match self {
            Self::Started(system) => {
                let Stopped { ending, logs, confined, events_dropped } = system.stop(within);
                Last { ending: Some(ending), logs: Some(logs), confined, events_dropped }
            }
            Self::Attached(attached) => {
                let Left { ending, events_dropped } = attached.leave();
                Last { ending, logs: None, confined: None, events_dropped }
            }
        }
    }
}
