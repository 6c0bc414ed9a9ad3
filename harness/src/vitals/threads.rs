//! What the kernel keeps for each thread alone, added up over all that a process has had: how long they waited for a
//! processor, and how often they gave it up or lost it.
//!
//! Some 6 us for a thread that sleeps and 15 us for one that has run, so it is read once a second and not at every
//! tick; the last second of a thread is lost with it.

use std::collections::BTreeMap;
use std::fs;

use procfs::process::Process;

/// One process's threads, by id.
#[derive(Debug, Default)]
pub(super) struct Threads {
    last: BTreeMap<i32, Last>,
}

/// What was last seen of a thread.
#[derive(Debug)]
struct Last {
    account: Account,
    /// Its `schedstat` of then: while this stays the same it has not run, and nothing else has changed either.
    times: String,
}

/// Since the start; nothing: this kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) waited_us: Option<u64>,
    pub(super) switches_voluntary: Option<u64>,
    pub(super) switches_forced: Option<u64>,
}

impl Account {
    /// `proc_pid_status(5)`, whose last lines are the switches; and `schedstat`, where the wait in nanoseconds is the
    /// second field (`Documentation/scheduler/sched-stats.rst`).
    fn of(status: &str, times: &str) -> Self {
        let switches = |name: &str| status.lines().rev().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        Self {
            waited_us: times.split(' ').nth(1).and_then(|ns| ns.parse::<u64>().ok()).map(|ns| ns / 1000),
            switches_voluntary: switches("voluntary_ctxt_switches:"),
            switches_forced: switches("nonvoluntary_ctxt_switches:"),
        }
    }

    /// A thread that ends while it is read keeps what was known before.
    fn or(self, before: Self) -> Self {
        Self {
            waited_us: self.waited_us.or(before.waited_us),
            switches_voluntary: self.switches_voluntary.or(before.switches_voluntary),
            switches_forced: self.switches_forced.or(before.switches_forced),
        }
    }
}

impl Threads {
    /// Reads every thread that lives; those that have ended keep what was last seen of them.
    pub(super) fn look(&mut self, process: &Process) {
        for task in process.tasks().into_iter().flatten().flatten() {
            let read = |file: &str| {
                fs::read_to_string(format!("/proc/{}/task/{}/{file}", task.pid, task.tid)).unwrap_or_default()
            };
            let (times, last) = (read("schedstat"), self.last.get(&task.tid));
            if times.is_empty() || last.is_none_or(|last| last.times != times) {
                let before = last.map(|last| last.account).unwrap_or_default();
                let account = Account::of(&read("status"), &times).or(before);
                self.last.insert(task.tid, Last { account, times });
            }
        }
    }

    /// Whether none was read so far.
    pub(super) fn is_new(&self) -> bool {
        self.last.is_empty()
    }

    /// All together, as they were last seen.
    pub(super) fn sum(&self) -> Account {
        let sum = |of: fn(&Account) -> Option<u64>| {
            self.last.values().filter_map(|last| of(&last.account)).reduce(|sum, one| sum + one)
        };
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
    fn a_thread_of_which_nothing_is_told_is_no_zero() {
        let status = "Name:\tnode\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n";
        let told = Account { waited_us: Some(5), switches_voluntary: Some(7), switches_forced: Some(2) };
        assert_eq!(Account::of(status, "900 5999 3\n"), told);
        assert_eq!(Account::of("", ""), Account::default());
        assert_eq!(Account::of("", "").or(told), told, "it ended while it was read");
    }

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
        let gave_up = |threads: &Threads| threads.last[&id].account.switches_voluntary;
        assert!(gave_up(&threads) >= Some(50), "{:?}", threads.last[&id]);
        assert!(threads.sum().switches_voluntary > gave_up(&threads));
        drop(go);
        other.join().unwrap();
        threads.look(&me);
        assert!(gave_up(&threads) >= Some(50));
    }
}
