//! `[budgets]` of a scenario: what a run must keep to. A series without a budget is shown and not judged.

use std::collections::BTreeMap;
use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

/// The `[budgets]` table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// The most acts that may end without an answer that can be read: refused, reset, in a connect timeout, without a TLS
    /// session, closed, malformed or in a timeout.
    pub unserved: Option<u64>,
    /// The most acts that may not succeed, for whatever reason, deliberately skipped ones left out.
    pub failed: Option<u64>,
    /// The most acts that may need a handshake whose SYN is sent again, whatever becomes of them.
    pub late_connect: Option<u64>,
    /// The most lines on the system's stderr that look like errors.
    pub error_lines: Option<u64>,
    /// The longest stall allowed, at least 50 ms: a shorter one is not told from an ordinary delay.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub stall: Option<Duration>,
    /// The greatest resident memory of the system's whole process tree.
    #[serde(serialize_with = "to_the_byte")]
    #[schemars(with = "String")]
    pub memory: Option<ByteSize>,
    /// The most calls Telegram may answer with 429.
    pub throttled: Option<u64>,
    /// The most effects that may never become visible.
    pub lost: Option<u64>,
    /// The most effects that may become visible later than `staleness`.
    pub late: Option<u64>,
    /// How old an effect not yet visible may be at the 99th percentile.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub staleness: Option<Duration>,
    /// How much of the load may be left once the system was left alone for `[crowd] idle`.
    pub recovery: RecoveryBudget,
    /// How the system must take a stop that an `[[event]]` orders.
    pub shutdown: ShutdownBudget,
    /// Response times by act, judged over all planned acts: one that did not succeed ranks slower than any bound.
    pub latency: BTreeMap<String, Latency>,
}

impl Budgets {
    /// Shorter stalls are not told from an ordinary delay, so that a tighter budget cannot be judged when none was seen.
    pub const SHORTEST_STALL: Duration = Duration::from_millis(50);
}

/// What may be left of the load after the idle time, and what a player may wait then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryBudget {
    /// How much more resident memory the process tree may have than before the load.
    #[serde(serialize_with = "to_the_byte")]
    #[schemars(with = "String")]
    pub memory: Option<ByteSize>,
    /// How many more handles it may have.
    pub handles: Option<u64>,
    /// How long the first act of one player alone may take; one that is not served takes longer than any bound.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub response: Option<Duration>,
}

/// How an ordered stop must go. What was accepted and never delivered is for `lost`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownBudget {
    /// How long the system may take from SIGTERM until nothing of it is left.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub within: Option<Duration>,
    /// The most updates that the bot may have acknowledged and never acted on.
    pub unacted: Option<u64>,
}

/// Bounds on the response time of one act.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "percentiles")]
pub struct Latency {
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub p50: Option<Duration>,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub p90: Option<Duration>,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub p99: Option<Duration>,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub p999: Option<Duration>,
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub max: Option<Duration>,
}

/// `ByteSize` writes itself rounded for the eye; a budget must come back from a recording as it was.
#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn to_the_byte<S: serde::Serializer>(size: &Option<ByteSize>, to: S) -> Result<S::Ok, S::Error> {
    match size {
        Some(size) => to.collect_str(&format_args!("{} B", size.as_u64())),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_comes_back_from_a_recording_as_it_was() {
        let budgets = Budgets { memory: Some(ByteSize(1_234_567)), ..Budgets::default() };
        let text = serde_json::to_string(&budgets).expect("budgets are JSON");
        assert_eq!(serde_json::from_str::<Budgets>(&text).expect("it reads back"), budgets);
    }
}
