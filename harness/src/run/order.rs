//! What a run is asked for, everything decided that can be before anything starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use floodrig_reports::recording::Shard;

use crate::drive::Target;
use crate::scenario::Scenario;

/// What to run and where to leave it.
#[derive(Debug, Clone)]
pub struct Order {
    /// The scenario, with its variant merged in.
    pub scenario: Arc<Scenario>,
    /// The folder for what the run leaves; made when it is not there.
    pub dir: PathBuf,
    /// The cores of this machine.
    pub machine: Vec<u32>,
    /// The limit on open files that the user had set, before the rig raised its own: the system gets it.
    pub open_files: Option<u64>,
    /// Whether the crowd was made smaller and latency is not judged.
    pub quick: bool,
    /// Whether this process is in a network of the run's own.
    pub isolated: bool,
    /// The command that makes this run again.
    pub repeat_with: String,
    /// Who is where.
    pub places: Places,
}

/// What of a run this rig is, and where the rest of it is.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The part of the plan that is driven; nothing: all of it.
    pub shard: Option<Shard>,
    /// When the load begins, since 1970; nothing: as soon as everything is ready.
    pub start_at: Option<Duration>,
    /// A system that runs already; nothing: the scenario's command is started.
    pub attach: Option<Running>,
    /// The stub.
    pub stub: StubAt,
}

/// A system that runs already.
#[derive(Debug, Clone)]
pub struct Running {
    /// Where it listens.
    pub target: Target,
    /// Its process on this machine, when that is known.
    pub pid: Option<u32>,
}

/// Where the stub of Telegram is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StubAt {
    /// Started here, on any port that is free.
    #[default]
    AnyPort,
    /// Started here, where a system expects it that runs already.
    Address(SocketAddr),
    /// Another rig's, or nobody's that this one knows.
    Elsewhere(Option<String>),
}

impl Places {
    /// Whether this rig watches the system. Of several that load one system, only the first does.
    pub fn observes(&self) -> bool {
        self.shard.is_none_or(Shard::is_owner)
    }
}
