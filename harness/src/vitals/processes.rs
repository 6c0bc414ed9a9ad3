//! The processes of the system's tree: memory, CPU time, threads, handles.
//!
//! One process costs some 40 us a tick. A process that ends meanwhile is simply not in the row; a zombie has no
//! memory left to tell of and is left out too.

use std::collections::{BTreeMap, BTreeSet};

use floodrig_reports::recording::PidVital;
use procfs::process::Process;

use crate::keeper::{Identity, Tree};
use crate::system::cores;

/// Samples the tree below one process.
#[derive(Debug)]
pub(super) struct Processes {
    tree: Option<Tree>,
    system_cores: Vec<u32>,
    known: BTreeMap<Identity, Process>,
    noted: BTreeSet<Identity>,
}

/// One tick's sample.
#[derive(Debug, Default)]
pub(super) struct Tick {
    /// Every living process of the tree.
    pub(super) pids: Vec<PidVital>,
    /// What is worth a note on the report's time axis, once for each process.
    pub(super) notes: Vec<String>,
}

impl Processes {
    /// Of this tree, which is to stay on these cores; of nothing at all without one.
    pub(super) fn new(tree: Option<Tree>, system_cores: Vec<u32>) -> Self {
        Self { tree, system_cores, known: BTreeMap::new(), noted: BTreeSet::new() }
    }

    /// Samples everything alive.
    pub(super) fn tick(&mut self) -> Tick {
        // The kernel's list of children can miss one while another ends, so known ones are kept until they end.
        for identity in self.tree.map(Tree::processes).unwrap_or_default() {
            if let Ok(process) = Process::new(identity.pid as i32) {
                self.known.entry(identity).or_insert(process);
            }
        }
        let mut tick = Tick::default();
        let (cores, noted) = (&self.system_cores, &mut self.noted);
        self.known.retain(|identity, process| match sample(*identity, process) {
            None => false,
            Some(sample) => {
                if noted.len() < NOTED && !noted.contains(identity) {
                    let notes = sample.notes(cores);
                    if !notes.is_empty() {
                        noted.insert(*identity);
                    }
                    tick.notes.extend(notes);
                }
                tick.pids.push(sample.vital);
                true
            }
        });
        tick
    }
}

/// Processes that get a note; a system that starts thousands of strays makes the point with the first hundred.
const NOTED: usize = 100;

struct Sample {
    vital: PidVital,
    cores: Vec<u32>,
    handles_hidden: bool,
}

impl Sample {
    fn notes(&self, system_cores: &[u32]) -> Vec<String> {
        let PidVital { pid, name, .. } = &self.vital;
        let mut notes = Vec::new();
        if self.cores.iter().any(|core| !system_cores.contains(core)) {
            notes.push(format!(
                "pid {pid} ({name}) has left the system's cores: it may use {}",
                cores::ranges(&self.cores)
            ));
        }
        if self.handles_hidden {
            notes.push(format!("the handles of pid {pid} ({name}) cannot be counted: it runs as another user"));
        }
        notes
    }
}

/// Nothing: the process has ended.
fn sample(identity: Identity, process: &Process) -> Option<Sample> {
    let (stat, status) = (process.stat().ok()?, process.status().ok()?);
    // The handle on its folder in /proc stays with the old process, so its start time is that of this very one.
    let rss = status.vmrss?;
    let handles = process.fd_count();
    let vital = PidVital {
        pid: identity.pid,
        name: status.name,
        rss_bytes: rss * 1024,
        hwm_bytes: status.vmhwm.unwrap_or(rss) * 1024,
        cpu_us: (stat.utime + stat.stime) * 1_000_000 / procfs::ticks_per_second(),
        threads: status.threads,
        handles: handles.as_ref().ok().map(|count| *count as u64),
    };
    let cores = status.cpus_allowed_list.unwrap_or_default().into_iter().flat_map(|(from, to)| from..=to).collect();
    Some(Sample { vital, cores, handles_hidden: handles.is_err() })
}
