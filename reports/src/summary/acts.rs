//! Intervals -> the acts of a summary, and the rig's own lateness.

use std::collections::BTreeMap;

use super::{Act, Lag, Quantiles, Rig};
use crate::recording::{ActInterval, Header, Histogram, Interval, Outcomes};

/// Everything that the intervals said, by act.
#[derive(Debug, Default)]
pub(super) struct Acts(BTreeMap<String, ActInterval>);

impl Acts {
    pub(super) fn take(&mut self, interval: &Interval) {
        for (name, act) in &interval.acts {
            self.0.entry(name.clone()).or_default().merge(act);
        }
    }

    /// Acts that ended, however they did.
    pub(super) fn ended(&self) -> u64 {
        self.0.values().map(|act| act.ok + act.outcomes.total()).sum()
    }

    /// Acts begun after an ordered stop and not served.
    pub(super) fn stopped(&self) -> u64 {
        self.0.values().map(|act| act.outcomes.stopped).sum()
    }

    /// Requests sent, retries included.
    pub(super) fn requests(&self) -> u64 {
        self.0.values().map(|act| act.requests).sum()
    }

    /// In a run that was cut short, the planned acts of which nothing is recorded were abandoned.
    pub(super) fn abandon_the_rest(&mut self, planned: &BTreeMap<String, u64>) {
        for (name, planned) in planned {
            let act = self.0.entry(name.clone()).or_default();
            act.outcomes.abandoned += planned.saturating_sub(act.ok + act.outcomes.total());
        }
    }

    pub(super) fn summary(&self, header: &Header) -> BTreeMap<String, Act> {
        let nothing = ActInterval::default();
        let planned = &header.planned;
        let seconds = header.load_us.1.saturating_sub(header.load_us.0) as f64 / 1e6;
        let names = planned.keys().chain(self.0.keys());
        names
            .map(|name| {
                let planned = planned.get(name).copied().unwrap_or(0);
                let act = self.0.get(name).unwrap_or(&nothing);
                let ok_per_second = (seconds > 0.0).then(|| act.ok as f64 / seconds);
                (name.clone(), Act { ok_per_second, ..Act::of(planned, act) })
            })
            .collect()
    }

    /// The rig's lateness over all acts.
    pub(super) fn lag(&self, rig: &mut Rig) {
        let mut lag = Histogram::default();
        self.0.values().for_each(|act| lag.merge(&act.lag));
        let late: u64 = self.0.values().map(|act| act.sent_late).sum();
        rig.lag_us = Lag::of(&lag);
        rig.late_share = (lag.count() > 0).then(|| late as f64 / lag.count() as f64);
    }

    /// Full curves of ok responses.
    pub(super) fn curves(self) -> BTreeMap<String, Histogram> {
        self.0.into_iter().map(|(name, act)| (name, act.response)).collect()
    }
}

impl Act {
    /// Planned, and neither succeeded nor deliberately skipped nor begun after an ordered stop.
    pub fn failed(&self) -> u64 {
        self.planned.saturating_sub(self.ok + self.outcomes.excused())
    }

    /// Whether more requests were sent than one for each act that can have sent any.
    pub(crate) fn was_tried_again(&self) -> bool {
        let Outcomes { refused, connect_timeout, skipped, .. } = self.outcomes;
        self.requests > self.planned.saturating_sub(refused + connect_timeout + skipped)
    }

    fn of(planned: u64, act: &ActInterval) -> Self {
        Self {
            planned,
            ok: act.ok,
            outcomes: act.outcomes,
            rig_faults: act.rig_faults,
            late_connect: act.late_connect,
            unserved: act.outcomes.unserved(),
            left: act.left,
            requests: act.requests,
            amplification: (planned > 0).then(|| act.requests as f64 / planned as f64),
            ok_per_second: None,
            response_us: Quantiles::of(&act.response),
            service_us: Quantiles::of(&act.service),
            blocked_us: Quantiles::of(&act.blocked),
            lag_us: Quantiles::of(&act.lag),
            failed_response_us: Quantiles::of(&act.failed_response),
            judged_us: Quantiles::among(&act.response, planned.saturating_sub(act.outcomes.excused() - act.left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten planned acts eight succeeded and two were skipped, over one of which the player had left.
    fn act(requests: u64) -> Act {
        let outcomes = Outcomes { skipped: 2, ..Outcomes::default() };
        let mut interval = ActInterval { ok: 8, outcomes, left: 1, requests, ..ActInterval::default() };
        (0..8).for_each(|ms| interval.response.record(std::time::Duration::from_millis(ms)));
        Act::of(10, &interval)
    }

    #[test]
    fn a_player_who_left_ranks_slowest_and_a_condition_that_did_not_hold_not_at_all() {
        let judged = act(8).judged_us;
        assert_eq!((judged.count, judged.max), (9, None));
        assert!(judged.p50.is_some());
    }

    #[test]
    fn requests_are_told_for_each_planned_act_and_more_than_one_is_trying_again() {
        assert_eq!((act(12).amplification, act(12).was_tried_again()), (Some(1.2), true));
        assert_eq!((act(8).amplification, act(8).was_tried_again()), (Some(0.8), false));
        assert!(act(9).was_tried_again());
    }
}
