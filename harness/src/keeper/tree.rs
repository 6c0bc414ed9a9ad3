//! A tree of processes as the kernel shows it in `/proc`: who descends from whom, and a signal to just those.
//!
//! A process is known by its id and its start time, so that an id used again is never taken for the old process.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::os::fd::OwnedFd;

use procfs::process::{Process, Stat, all_processes};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// One process, told from any later one of the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The process id.
    pub pid: u32,
    /// Clock ticks from boot to its start.
    pub start: u64,
}

impl Identity {
    /// The process of this id, unless there is none or it has ended (a zombie has).
    pub fn of(pid: u32) -> Option<Self> {
        Self::living(&Process::new(pid as i32).ok()?.stat().ok()?)
    }

    fn living(stat: &Stat) -> Option<Self> {
        (!matches!(stat.state, 'Z' | 'X')).then_some(Self { pid: stat.pid as u32, start: stat.starttime })
    }

    /// The name of the program it is now; another one after it has executed something else.
    pub(crate) fn program(self) -> Option<String> {
        let stat = Process::new(self.pid as i32).ok()?.stat().ok()?;
        (stat.starttime == self.start).then_some(stat.comm)
    }

    /// A handle on this very process, which becomes readable when it ends (`pidfd_open(2)`, Linux 5.3); nothing when it
    /// has ended already.
    pub(crate) fn handle(self) -> Option<OwnedFd> {
        let handle = pidfd_open(Pid::from_raw(self.pid as i32)?, PidfdFlags::empty()).ok()?;
        // The handle now names one process for good: look again whether it is the one that was meant.
        (Self::of(self.pid) == Some(self)).then_some(handle)
    }

    /// Sends a signal to this very process; nothing happens when it has ended.
    pub(super) fn signal(self, signal: Signal) {
        if let Some(handle) = self.handle() {
            // It may have ended since, which is what the signal was for; the next walk finds it if it refused.
            let _sent = pidfd_send_signal(handle, signal);
        }
    }
}

/// Processes that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// All that descend from this one, which is the rig's own.
    Below(u32),
    /// This one, which somebody else has started, and all that descend from it.
    From(u32),
}

impl Tree {
    /// Everything alive of it, nearest first.
    pub fn processes(self) -> Vec<Identity> {
        match self {
            Self::Below(root) => descendants(root),
            Self::From(root) => Identity::of(root).into_iter().chain(descendants(root)).collect(),
        }
    }

    /// The living processes among these ids, in their order, that are children of the root, of one of `members` or of
    /// one before.
    pub(crate) fn newcomers(self, ids: impl Iterator<Item = u32>, mut members: BTreeSet<u32>) -> Vec<Identity> {
        let (Self::Below(root) | Self::From(root)) = self;
        members.insert(root);
        let mut found = Vec::new();
        for process in ids.filter_map(|id| Process::new(id as i32).ok()) {
            let Ok(stat) = process.stat() else { continue };
            // The id of a thread opens the folder of its process, under the thread's id.
            let is_process = || process.status().is_ok_and(|status| status.tgid == process.pid);
            if members.contains(&(stat.ppid as u32)) && is_process() {
                members.insert(process.pid as u32);
                found.extend(Identity::living(&stat));
            }
        }
        found
    }
}

/// Kills this very process; nothing happens when it has ended.
pub fn kill(process: Identity) {
    process.signal(Signal::KILL);
}

/// Everything alive that descends from `root`, itself left out, nearest first.
pub fn descendants(root: u32) -> Vec<Identity> {
    let mut by_parent = None;
    let mut seen = BTreeSet::from([root]);
    let mut queue = VecDeque::from([root]);
    let mut found = Vec::new();
    while let Some(pid) = queue.pop_front() {
        let children = children(pid)
            .unwrap_or_else(|| by_parent.get_or_insert_with(children_by_parent).get(&pid).cloned().unwrap_or_default());
        for child in children.into_iter().filter(|child| seen.insert(*child)) {
            found.extend(Identity::of(child));
            queue.push_back(child);
        }
    }
    found
}

/// The child of `root` that this process is or descends from.
pub fn branch(root: u32, pid: u32) -> Option<u32> {
    let parent = |pid: u32| Some(Process::new(pid as i32).ok()?.stat().ok()?.ppid as u32);
    let line = std::iter::successors(Some(pid), |pid| parent(*pid).filter(|parent| *parent > 1));
    line.take_while(|pid| *pid != root).last().filter(|first| parent(*first) == Some(root))
}

/// The living children of one process.
pub(super) fn offspring(parent: u32) -> Vec<Identity> {
    let listed = children(parent);
    let found = listed.unwrap_or_else(|| children_by_parent().remove(&parent).unwrap_or_default());
    found.into_iter().filter_map(Identity::of).collect()
}

/// The children of all of a process's threads, since a child belongs to the thread that forked it.
/// Nothing: this kernel keeps no such list (it needs `CONFIG_PROC_CHILDREN`).
fn children(pid: u32) -> Option<Vec<u32>> {
    let Ok(tasks) = Process::new(pid as i32).and_then(|process| process.tasks()) else { return Some(Vec::new()) };
    let mut all = Vec::new();
    for task in tasks.flatten() {
        match task.children() {
            Ok(children) => all.extend(children),
            // A thread that ended between the listing and the reading has handed its children on.
            Err(_) if task.stat().is_err() => {}
            Err(_) => return None,
        }
    }
    Some(all)
}

/// The slow way, which every kernel has: each process names its parent.
fn children_by_parent() -> BTreeMap<u32, Vec<u32>> {
    let mut tree: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for stat in all_processes().into_iter().flatten().flatten().flat_map(|process| process.stat()) {
        tree.entry(stat.ppid as u32).or_default().push(stat.pid as u32);
    }
    tree
}

/// Every process that was started with this variable in its environment.
pub(super) fn marked(name: &str, value: &str) -> Vec<Identity> {
    let carries = |process: &Process| {
        let environment = process.environ().unwrap_or_default();
        environment.get(std::ffi::OsStr::new(name)).is_some_and(|found| found == value)
    };
    let processes = all_processes().into_iter().flatten().flatten();
    processes.filter(carries).filter_map(|process| Identity::of(process.pid as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn both_ways_of_finding_children_agree() {
        let mut child = sleeper();
        let me = std::process::id();
        assert!(children(me).unwrap().contains(&child.id()));
        assert!(children_by_parent()[&me].contains(&child.id()));
        assert!(descendants(me).iter().any(|found| found.pid == child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_of_the_branch_of_the_child_that_it_descends_from() {
        let mut shell = Command::new("sh").args(["-c", "sleep 1000; :"]).stdin(Stdio::null()).spawn().unwrap();
        let (me, child) = (std::process::id(), shell.id());
        while descendants(child).is_empty() {
            std::thread::yield_now();
        }
        let grandchild = descendants(child)[0];
        assert_eq!([branch(me, child), branch(me, grandchild.pid)], [Some(child); 2]);
        assert_eq!((branch(me, me), branch(child, me)), (None, None));
        grandchild.signal(Signal::KILL);
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_newcomer_is_a_child_of_the_tree_and_no_thread_of_it() {
        let mut shell = Command::new("sh").args(["-c", "sleep 1000 & wait"]).stdin(Stdio::null()).spawn().unwrap();
        while descendants(shell.id()).is_empty() {
            std::thread::yield_now();
        }
        let grandchild = descendants(shell.id())[0];
        let (tree, ids) = (Tree::Below(std::process::id()), [shell.id(), grandchild.pid]);
        let new = |ids: &[u32], members: &[u32]| {
            let found = tree.newcomers(ids.iter().copied(), members.iter().copied().collect());
            found.into_iter().map(|identity| identity.pid).collect::<Vec<_>>()
        };
        assert_eq!(new(&ids, &[]), ids);
        assert!(new(&[grandchild.pid], &[]).is_empty(), "its parent is not known to belong to the tree");
        assert_eq!(new(&[grandchild.pid], &[shell.id()]), [grandchild.pid]);
        let parent = std::os::unix::process::parent_id();
        assert_eq!(new(&[std::process::id()], &[parent]), [std::process::id()]);
        let id = || rustix::thread::gettid().as_raw_nonzero().get() as u32;
        std::thread::scope(|scope| scope.spawn(|| assert!(new(&[id()], &[parent]).is_empty())).join().unwrap());
        grandchild.signal(Signal::KILL);
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_process_of_the_same_id_but_another_start_is_left_alone() {
        let mut child = sleeper();
        let right = Identity::of(child.id()).unwrap();
        Identity { start: right.start + 1, ..right }.signal(Signal::KILL);
        assert_eq!(Identity::of(child.id()), Some(right));
        right.signal(Signal::KILL);
        child.wait().unwrap();
        assert_eq!(Identity::of(child.id()), None);
    }

    #[test]
    fn a_zombie_has_ended() {
        let mut child = sleeper();
        let identity = Identity::of(child.id()).unwrap();
        identity.signal(Signal::KILL);
        while Identity::of(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(descendants(std::process::id()).iter().all(|found| *found != identity));
        child.wait().unwrap();
    }
}
