//! The processes of the system's tree: memory, CPU time, threads, handles.
//!
//! A process that ends meanwhile is simply not in the row; a zombie has no memory left to tell of and is left out too.
//! What it costs is shown by `scripts/bench observe`.

use std::collections::{BTreeMap, BTreeSet};

use floodrig_reports::recording::PidVital;
use procfs::ProcError;
use procfs::process::{LimitValue, Process};

use super::births::{Births, Look};
use super::files::{Files, Status};
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
    births: Births,
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
        Self {
            whose,
            system_cores,
            births: Births::default(),
            known: BTreeMap::new(),
            noted: BTreeSet::new(),
            ticks: 0,
        }
    }

    /// The memory of all that lives, shared pages divided among those that share them; nothing when any is hidden. Some
    /// 0.4 ms for 10 MB and 28 ms for 2 GB, during which the process may have to wait: for the end of a run.
    pub(super) fn pss_bytes(&self) -> Option<u64> {
        let pss = self.known.values().map(|known| (known.pss_bytes(), &known.process));
        // One that has ended meanwhile has none left.
        let living = pss.filter(|(pss, process)| pss.is_some() || process.is_alive());
        living.map(|(pss, _)| pss).reduce(|sum, one| Some(sum? + one?)).flatten()
    }

    /// Looks for processes that are new in the tree.
    fn look_for_new(&mut self, at_leisure: bool) {
        let Some(tree) = self.whose.tree else { return };
        let found = match self.births.look(at_leisure) {
            Look::Nowhere => return,
            Look::Among(ids) => tree.newcomers(ids, self.known.keys().map(|known| known.pid).collect()),
            Look::Anywhere => tree.processes(),
        };
        self.meet(found);
    }

    fn meet(&mut self, found: Vec<Identity>) {
        for identity in found {
            if self.known.contains_key(&identity) {
                continue;
            }
            if let Ok(process) = Process::new(identity.pid as i32) {
                let files = Files::of(identity, self.known.len() < STAY_OPEN);
                let handles_limit = handles_limit(&process);
                let (status, threads) = (Status::default(), Threads::default());
                self.known.insert(identity, Known { process, files, handles_limit, status, threads });
            }
        }
    }

    /// Samples everything alive.
    pub(super) fn tick(&mut self) -> Tick {
        let all = self.ticks.is_multiple_of(ALL_EVERY);
        self.look_for_new(all);
        let mut tick = Tick::default();
        let (cores, noted, whose) = (&self.system_cores, &mut self.noted, self.whose);
        self.ticks += 1;
        self.known.retain(|identity, known| match known.sample(*identity, whose, all) {
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

/// Processes whose files stay open; three handles each are few among those that the rig needs for its connections.
const STAY_OPEN: usize = 100;
/// In one tick of so many all is read: what changes slowly, or takes the kernel long to tell, such as the peak of memory
/// (a higher one is seen at once in what is resident) and the threads. What is known is kept until it ends.
const ALL_EVERY: u32 = 10;
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
    files: Files,
    handles_limit: Option<u64>,
    status: Status,
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
    fn pss_bytes(&self) -> Option<u64> {
        let maps = self.process.smaps_rollup().ok()?.memory_map_rollup;
        maps.into_iter().next()?.extension.map.get("Pss").copied()
    }

    /// Nothing: the process has ended.
    fn sample(&mut self, identity: Identity, whose: Whose, all: bool) -> Option<Sample> {
        let process = &self.process;
        if all || self.threads.is_new() {
            self.threads.look(process);
            self.status = self.files.status()?;
        }
        let threads = self.threads.sum();
        let said = self.files.stat().filter(|said| said.start == identity.start)?;
        let rss_bytes = said.rss_pages * procfs::page_size();
        let handles = match process.fd_count() {
            Err(ProcError::NotFound(_)) => return None,
            counted => counted,
        };
        let vital = PidVital {
            pid: identity.pid,
            name: said.name,
            rss_bytes,
            hwm_bytes: self.status.hwm_bytes.max(rss_bytes),
            cpu_us: of_ticks(said.cpu_ticks),
            waited_for_cpu_us: of_ticks(said.children_ticks),
            threads: said.threads,
            handles: handles.as_ref().ok().map(|count| *count as u64),
            start: identity.start,
            handles_limit: self.handles_limit,
            waited_us: threads.waited_us,
            switches_voluntary: threads.switches_voluntary,
            switches_forced: threads.switches_forced,
            major_faults: Some(said.major_faults),
        };
        // One whose parent has ended comes to the keeper, whose own child the command is.
        let is_orphan = whose.keeps_orphans(said.parent) && whose.command != Some(identity.pid);
        Some(Sample { vital, cores: cores_of(&self.status.cores), handles_hidden: handles.is_err(), is_orphan })
    }
}

/// Microseconds.
fn of_ticks(ticks: u64) -> u64 {
    ticks * 1_000_000 / procfs::ticks_per_second()
}

/// Such as `0-3,7`.
fn cores_of(list: &str) -> Vec<u32> {
    let ranges = list.split(',').filter_map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse().ok()?..=to.trim().parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Nothing: it has none, or it is hidden.
fn handles_limit(process: &Process) -> Option<u64> {
    match process.limits().ok()?.max_open_files.soft_limit {
        LimitValue::Value(limit) => Some(limit),
        LimitValue::Unlimited => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_read_as_the_kernel_lists_them() {
        assert_eq!(cores_of("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(cores_of("3"), [3]);
        assert!(cores_of("").is_empty());
    }
}
