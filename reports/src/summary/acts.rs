//! Intervals -> the acts of a summary, and the rig's own lateness.

use std::collections::BTreeMap;

use super::{Act, Lag, Quantiles, Rig};
use crate::recording::{ActInterval, Histogram, Interval};

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

    pub(super) fn summary(&self, planned: &BTreeMap<String, u64>) -> BTreeMap<String, Act> {
        let nothing = ActInterval::default();
        let names = planned.keys().chain(self.0.keys());
        names
            .map(|name| {
                let planned = planned.get(name).copied().unwrap_or(0);
                (name.clone(), Act::of(planned, self.0.get(name).unwrap_or(&nothing)))
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
    /// Planned, and neither succeeded nor deliberately skipped.
    pub fn failed(&self) -> u64 {
        self.planned.saturating_sub(self.ok + self.outcomes.skipped)
    }

    fn of(planned: u64, act: &ActInterval) -> Self {
        Self {
            planned,
            ok: act.ok,
            outcomes: act.outcomes,
            late_connect: act.late_connect,
            unserved: act.outcomes.unserved(),
            amplification: (planned > 0).then(|| act.requests as f64 / planned as f64),
            response_us: Quantiles::of(&act.response),
            service_us: Quantiles::of(&act.service),
            blocked_us: Quantiles::of(&act.blocked),
            failed_response_us: Quantiles::of(&act.failed_response),
            judged_us: Quantiles::among(&act.response, planned.saturating_sub(act.outcomes.skipped)),
        }
    }
}
