//! The listen queue: how deep it was against its room, what was dropped at it, and what that looks like to a client.

use std::collections::BTreeMap;

use crate::Value;
use crate::recording::{NetworkCounts, Vital};

/// How many SYNs a client of this kernel repeats a second apart before it begins to double the wait.
const LINEAR: &str = "net.ipv4.tcp_syn_linear_timeouts";

/// What was seen of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Listening {
    pub(super) peak: Option<u64>,
    pub(super) backlog: Option<u64>,
    pub(super) counts: Option<NetworkCounts>,
}

impl Listening {
    pub(super) fn take(&mut self, vital: &Vital) {
        self.peak = self.peak.max(vital.listen_queue);
        self.backlog = self.backlog.max(vital.listen_backlog);
        self.counts = vital.network.or(self.counts);
    }

    /// Why nobody was refused, if anybody met a full queue.
    pub(super) fn remark(&self, kernel: &BTreeMap<String, String>) -> Option<String> {
        let overflows = self.counts.map_or(0, |counts| counts.listen_overflows);
        if overflows == 0 && !self.was_full() {
            return None;
        }
        let (peak, backlog) = (Value::count(self.peak), Value::count(self.backlog));
        Some(format!(
            "a full queue refuses nobody on Linux, it drops the SYN, and the client sends it again after {}, so late \
             connects come in such steps and `refused` means that nobody listened; the deepest queue seen was {peak} \
             of {backlog}, and drops are counted for all of the run's network, which is the whole machine's unless \
             --isolate gave it one of its own",
            steps(kernel)
        ))
    }

    /// The kernel lets one more wait than it was asked to: it compares before it adds.
    fn was_full(&self) -> bool {
        self.peak.zip(self.backlog).is_some_and(|(peak, backlog)| peak > backlog)
    }
}

/// When a SYN is sent again: one second after the last, then twice as long each time, unless the kernel has some sent
/// steadily first.
fn steps(kernel: &BTreeMap<String, String>) -> &'static str {
    let linear = kernel.get(LINEAR).and_then(|value| value.parse::<u32>().ok()).unwrap_or(0);
    if linear > 1 { "1 s, 2 s, 3 s" } else { "1 s, 3 s, 7 s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peak: u64, overflows: u64) -> Listening {
        let counts = NetworkCounts { listen_overflows: overflows, ..NetworkCounts::default() };
        Listening { peak: Some(peak), backlog: Some(511), counts: Some(counts) }
    }

    #[test]
    fn a_queue_that_had_room_is_not_remarked_on() {
        assert_eq!(seen(511, 0).remark(&BTreeMap::new()), None);
        assert_eq!(Listening::default().remark(&BTreeMap::new()), None);
        assert!(seen(512, 0).remark(&BTreeMap::new()).is_some());
        assert!(seen(3, 1).remark(&BTreeMap::new()).unwrap().contains("the deepest queue seen was 3 of 511"));
    }

    #[test]
    fn the_steps_are_those_of_this_kernel() {
        let kernel = |value: &str| BTreeMap::from([(LINEAR.to_owned(), value.to_owned())]);
        assert!(seen(512, 9).remark(&kernel("4")).unwrap().contains("after 1 s, 2 s, 3 s,"));
        assert!(seen(512, 9).remark(&kernel("0")).unwrap().contains("after 1 s, 3 s, 7 s,"));
        assert!(seen(512, 9).remark(&BTreeMap::new()).unwrap().contains("after 1 s, 3 s, 7 s,"));
    }
}
