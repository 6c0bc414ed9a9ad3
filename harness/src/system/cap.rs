//! A limit of memory where no control group is to be had: a thread that adds up the tree's memory ten times a second
//! and kills what has most of it once that is too much. Not what the kernel does: it may be overshot meanwhile, and
//! pages that processes share are counted for each.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use procfs::process::Process;

use crate::keeper::{Identity, descendants, kill};

const PERIOD: Duration = Duration::from_millis(100);

/// The cap at work.
#[derive(Debug)]
pub(super) struct Cap {
    stop: SyncSender<()>,
    thread: JoinHandle<Option<u64>>,
    limit: u64,
}

impl Cap {
    /// Holds the tree below `root` to this many bytes.
    pub(super) fn start(root: u32, limit: u64) -> Self {
        let (stop, stopped) = sync_channel(1);
        let thread = std::thread::spawn(move || watch(root, limit, &stopped));
        Self { stop, thread, limit }
    }

    /// Ends it; what it did, in words, if it had to.
    pub(super) fn finish(self) -> Option<String> {
        drop(self.stop);
        let seen = self.thread.join().expect("the cap never panics")?;
        let [seen, limit] = [seen, self.limit].map(floodrig_reports::Value::Size);
        Some(format!(
            "what had most memory was killed by the rig at {seen}: an emulated cap of {limit}, which may be overshot"
        ))
    }
}

/// What the tree had when it was first too much.
fn watch(root: u32, limit: u64, stop: &Receiver<()>) -> Option<u64> {
    let mut killed_at = None;
    loop {
        match stop.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return killed_at,
        }
        let sizes: Vec<(u64, Identity)> = descendants(root).into_iter().filter_map(size).collect();
        let all: u64 = sizes.iter().map(|(bytes, _)| bytes).sum();
        if all > limit {
            killed_at = killed_at.or(Some(all));
            sizes.iter().max().into_iter().for_each(|(_, largest)| kill(*largest));
        }
    }
}

fn size(identity: Identity) -> Option<(u64, Identity)> {
    let pages = Process::new(identity.pid as i32).ok()?.statm().ok()?.resident;
    Some((pages * procfs::page_size(), identity))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A shell below which `tail` keeps the last 100 MiB of a long stream.
    fn growing() -> std::process::Child {
        Command::new("sh").args(["-c", "head -c 1G /dev/zero | tail -c 100M"]).spawn().unwrap()
    }

    #[test]
    fn a_tree_that_grows_beyond_the_cap_is_killed_and_the_ending_says_by_whom() {
        let mut tree = growing();
        let cap = Cap::start(tree.id(), 20 << 20);
        assert_eq!(tree.wait().unwrap().code(), Some(137));
        let words = cap.finish().unwrap();
        assert!(words.contains("killed by the rig at ") && words.contains("emulated cap of 20.0 MiB"), "{words}");
    }

    #[test]
    fn a_tree_within_the_cap_is_let_alone() {
        let mut tree = Command::new("sh").args(["-c", "sleep 0.5; :"]).spawn().unwrap();
        let cap = Cap::start(tree.id(), 1 << 30);
        assert!(tree.wait().unwrap().success());
        assert_eq!(cap.finish(), None);
    }
}
