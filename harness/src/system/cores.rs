//! Who gets which cores: decided from what was asked for and what the machine has, then verified on the threads.

use std::io;

use procfs::process::Process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::keeper::Tree;
use crate::scenario::Cores;

/// The cores of the system and of the rig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreSets {
    /// The system's, ascending.
    pub system: Vec<u32>,
    /// The rig's and the stub's, ascending.
    pub rig: Vec<u32>,
    /// What was asked for and not to be had, in words.
    pub note: Option<String>,
}

/// Cores that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoreError {
    /// A core was named that this process may not use.
    #[error("core {core} does not exist here: the cores to be had are {}", ranges(.machine))]
    NoSuchCore {
        /// The core.
        core: u32,
        /// Those there are.
        machine: Vec<u32>,
    },
    /// Not a single core was asked for.
    #[error("the system needs a core: ask for at least one")]
    None,
}

impl CoreSets {
    /// Whether a core is in both.
    pub fn shared(&self) -> bool {
        self.system.iter().any(|core| self.rig.contains(core))
    }
}

/// Divides the machine: a count takes the last cores, a list takes those it names, and the rig keeps off them as
/// long as one is left. Otherwise it shares the first, and says so.
pub fn split(asked: &Cores, machine: &[u32]) -> Result<CoreSets, CoreError> {
    let system = match asked {
        Cores::Count(count) => last(machine, *count as usize),
        Cores::List(list) => listed(list, machine)?,
    };
    let first = *system.first().ok_or(CoreError::None)?;
    let mut rig: Vec<u32> = machine.iter().copied().filter(|core| !system.contains(core)).collect();
    let shares = rig.is_empty();
    if shares {
        rig.push(first);
    }
    Ok(CoreSets { note: note(asked, machine, shares), system, rig })
}

fn last(machine: &[u32], count: usize) -> Vec<u32> {
    machine[machine.len().saturating_sub(count)..].to_vec()
}

fn listed(list: &[u32], machine: &[u32]) -> Result<Vec<u32>, CoreError> {
    if let Some(core) = list.iter().find(|core| !machine.contains(core)) {
        return Err(CoreError::NoSuchCore { core: *core, machine: machine.to_vec() });
    }
    Ok(machine.iter().copied().filter(|core| list.contains(core)).collect())
}

fn note(asked: &Cores, machine: &[u32], shares: bool) -> Option<String> {
    let count = match asked {
        Cores::Count(count) => *count as usize,
        Cores::List(list) => list.len(),
    };
    shares.then(|| {
        let (asked, has) = (plural(count), plural(machine.len()));
        format!(
            "{asked} asked for the system and one for the rig, {has} to be had: the rig shares a core with the system"
        )
    })
}

fn plural(count: usize) -> String {
    if count == 1 { "1 core".to_owned() } else { format!("{count} cores") }
}

/// `0-2,5`
pub fn ranges(cores: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for core in cores {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *core => *end = *core,
            Some(_) | None => runs.push((*core, *core)),
        }
    }
    let texts = runs.iter().map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    texts.collect::<Vec<_>>().join(",")
}

/// The cores this process may use. To be asked before the rig pins its own threads.
pub fn machine() -> io::Result<Vec<u32>> {
    let allowed = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32).filter(|core| allowed.is_set(*core as usize)).collect())
}

/// Pins the calling thread, and what it starts from now on.
pub fn pin_this_thread(cores: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Of the rig's cores those for everything but the driving thread, which has the first for itself; the only one is
/// shared.
pub fn beside_the_driver(rig: &[u32]) -> &[u32] {
    if rig.len() > 1 { &rig[1..] } else { rig }
}

/// Where the system's threads were really seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pinning {
    /// Every core that a thread of the tree may use, ascending.
    pub seen: Vec<u32>,
    /// The processes with a thread that may leave the system's cores.
    pub strays: Vec<Stray>,
}

/// A process that has widened its own affinity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The cores it may use.
    pub cores: Vec<u32>,
}

/// Reads the affinity of every thread of the tree.
pub fn verify(tree: Tree, system: &[u32]) -> Pinning {
    let mut pinning = Pinning::default();
    for identity in tree.processes() {
        let Some((name, cores)) = affinity(identity.pid) else { continue };
        pinning.seen.extend(&cores);
        if cores.iter().any(|core| !system.contains(core)) {
            pinning.strays.push(Stray { pid: identity.pid, name, cores });
        }
    }
    pinning.seen.sort_unstable();
    pinning.seen.dedup();
    pinning
}

/// The cores that any thread of a process may use; nothing when it has ended.
fn affinity(pid: u32) -> Option<(String, Vec<u32>)> {
    let process = Process::new(pid as i32).ok()?;
    let name = process.status().ok()?.name;
    let threads = process.tasks().ok()?.flatten().filter_map(|task| task.status().ok()?.cpus_allowed_list);
    let mut cores: Vec<u32> = threads.flatten().flat_map(|(from, to)| from..=to).collect();
    cores.sort_unstable();
    cores.dedup();
    Some((name, cores))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(asked: &Cores, machine: &[u32]) -> (Vec<u32>, Vec<u32>, bool) {
        let sets = split(asked, machine).unwrap();
        assert_eq!(sets.note.is_some(), sets.shared());
        (sets.system.clone(), sets.rig.clone(), sets.shared())
    }

    #[test]
    fn a_count_takes_the_last_cores_and_the_rig_the_others() {
        assert_eq!(sets(&Cores::Count(1), &[0, 1]), (vec![1], vec![0], false));
        assert_eq!(sets(&Cores::Count(2), &[0, 1, 2, 3]), (vec![2, 3], vec![0, 1], false));
    }

    #[test]
    fn the_rigs_other_threads_keep_off_the_driving_threads_core_unless_it_is_the_only_one() {
        assert_eq!(beside_the_driver(&[0, 2, 3]), [2, 3]);
        assert_eq!(beside_the_driver(&[4]), [4]);
    }

    #[test]
    fn a_list_takes_the_cores_it_names_once_and_in_order() {
        assert_eq!(sets(&Cores::List(vec![2, 0, 2]), &[0, 1, 2]), (vec![0, 2], vec![1], false));
    }

    #[test]
    fn with_no_core_left_the_rig_shares_the_first_and_says_so() {
        assert_eq!(sets(&Cores::Count(1), &[0]), (vec![0], vec![0], true));
        assert_eq!(sets(&Cores::Count(4), &[0, 1]), (vec![0, 1], vec![0], true));
        assert_eq!(sets(&Cores::List(vec![0, 1]), &[0, 1]), (vec![0, 1], vec![0], true));
        let note = split(&Cores::Count(4), &[0, 1]).unwrap().note.unwrap();
        assert_eq!(
            note,
            "4 cores asked for the system and one for the rig, 2 cores to be had: the rig shares a core with the system"
        );
    }

    #[test]
    fn a_core_that_does_not_exist_is_named_with_those_that_do() {
        let error = split(&Cores::List(vec![1, 7]), &[0, 1, 2, 5]).unwrap_err();
        assert_eq!(error.to_string(), "core 7 does not exist here: the cores to be had are 0-2,5");
    }

    #[test]
    fn no_core_at_all_is_refused() {
        assert_eq!(split(&Cores::Count(0), &[0, 1]), Err(CoreError::None));
        assert_eq!(split(&Cores::List(Vec::new()), &[0, 1]), Err(CoreError::None));
    }
}
