//! The Bot API calls of one interval, as the stub counted them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The Bot API calls of one interval, all bots together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct CallInterval {
    pub from_us: u64,
    pub len_us: u64,
    /// Calls by the catalogue's spelling of the method.
    pub by_method: BTreeMap<String, MethodCounts>,
    /// Calls made in a scope that a 429 had closed and whose `retry_after` had not yet passed.
    pub calls_while_throttled: u64,
    /// Uploads begun, the bytes received for them, and the most that ran at once.
    pub uploads: u64,
    pub upload_bytes: u64,
    pub uploads_at_once: u64,
    /// The fullest sliding second of one bot and minute of one group so far in the run: attempts, and accepted ones.
    pub worst_second_sends: u64,
    pub worst_second_accepted: u64,
    pub worst_minute_group_sends: u64,
    pub worst_minute_group_accepted: u64,
    /// Calls to methods the stub answers by their declared type alone.
    pub unmodelled: BTreeMap<String, u64>,
    /// Calls answered 429, by the rule that they broke, as the ceilings name it.
    pub throttled_by: BTreeMap<String, u64>,
}

/// One method's share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodCounts {
    /// Calls answered, however they were.
    pub calls: u64,
    /// Of them, those answered 429.
    pub throttled: u64,
    /// Of them, those answered with any other error.
    pub errors: u64,
}

impl MethodCounts {
    /// Calls that were answered with what they asked for.
    pub fn accepted(&self) -> u64 {
        self.calls.saturating_sub(self.throttled + self.errors)
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.throttled += other.throttled;
        self.errors += other.errors;
    }
}
