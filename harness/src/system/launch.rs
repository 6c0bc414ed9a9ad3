//! What is started, everything decided.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use floodrig_stub::Stub;

use super::cgroup::Limits;
use super::cores::CoreSets;
use crate::exchange::Speech;
use crate::keeper::{Program, Spec};
use crate::redirect::Redirect;
use crate::scenario::Ready;

/// What to start, everything decided.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The binary that becomes the keeper.
    pub program: Program,
    /// Where the command runs.
    pub dir: PathBuf,
    /// The command.
    pub command: Vec<String>,
    /// Variables added to the rig's own environment.
    pub env: BTreeMap<String, String>,
    /// The port it will listen on.
    pub port: u16,
    /// Its cores.
    pub cores: CoreSets,
    /// Its soft limit on open files; nothing: the rig's own.
    pub open_files: Option<u64>,
    /// How it is spoken to.
    pub speech: Speech,
    /// Folders that go with it, however it ends.
    pub remove: Vec<PathBuf>,
    /// Its limit on open files, soft and hard, when it is to have one of its own.
    pub open_files_at_most: Option<u64>,
    /// Its limits of memory and CPU.
    pub limits: Limits,
    /// A folder that is made for it, named to it as `TMPDIR`, and removed once all of it has ended.
    pub scratch: Option<PathBuf>,
    /// When it counts as ready.
    pub ready: Ready,
    /// Where a bot is seen to come.
    pub stub: Option<Arc<Stub>>,
    /// What turns it to the stub, and knows why it may not come.
    pub redirect: Option<Arc<Redirect>>,
    /// How long that may take.
    pub ready_within: Duration,
    /// How long it may take to stop when it did not become ready.
    pub stop_within: Duration,
}

impl Launch {
    /// Where it will listen.
    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }
}

/// What the keeper is told of a command that is run once, in the environment of what was started.
pub(super) fn errand(launch: &Launch, command: &[String]) -> Spec {
    Spec { command: command.to_vec(), remove: Vec::new(), scratch: None, ..spec(launch) }
}

/// What the keeper is told.
pub(super) fn spec(launch: &Launch) -> Spec {
    let mut env = launch.env.clone();
    // Prints where a Python died of a signal, and costs nothing until then.
    env.entry("PYTHONFAULTHANDLER".to_owned()).or_insert_with(|| "1".to_owned());
    Spec {
        command: launch.command.clone(),
        dir: launch.dir.clone(),
        env,
        without: Vec::new(),
        cores: Some(launch.cores.system.clone()),
        open_files: launch.open_files,
        remove: launch.remove.clone(),
        open_files_at_most: launch.open_files_at_most,
        cgroups: Vec::new(),
        scratch: launch.scratch.clone(),
    }
}
