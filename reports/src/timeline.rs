//! The run over time: what the charts draw. Built in the same pass over the rows as the summary.

use std::collections::BTreeMap;

use crate::recording::{
    CallInterval, Event, Histogram, Interval, MethodCounts, NetworkCounts, Outbound, Outcomes, Stall,
};

/// The run over time. What ends in `_s` is in seconds since the epoch of the run; events and stalls are as they were
/// recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Interval by interval, in time order, all acts.
    pub load: Vec<LoadPoint>,
    /// Tick by tick: ten a second.
    pub vitals: Vec<VitalPoint>,
    /// The system's own connections, five times a second.
    pub outbound: Vec<Outbound>,
    /// Bot API calls, interval by interval.
    pub calls: Vec<CallPoint>,
    /// What happened once.
    pub events: Vec<Event>,
    /// The system's stalls.
    pub stalls: Vec<Stall>,
    /// Per act, everything merged: full percentile curves of ok responses.
    pub curves: BTreeMap<String, Histogram>,
}

/// One interval of the load.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "named by their units")]
pub struct LoadPoint {
    pub from_s: f64,
    pub len_s: f64,
    pub offered: u64,
    pub ok: u64,
    pub outcomes: Outcomes,
    pub in_flight: u64,
    /// Responses of the ok ones, all acts merged.
    pub response: Histogram,
}

/// One tick of the observation, the whole tree together. What no process was seen of is nothing, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs, reason = "named by their units")]
pub struct VitalPoint {
    pub at_s: f64,
    pub rss_bytes: Option<u64>,
    /// Cores that the tree kept busy since the last tick.
    pub cpu: Option<f64>,
    /// Nothing: those of some process could not be counted.
    pub handles: Option<u64>,
    pub threads: Option<u64>,
    pub probe_delay_ms: Option<f64>,
    pub accept_delay_ms: Option<f64>,
    pub listen_queue: Option<u64>,
    pub listen_backlog: Option<u64>,
    /// So far.
    pub network: Option<NetworkCounts>,
}

/// One interval of Bot API calls.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "named by their units")]
pub struct CallPoint {
    pub from_s: f64,
    pub len_s: f64,
    pub accepted: u64,
    pub throttled: u64,
    pub errors: u64,
    pub by_method: BTreeMap<String, MethodCounts>,
}

impl LoadPoint {
    /// All acts of an interval together.
    pub(crate) fn of(interval: &Interval) -> Self {
        let mut point = Self {
            from_s: interval.from_us as f64 / 1e6,
            len_s: interval.len_us as f64 / 1e6,
            in_flight: interval.in_flight,
            ..Self::default()
        };
        for act in interval.acts.values() {
            point.offered += act.offered;
            point.ok += act.ok;
            point.outcomes.merge(&act.outcomes);
            point.response.merge(&act.response);
        }
        point
    }
}

impl CallPoint {
    /// All methods of an interval, together and apart.
    pub(crate) fn of(calls: CallInterval) -> Self {
        let total = |of: fn(&MethodCounts) -> u64| calls.by_method.values().map(of).sum();
        Self {
            from_s: calls.from_us as f64 / 1e6,
            len_s: calls.len_us as f64 / 1e6,
            accepted: total(MethodCounts::accepted),
            throttled: total(|counts| counts.throttled),
            errors: total(|counts| counts.errors),
            by_method: calls.by_method,
        }
    }
}
