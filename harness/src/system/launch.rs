//! What is started, everything decided.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use floodrig_stub::Stub;

use super::cores::CoreSets;
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
    /// Folders that go with it, however it ends.
    pub remove: Vec<PathBuf>,
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
    }
}
