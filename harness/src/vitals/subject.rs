//! What is observed, and how each observation of it begins, or why it does not.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use floodrig_reports::recording::{Row, Towards};

use super::connects::Connects;
use super::heartbeat::{Door, Folder, Standing, unseen};
use super::kernel_said;
use super::listen::ListenQueues;
use super::outbound::{OutboundWatch, Watched};
use super::own::Threads;
use super::own_connects::OwnConnects;
use super::probe::Probe;
use super::processes::{Processes, Whose};
use super::served::{Served, WaitsFor};
use super::steady::Steady;
use crate::keeper::Tree;
use crate::system::{Clock, port};

/// Connects come between two requests, and between two looks at the system's handles, which shall not count them.
const BETWEEN: Duration = Duration::from_millis(25);

/// What is observed.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The system's processes, or why they are not watched.
    pub tree: Result<Tree, String>,
    /// The process of the command itself, when the rig has started it.
    pub command: Option<u32>,
    /// Where the system listens, or why it is not watched there.
    pub address: Result<SocketAddr, String>,
    /// What the probe asks for, the path of readiness or `/`, or why it asks for nothing.
    pub path: Result<String, String>,
    /// Whether the system bears connections that are closed without a word, or why it is not connected to so.
    pub connects: Result<(), String>,
    /// Whether it is watched from outside as often beside a heartbeat as without one.
    pub often: bool,
    /// The cores that the system is to stay on.
    pub system_cores: Vec<u32>,
    /// Those that its threads have, as far as they are known.
    pub seen_cores: Vec<u32>,
    /// The rig's own cores.
    pub rig_cores: Vec<u32>,
    /// The rig's threads that can be its limit by themselves.
    pub threads: Threads,
    /// Where the probes inside the system write, or why there are none.
    pub heartbeat: Result<Arc<Folder>, String>,
    /// What listens on a port that the system may connect to, where the run knows.
    pub neighbours: BTreeMap<u16, String>,
    /// The services beside the system: the name of each and the process below which it lives.
    pub services: Vec<(String, u32)>,
}

impl Subject {
    /// Whether its loops are seen from inside.
    pub(super) fn heartbeat(&self, clock: Clock) -> Standing {
        let folder = match &self.heartbeat {
            Ok(folder) => folder,
            Err(why) => return Standing::Inactive(why.clone()),
        };
        match &self.tree {
            Ok(tree) => Standing::of(folder, *tree, self.door(), clock),
            Err(why) => Standing::Inactive(why.clone()),
        }
    }

    pub(super) fn door(&self) -> Door {
        let stub = || self.neighbours.iter().find(|(_, name)| *name == Towards::STUB).map(|(port, _)| *port);
        self.address.as_ref().map_or_else(|_| Door::Calls(stub()), |address| Door::Listens(address.port()))
    }

    /// Its loops that serve at the end and are not seen, in words: a worker that came later may be among them.
    pub(super) fn unseen(&self, clock: Clock) -> Option<String> {
        let (folder, tree, address) =
            (self.heartbeat.as_ref().ok()?, self.tree.as_ref().ok()?, self.address.as_ref().ok()?);
        unseen(folder, *tree, address.port(), clock)
    }

    /// Begins to ask it, whoever else asks.
    pub(super) fn probe(&self, steady: Steady, clock: Clock, own_connects: &Arc<OwnConnects>) -> Result<Probe, String> {
        let (address, path) = (self.address.clone()?, self.path.clone()?);
        let served = self
            .here()
            .ok()
            .and_then(|here| Served::of(here.port(), clock, Arc::clone(own_connects), WaitsFor::Answer).ok());
        Probe::start(address, &path, steady, clock, served).ok_or_else(|| format!("no answer to GET {path} within 2 s"))
    }

    /// Begins to connect to it.
    pub(super) fn connects(
        &self,
        steady: Steady,
        clock: Clock,
        own_connects: &Arc<OwnConnects>,
    ) -> Result<Connects, String> {
        let here = self.here()?;
        self.connects.clone()?;
        Connects::start(here, Steady { from: steady.from + BETWEEN, ..steady }, clock, Arc::clone(own_connects))
    }

    /// Where the system listens: the kernel shows the queues and the connections of this machine alone.
    fn here(&self) -> Result<SocketAddr, String> {
        let address = self.address.clone()?;
        if address.ip().is_loopback() { Ok(address) } else { Err("the system is on another machine".to_owned()) }
    }

    /// Its queues, as the kernel shows them.
    pub(super) fn listen_queue(&self) -> Result<ListenQueues, String> {
        let address = self.here()?;
        let queue = ListenQueues::of(address.port()).and_then(|queue| queue.look().map(|_| queue));
        queue.map_err(kernel_said)
    }

    /// Its processes, once one of them was seen.
    pub(super) fn tree(&self) -> Result<Tree, String> {
        let tree = self.tree.clone()?;
        let seen = !Processes::new(Whose { tree: Some(tree), command: self.command }, self.system_cores.clone())
            .tick()
            .pids
            .is_empty();
        if seen { Ok(tree) } else { Err("/proc shows no process of the system".to_owned()) }
    }

    /// Why a process that the rig was told of may not be the system.
    pub(super) fn remark(&self) -> Option<String> {
        let Ok(tree @ Tree::From(pid)) = self.tree else { return None };
        let port = self.here().ok()?.port();
        let pids: Vec<u32> = tree.processes().iter().map(|process| process.pid).collect();
        let stranger = port::stranger(&pids, port)?;
        Some(format!(
            "pid {pid} does not listen on port {port}, {stranger} does: figures and the end are of another process, \
             unless that one hands on to it"
        ))
    }

    /// Begins to count its own connections.
    pub(super) fn connections(&self, clock: Clock, rows: &SyncSender<Row>) -> Result<OutboundWatch, String> {
        let own_ports = self.address.iter().map(SocketAddr::port).collect();
        let watched = Watched { tree: self.tree.clone()?, own_ports, names: self.neighbours.clone() };
        OutboundWatch::start(watched, clock, rows.clone()).map_err(kernel_said)
    }
}
