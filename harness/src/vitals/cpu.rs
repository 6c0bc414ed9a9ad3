//! CPU time: how busy the rig's cores were, what the host stole, and what the rig itself used.

use std::collections::BTreeMap;
use std::time::Duration;

use procfs::process::Process;
use rustix::time::{ClockId, clock_gettime};

/// Clock ticks of one core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    /// Of it, what tasks used, and no interrupts.
    tasks: u64,
    stolen: u64,
    all: u64,
}

/// The counters of `/proc/stat` at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counters {
    cores: BTreeMap<u32, Ticks>,
}

/// What happened between two readings; nothing when not a tick had passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    /// Of the time of the rig's cores, what was busy; what the host stole is not.
    pub(super) rig_busy: Option<f64>,
    /// Of the time of the system's cores, what tasks used.
    pub(super) system_busy: Option<f64>,
    /// Of the time of the rig's and the system's cores, what the host stole.
    pub(super) stolen: Option<f64>,
}

impl Counters {
    /// Reads the counters; nothing when `/proc/stat` is not to be had.
    pub(super) fn read() -> Option<Self> {
        std::fs::read_to_string("/proc/stat").ok().map(|text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        for line in text.lines().take_while(|line| line.starts_with("cpu")) {
            let mut fields = line.split_ascii_whitespace();
            let name = fields.next().unwrap_or_default();
            let ticks = Ticks::of(&fields.filter_map(|field| field.parse().ok()).collect::<Vec<u64>>());
            // The first line is of all together.
            if let Some(core) = name.strip_prefix("cpu").and_then(|core| core.parse().ok()) {
                counters.cores.insert(core, ticks);
            }
        }
        counters
    }

    /// What happened since an earlier reading: how busy the cores of both were, and what was stolen from them.
    pub(super) fn since(&self, before: &Self, rig: &[u32], system: &[u32]) -> Shares {
        let of_rig_alone = rig.iter().filter(|core| !system.contains(core));
        let all: Vec<u32> = of_rig_alone.chain(system).copied().collect();
        Shares {
            rig_busy: self.spent(before, rig).share(|ticks| ticks.busy),
            system_busy: self.spent(before, system).share(|ticks| ticks.tasks),
            stolen: self.spent(before, &all).share(|ticks| ticks.stolen),
        }
    }

    fn spent(&self, before: &Self, cores: &[u32]) -> Ticks {
        let (now, before) = (self.sum(cores), before.sum(cores));
        Ticks {
            busy: now.busy.saturating_sub(before.busy),
            tasks: now.tasks.saturating_sub(before.tasks),
            stolen: now.stolen.saturating_sub(before.stolen),
            all: now.all.saturating_sub(before.all),
        }
    }

    fn sum(&self, cores: &[u32]) -> Ticks {
        cores.iter().filter_map(|core| self.cores.get(core)).fold(Ticks::default(), |sum, ticks| Ticks {
            busy: sum.busy + ticks.busy,
            tasks: sum.tasks + ticks.tasks,
            stolen: sum.stolen + ticks.stolen,
            all: sum.all + ticks.all,
        })
    }
}

impl Ticks {
    /// `proc_stat(5)`: user nice system idle iowait irq softirq steal, and guests; guests are in user already.
    fn of(fields: &[u64]) -> Self {
        let at = |index: usize| fields.get(index).copied().unwrap_or(0);
        let all = (0..8).map(at).sum::<u64>();
        Self { busy: all - at(3) - at(4) - at(7), tasks: at(0) + at(1) + at(2), stolen: at(7), all }
    }

    /// Nothing before a tick has passed.
    fn share(&self, part: fn(&Self) -> u64) -> Option<f64> {
        (self.all > 0).then(|| part(self) as f64 / self.all as f64)
    }
}

/// CPU time of this process so far, with the threads given counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Own {
    /// All threads but those.
    pub(super) rig: Duration,
    /// Those; nothing when one of them could not be read.
    pub(super) stub: Option<Duration>,
}

/// CPU time of the calling thread so far.
pub(crate) fn this_thread() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// What the rig has used so far.
pub(super) fn own(stub_threads: &[u32]) -> Own {
    let all = clock_gettime(ClockId::ProcessCPUTime);
    let all = Duration::new(all.tv_sec as u64, all.tv_nsec as u32);
    let stub = thread_time(stub_threads).filter(|_| !stub_threads.is_empty());
    Own { rig: all.saturating_sub(stub.unwrap_or_default()), stub }
}

/// CPU time of these threads of this process so far; nothing when one of them could not be read.
pub(super) fn thread_time(threads: &[u32]) -> Option<Duration> {
    let me = Process::myself().ok()?;
    let times = threads.iter().map(|thread| {
        let task = me.task_from_tid(*thread as i32).ok()?;
        Some(Duration::from_nanos(task.schedstat().ok()?.sum_exec_runtime))
    });
    times.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str =
        "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\ncpu2 50 0 50 400 0 0 0 0 0 0\nintr 1 2\n";
    const AFTER: &str =
        "cpu  130 0 110 840 10 0 0 10 0 0\ncpu0 80 0 60 400 0 0 0 10 0 0\ncpu2 50 0 50 440 10 0 0 0 0 0\nintr 9 9\n";

    #[test]
    fn busy_and_stolen_time_are_told_apart() {
        let (before, after) = (Counters::parse(BEFORE), Counters::parse(AFTER));
        let shares = after.since(&before, &[0], &[0, 2]);
        assert_eq!(shares, Shares { rig_busy: Some(0.8), system_busy: Some(0.4), stolen: Some(0.1) });
    }

    #[test]
    fn cores_go_by_their_number_not_by_their_line() {
        let (before, after) = (Counters::parse(BEFORE), Counters::parse(AFTER));
        let apart = Shares { rig_busy: Some(0.0), system_busy: Some(0.8), stolen: Some(0.1) };
        assert_eq!(after.since(&before, &[2], &[0]), apart);
        let one_unknown = Shares { rig_busy: None, system_busy: Some(0.0), stolen: Some(0.0) };
        assert_eq!(after.since(&before, &[1], &[2]), one_unknown);
    }

    #[test]
    fn nothing_is_known_before_a_tick_has_passed() {
        let now = Counters::parse(BEFORE);
        assert_eq!(now.since(&now, &[0], &[0]), Shares::default());
    }

    #[test]
    fn a_thread_named_as_the_stubs_is_not_the_rigs() {
        let (to, told) = std::sync::mpsc::sync_channel(1);
        let (done, wait) = std::sync::mpsc::sync_channel::<()>(1);
        let worker = std::thread::spawn(move || {
            let mut sum = 0_u64;
            for n in 0..30_000_000_u64 {
                sum = std::hint::black_box(sum ^ n);
            }
            to.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            wait.recv().unwrap();
        });
        let thread = told.recv().unwrap();
        let (with, without) = (own(&[thread]), own(&[]));
        assert!(with.stub.unwrap() > Duration::from_millis(1));
        assert!(with.rig < without.rig);
        assert_eq!(without.stub, None);
        done.send(()).unwrap();
        worker.join().unwrap();
    }
}
