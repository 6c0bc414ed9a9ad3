//! The processes of the system's tree: memory, CPU time, threads, handles.
//!
//! One process costs some 50 us a tick, half a thousandth of a core at ten a second. A process that ends meanwhile is
//! simply not in the row; a zombie has no memory left to tell of and is left out too.

use std::collections::{BTreeMap, BTreeSet};

use floodrig_reports::recording::PidVital;
use procfs::process::{LimitValue, Process};

use super::threads::Threads;
use crate::keeper::{Identity, Tree};
use crate::system::cores;

/// Whose processes they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    /// They themselves; nothing: they are not known.
    pub(super) tree: Option<Tree>,
    /// The command that the keeper was started with.
    pub(super) command: Option<u32>,
}

impl Whose {
    /// Whether this is the keeper of a command, to which a process comes whose parent has ended.
    fn keeps_orphans(self, parent: u32) -> bool {
        match self.tree {
            Some(Tree::Below(root)) => self.command.is_some() && parent == root,
            Some(Tree::From(_)) | None => false,
        }
    }
}

/// Samples the tree below one process.
#[derive(Debug)]
pub(super) struct Processes {
    whose: Whose,
    system_cores: Vec<u32>,
    known: BTreeMap<Identity, Known>,
    /// Whether it was an orphan by then.
    noted: BTreeSet<(Identity, bool)>,
    ticks: u32,
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
    /// Of these, which are to stay on these cores; of nothing at all without a tree.
    pub(super) fn new(whose: Whose, system_cores: Vec<u32>) -> Self {
        Self { whose, system_cores, known: BTreeMap::new(), noted: BTreeSet::new(), ticks: 0 }
    }

    /// The memory of all that lives, shared pages divided among those that share them; nothing when it is hidden. Some
    /// 0.4 ms for 10 MB and 28 ms for 2 GB, during which the process may have to wait: for the end of a run.
    pub(super) fn pss_bytes(&self) -> Option<u64> {
        let of_one = |known: &Known| {
            let maps = known.process.smaps_rollup().ok()?.memory_map_rollup;
            maps.into_iter().next()?.extension.map.get("Pss").copied()
        };
        self.known.values().filter_map(of_one).reduce(|sum, one| sum + one)
    }

    /// Samples everything alive.
    pub(super) fn tick(&mut self) -> Tick {
        // The kernel's list of children can miss one while another ends, so known ones are kept until they end.
        for identity in self.whose.tree.map(Tree::processes).unwrap_or_default() {
            if let Ok(process) = Process::new(identity.pid as i32) {
                let known = || Known { handles_limit: handles_limit(&process), process, threads: Threads::default() };
                self.known.entry(identity).or_insert_with(known);
            }
        }
        let mut tick = Tick::default();
        let (cores, noted, whose) = (&self.system_cores, &mut self.noted, self.whose);
        let threads_too = self.ticks.is_multiple_of(THREADS_EVERY);
        self.ticks += 1;
        self.known.retain(|identity, known| match known.sample(*identity, whose, threads_too) {
            None => false,
            Some(sample) => {
                if noted.len() < NOTED && !noted.contains(&(*identity, sample.is_orphan)) {
                    let notes = sample.notes(cores);
                    if !notes.is_empty() {
                        noted.insert((*identity, sample.is_orphan));
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

/// Threads are read in one tick of so many.
const THREADS_EVERY: u32 = 10;
/// Processes that get a note; a system that starts thousands of strays makes the point with the first hundred.
const NOTED: usize = 100;

struct Sample {
    vital: PidVital,
    cores: Vec<u32>,
    handles_hidden: bool,
    is_orphan: bool,
}

/// A process, and what does not change.
#[derive(Debug)]
struct Known {
    process: Process,
    handles_limit: Option<u64>,
    threads: Threads,
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
        if self.is_orphan {
            notes.push(format!("pid {pid} ({name}) has outlived its parent; it is stopped with the rest"));
        }
        notes
    }
}

impl Known {
    /// Nothing: the process has ended.
    fn sample(&mut self, identity: Identity, whose: Whose, threads_too: bool) -> Option<Sample> {
        let process = &self.process;
        if threads_too || self.threads.is_new() {
            self.threads.look(process);
        }
        let threads = self.threads.sum();
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
            start: identity.start,
            handles_limit: self.handles_limit,
            waited_us: threads.waited_us,
            switches_voluntary: threads.switches_voluntary,
            switches_forced: threads.switches_forced,
            major_faults: Some(stat.majflt),
        };
        let cores = status.cpus_allowed_list.unwrap_or_default().into_iter().flat_map(|(from, to)| from..=to).collect();
        // One whose parent has ended comes to the keeper, whose own child the command is.
        let is_orphan = whose.keeps_orphans(stat.ppid as u32) && whose.command != Some(identity.pid);
        Some(Sample { vital, cores, handles_hidden: handles.is_err(), is_orphan })
    }
}

/// Nothing: it has none, or it is hidden.
fn handles_limit(process: &Process) -> Option<u64> {
    match process.limits().ok()?.max_open_files.soft_limit {
        LimitValue::Value(limit) => Some(limit),
        LimitValue::Unlimited => None,
    }
}
