//! The run over time: what the charts draw. Built in the same pass over the rows as the summary.

use std::collections::BTreeMap;

use crate::recording::{Event, Histogram, MethodCounts, Outcomes, Stall};

/// The run over time. All times are seconds since the epoch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Interval by interval, in time order, all acts.
    pub load: Vec<LoadPoint>,
    /// Ten a second.
    pub vitals: Vec<VitalPoint>,
    /// Calls by interval.
    pub calls: Vec<CallPoint>,
    /// Once each.
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

/// One tick of the observation, the whole tree together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs, reason = "named by their units")]
pub struct VitalPoint {
    pub at_s: f64,
    pub rss_bytes: u64,
    /// Cores busy since the last tick.
    pub cpu: f64,
    pub handles: u64,
    pub threads: u64,
    pub probe_delay_ms: Option<f64>,
    pub listen_queue: Option<u64>,
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
