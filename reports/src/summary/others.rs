//! What others used of the system's cores while the load was on: what tasks kept busy there, less what the system's own
//! processes used. What interrupts took is nobody's.

use std::collections::BTreeMap;

use super::looks::Looks;
use crate::recording::{Header, PidVital, Vital};

/// What a process has used so far, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    itself: u64,
    /// Of its children that have ended and that it has waited for: the whole life of each at once.
    waited_for: u64,
}

/// Gathers it look by look.
#[derive(Debug, Default)]
pub(super) struct Others {
    looks: Looks,
    /// How many cores the system has to itself; 0: none, since the rig shares one of them, or not known.
    cores: usize,
    at_us: u64,
    /// What each process had used so far, by its id and start.
    used: BTreeMap<(u32, u64), Used>,
    /// Theirs.
    had_us: f64,
    len_us: u64,
}

impl Others {
    pub(super) fn new(header: &Header) -> Self {
        let cores = if header.cores.shared { 0 } else { header.cores.system.len() };
        Self { looks: Looks::of(header), cores, ..Self::default() }
    }

    pub(super) fn take(&mut self, vital: &Vital) {
        let own_us = self.own_us(&vital.pids);
        let len_us = vital.at_us.saturating_sub(std::mem::replace(&mut self.at_us, vital.at_us));
        let is_of_load = self.looks.is_of_load(vital.at_us);
        let Some(busy) = vital.system_core_busy.filter(|_| is_of_load && !vital.pids.is_empty()) else { return };
        // Below zero where the kernel's two accounts are a tick apart, which a later look makes up for.
        self.had_us += busy * (len_us * self.cores as u64) as f64 - own_us as f64;
        self.len_us += len_us;
    }

    /// What the system's processes have used since the last look: a child that came and went is told of by its parent, and
    /// what was seen of it while it lived is not counted again.
    fn own_us(&mut self, pids: &[PidVital]) -> u64 {
        let used =
            |pid: &PidVital| ((pid.pid, pid.start), Used { itself: pid.cpu_us, waited_for: pid.waited_for_cpu_us });
        let mut before = std::mem::replace(&mut self.used, pids.iter().map(used).collect());
        let (mut own_us, mut waited_for_us) = (0, 0);
        for (id, now) in &self.used {
            let before = before.remove(id).unwrap_or_default();
            own_us += now.itself.saturating_sub(before.itself);
            waited_for_us += now.waited_for.saturating_sub(before.waited_for);
        }
        let gone_us: u64 = before.values().map(|gone| gone.itself + gone.waited_for).sum();
        own_us + waited_for_us.saturating_sub(gone_us)
    }

    /// The share of those cores' time.
    pub(super) fn share(&self) -> Option<f64> {
        let all_us = self.len_us * self.cores as u64;
        (all_us > 0).then(|| (self.had_us / all_us as f64).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Cores;

    /// Of a load from the first second to the second.
    fn others(system: &[u32], shared: bool) -> Others {
        let cores = Cores { system: system.to_vec(), shared, ..Cores::default() };
        Others::new(&Header { cores, load_us: (1_000_000, 2_000_000), ..Header::default() })
    }

    fn process(pid: u32, cpu_us: u64) -> PidVital {
        PidVital { pid, cpu_us, ..PidVital::default() }
    }

    /// Ten looks a second, the tenth at the start of the load, at which one process has used so much in each and the cores
    /// were so busy, and each as `change` makes it.
    fn percent(mut others: Others, used_us: u64, busy: Option<f64>, change: impl Fn(u64, &mut Vital)) -> Option<f64> {
        for tick in 0..25 {
            let pids = vec![process(7, (tick + 1) * used_us)];
            let mut vital = Vital { at_us: tick * 100_000, pids, system_core_busy: busy, ..Vital::default() };
            change(tick, &mut vital);
            others.take(&vital);
        }
        others.share().map(|share| (share * 100.0).round())
    }

    #[test]
    fn what_the_system_did_not_use_of_its_busy_cores_others_did() {
        assert_eq!(percent(others(&[1], false), 30_000, Some(1.0), |_, _| {}), Some(70.0));
        assert_eq!(percent(others(&[1, 2], false), 100_000, Some(0.5), |_, _| {}), Some(0.0));
        assert_eq!(percent(others(&[1], false), 31_000, Some(0.3), |_, _| {}), Some(0.0));
    }

    #[test]
    fn what_was_busy_before_and_after_the_load_is_nobodys_concern() {
        let beside = |tick, vital: &mut Vital| {
            if !(11..=20).contains(&tick) {
                vital.system_core_busy = Some(1.0);
            }
        };
        assert_eq!(percent(others(&[1], false), 10_000, Some(0.1), beside), Some(0.0));
    }

    #[test]
    fn accounts_that_are_a_tick_apart_make_up_for_each_other() {
        let jitter = |tick, vital: &mut Vital| vital.system_core_busy = Some(if tick % 2 == 0 { 0.4 } else { 0.6 });
        assert_eq!(percent(others(&[1], false), 50_000, None, jitter), Some(0.0));
    }

    #[test]
    fn children_that_come_and_go_between_two_looks_are_the_systems_own() {
        let with_children = |tick, vital: &mut Vital| vital.pids[0].waited_for_cpu_us = tick * 60_000;
        assert_eq!(percent(others(&[1], false), 30_000, Some(0.9), with_children), Some(0.0));
    }

    #[test]
    fn a_child_that_was_seen_while_it_lived_is_not_counted_again_when_it_has_been_waited_for() {
        let with_child = |tick, vital: &mut Vital| match tick {
            0..15 => vital.pids.push(process(8, 3_600_000_000)),
            _ => vital.pids[0].waited_for_cpu_us = 3_600_000_000,
        };
        assert_eq!(percent(others(&[1], false), 0, Some(0.5), with_child), Some(50.0));
        // One after the other, each for two looks, with 30,000 in each; others have 400,000 of a second.
        let with_children = |tick, vital: &mut Vital| {
            vital.pids.push(process(100 + tick as u32 / 2, (tick % 2 + 1) * 30_000));
            vital.pids[0].waited_for_cpu_us = tick / 2 * 60_000;
        };
        assert_eq!(percent(others(&[1], false), 0, Some(0.7), with_children), Some(40.0));
    }

    #[test]
    fn where_it_cannot_be_known_nothing_is_said() {
        assert_eq!(percent(others(&[0], true), 30_000, Some(1.0), |_, _| {}), None, "the rig is there");
        assert_eq!(percent(others(&[], false), 30_000, Some(1.0), |_, _| {}), None);
        assert_eq!(percent(others(&[1], false), 30_000, None, |_, _| {}), None);
        assert_eq!(percent(others(&[1], false), 30_000, Some(1.0), |_, vital| vital.pids.clear()), None);
    }
}
