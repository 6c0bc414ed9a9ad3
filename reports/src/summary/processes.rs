//! Counters that the kernel keeps for each process -> their sums over the whole tree, those that have ended included.

use std::collections::BTreeMap;

use crate::recording::PidVital;

/// The last that was seen of each process, by its id and its start.
#[derive(Debug, Default)]
pub(super) struct Counters {
    last: BTreeMap<(u32, u64), PidVital>,
    handles_share: Option<f64>,
    handles_hidden: bool,
}

impl Counters {
    pub(super) fn take(&mut self, pids: &[PidVital]) {
        for pid in pids {
            self.handles_hidden |= pid.handles.is_none();
            let share = pid.handles.zip(pid.handles_limit);
            let share = share.map(|(handles, limit)| handles as f64 / limit.max(1) as f64);
            self.handles_share = self.handles_share.into_iter().chain(share).reduce(f64::max);
            self.last.insert((pid.pid, pid.start), pid.clone());
        }
    }

    /// The highest share of its own limit on open files that a process reached; nothing when those of any are hidden.
    pub(super) fn handles_share(&self) -> Option<f64> {
        self.handles_share.filter(|_| !self.handles_hidden)
    }

    /// Over all processes; nothing when it is not known of any.
    pub(super) fn sum(&self, of: impl Fn(&PidVital) -> Option<u64>) -> Option<u64> {
        PidVital::whole(self.last.values(), of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_keeps_its_count_and_a_later_one_of_its_id_has_its_own() {
        let pid = |start, faults| PidVital { pid: 7, start, major_faults: Some(faults), ..PidVital::default() };
        let mut counters = Counters::default();
        counters.take(&[pid(1, 5)]);
        counters.take(&[pid(1, 6)]);
        counters.take(&[pid(2, 10)]);
        assert_eq!(counters.sum(|pid| pid.major_faults), Some(16));
        assert_eq!(counters.sum(|pid| pid.waited_us), None);
    }

    #[test]
    fn the_process_nearest_to_its_own_limit_counts() {
        let pid = |handles, limit| PidVital { handles: Some(handles), handles_limit: limit, ..PidVital::default() };
        let mut counters = Counters::default();
        counters.take(&[pid(900, None), pid(60, Some(64)), pid(500, Some(1024))]);
        assert_eq!(counters.handles_share(), Some(60.0 / 64.0));
        counters.take(&[PidVital { pid: 8, handles: None, ..PidVital::default() }]);
        assert_eq!(counters.handles_share(), None, "the hidden one may be nearer");
    }

    #[test]
    fn what_is_hidden_of_one_process_is_not_known_of_all() {
        let pid = |pid, waited_us| PidVital { pid, waited_us, major_faults: Some(2), ..PidVital::default() };
        let mut counters = Counters::default();
        counters.take(&[pid(1, Some(5)), pid(2, None)]);
        assert_eq!((counters.sum(|pid| pid.waited_us), counters.sum(|pid| pid.major_faults)), (None, Some(4)));
    }
}
