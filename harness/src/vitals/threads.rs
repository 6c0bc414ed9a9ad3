//! What the kernel keeps for each thread alone, added up over all that a process has had: how long they waited for a
//! processor, and how often they gave it up or lost it.
//!
//! Some 15 us a thread, so it is read once a second and not at every tick; the last second of a thread is lost with it.

use std::collections::BTreeMap;

use procfs::process::Process;

/// One process's threads, by id.
#[derive(Debug, Default)]
pub(super) struct Threads {
    last: BTreeMap<i32, Account>,
}

/// Since the start; nothing: this kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) waited_us: Option<u64>,
    pub(super) switches_voluntary: Option<u64>,
    pub(super) switches_forced: Option<u64>,
}

impl Threads {
    /// Reads every thread that lives; those that have ended keep what was last seen of them.
    pub(super) fn look(&mut self, process: &Process) {
        for task in process.tasks().into_iter().flatten().flatten() {
            let status = task.status().ok();
            let account = Account {
                waited_us: task.schedstat().ok().map(|times| times.run_delay / 1000),
                switches_voluntary: status.as_ref().and_then(|status| status.voluntary_ctxt_switches),
                switches_forced: status.and_then(|status| status.nonvoluntary_ctxt_switches),
            };
            self.last.insert(task.tid, account);
        }
    }

    /// Whether none was read so far.
    pub(super) fn is_new(&self) -> bool {
        self.last.is_empty()
    }

    /// All together, as they were last seen.
    pub(super) fn sum(&self) -> Account {
        let sum = |of: fn(&Account) -> Option<u64>| self.last.values().filter_map(of).reduce(|sum, one| sum + one);
        Account {
            waited_us: sum(|account| account.waited_us),
            switches_voluntary: sum(|account| account.switches_voluntary),
            switches_forced: sum(|account| account.switches_forced),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_counts_beside_the_main_one_and_after_its_end() {
        let me = Process::myself().unwrap();
        let ((said, hear), (go, wait)) = (channel(), channel::<()>());
        let other = thread::spawn(move || {
            for _ in 0..50 {
                thread::sleep(std::time::Duration::from_micros(100));
            }
            said.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            let _over = wait.recv();
        });
        let id = hear.recv().unwrap();
        let mut threads = Threads::default();
        threads.look(&me);
        let gave_up = |threads: &Threads| threads.last[&id].switches_voluntary;
        assert!(gave_up(&threads) >= Some(50), "{:?}", threads.last[&id]);
        assert!(threads.sum().switches_voluntary > gave_up(&threads));
        drop(go);
        other.join().unwrap();
        threads.look(&me);
        assert!(gave_up(&threads) >= Some(50));
    }
}
