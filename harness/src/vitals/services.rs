//! The services beside the system, twice a second: a database has a score of processes, at some 40 us each.

use floodrig_reports::recording::{PidVital, ServiceVital};

use super::processes::{Processes, Whose};
use crate::keeper::Tree;

/// One tick of the observer in so many.
const EVERY: u32 = 5;

/// Samples every service.
#[derive(Debug)]
pub(super) struct Services {
    each: Vec<(String, Processes)>,
    ticks: u32,
}

impl Services {
    /// By name and root; they may use these cores.
    pub(super) fn new(services: &[(String, u32)], cores: &[u32]) -> Self {
        let one = |(name, root): &(String, u32)| {
            (name.clone(), Processes::new(Whose { tree: Some(Tree::Below(*root)), command: None }, cores.to_vec()))
        };
        Self { each: services.iter().map(one).collect(), ticks: 0 }
    }

    /// What each uses, when it is time to look.
    pub(super) fn tick(&mut self) -> Vec<ServiceVital> {
        self.ticks += 1;
        if self.ticks % EVERY != 1 {
            return Vec::new();
        }
        self.each.iter_mut().map(|(name, processes)| vital(name, processes)).collect()
    }
}

fn vital(name: &str, processes: &mut Processes) -> ServiceVital {
    let pids = processes.tick().pids;
    let sum = |of: fn(&PidVital) -> u64| pids.iter().map(of).sum();
    ServiceVital {
        name: name.to_owned(),
        processes: pids.len() as u64,
        rss_bytes: sum(|pid| pid.rss_bytes),
        cpu_us: sum(|pid| pid.cpu_us),
        handles: PidVital::whole(&pids, |pid| pid.handles),
    }
}
