//! The listen queue: how deep it was against its room, what was dropped at it, and what that looks like to a client.

use std::collections::BTreeMap;

use crate::Value;
use crate::recording::{ListenQueue, NetworkCounts, Vital};

/// How many SYNs a client of this kernel repeats a second apart before it begins to double the wait.
const LINEAR: &str = "net.ipv4.tcp_syn_linear_timeouts";

/// What was seen of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Listening {
    pub(super) peak: Option<u64>,
    pub(super) backlog: Option<u64>,
    /// The single queue that was nearest to being full.
    pub(super) fullest: Option<ListenQueue>,
    pub(super) counts: Option<NetworkCounts>,
}

impl Listening {
    pub(super) fn take(&mut self, vital: &Vital) {
        self.peak = self.peak.max(vital.listen_queue);
        self.backlog = self.backlog.max(vital.listen_backlog);
        let only = || Some(ListenQueue { depth: vital.listen_queue?, backlog: vital.listen_backlog? });
        let seen = vital.listen_fullest.or_else(only);
        self.fullest = self.fullest.into_iter().chain(seen).reduce(ListenQueue::fuller);
        self.counts = vital.network.or(self.counts);
    }

    /// Why nobody was refused, if anybody met a full queue.
    pub(super) fn remark(&self, kernel: &BTreeMap<String, String>) -> Option<String> {
        let overflows = self.counts.map_or(0, |counts| counts.listen_overflows);
        if overflows == 0 && !self.was_full() {
            return None;
        }
        let [depth, backlog] = [self.fullest.map(|queue| queue.depth), self.fullest.map(|queue| queue.backlog)];
        let (depth, backlog) = (Value::count(depth), Value::count(backlog));
        Some(format!(
            "a full queue refuses nobody on Linux, it drops the SYN, and the client sends it again after {}, so late \
             connects come in such steps and `refused` means that nobody listened; the fullest queue seen was {depth} \
             of {backlog}, and drops are counted for all of the run's network, which is the whole machine's unless \
             --isolate gave it one of its own",
            steps(kernel)
        ))
    }

    fn was_full(&self) -> bool {
        self.fullest.is_some_and(ListenQueue::is_full)
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

    fn seen(depth: u64, overflows: u64) -> Listening {
        let network = Some(NetworkCounts { listen_overflows: overflows, ..NetworkCounts::default() });
        let mut listening = Listening::default();
        let (listen_queue, listen_backlog) = (Some(depth), Some(511));
        listening.take(&Vital { listen_queue, listen_backlog, network, ..Vital::default() });
        listening
    }

    #[test]
    fn one_full_queue_beside_empty_ones_was_full() {
        let mut listening = Listening::default();
        let several = |depth| Vital {
            listen_queue: Some(depth),
            listen_backlog: Some(2044),
            listen_fullest: Some(ListenQueue { depth, backlog: 511 }),
            ..Vital::default()
        };
        listening.take(&several(511));
        assert_eq!(listening.remark(&BTreeMap::new()), None);
        listening.take(&several(512));
        listening.take(&several(3));
        assert!(listening.remark(&BTreeMap::new()).unwrap().contains("the fullest queue seen was 512 of 511"));
        assert_eq!((listening.peak, listening.backlog), (Some(512), Some(2044)));
    }

    #[test]
    fn a_queue_that_had_room_is_not_remarked_on() {
        assert_eq!(seen(511, 0).remark(&BTreeMap::new()), None);
        assert_eq!(Listening::default().remark(&BTreeMap::new()), None);
        assert!(seen(512, 0).remark(&BTreeMap::new()).is_some());
        assert!(seen(3, 1).remark(&BTreeMap::new()).unwrap().contains("the fullest queue seen was 3 of 511"));
    }

    #[test]
    fn the_steps_are_those_of_this_kernel() {
        let kernel = |value: &str| BTreeMap::from([(LINEAR.to_owned(), value.to_owned())]);
        assert!(seen(512, 9).remark(&kernel("4")).unwrap().contains("after 1 s, 2 s, 3 s,"));
        assert!(seen(512, 9).remark(&kernel("0")).unwrap().contains("after 1 s, 3 s, 7 s,"));
        assert!(seen(512, 9).remark(&BTreeMap::new()).unwrap().contains("after 1 s, 3 s, 7 s,"));
    }
}
