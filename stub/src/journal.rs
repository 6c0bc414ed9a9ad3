//! What the stub says of the calls it answered: exact counts by interval, and sightings for whoever watches.

use std::collections::BTreeMap;
use std::time::Duration;

/// A call the stub accepted that put a text or a caption before a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// When the call's head had arrived, since the epoch.
    pub begun: Duration,
    /// When it was accepted, since the epoch.
    pub at: Duration,
    /// The bot's id.
    pub bot: i64,
    /// The chat's id.
    pub chat: i64,
    /// The message that shows it.
    pub message_id: i64,
    /// Its text or caption.
    pub text: String,
}

/// The calls answered since the last time they were taken, counted exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls by the catalogue's spelling of the method.
    pub by_method: BTreeMap<&'static str, MethodCounts>,
    /// Calls made in a scope that a 429 had closed and whose `retry_after` had not yet passed.
    pub calls_while_throttled: u64,
    /// Uploads begun.
    pub uploads: u64,
    /// Bytes received for uploads.
    pub upload_bytes: u64,
    /// The most uploads of all bots that ran at once, in the interval.
    pub uploads_at_once: u64,
    /// The fullest sliding second of one bot so far in the run: attempts.
    pub worst_second_sends: u64,
    /// The same, of accepted calls.
    pub worst_second_accepted: u64,
    /// The fullest sliding minute of one group so far in the run: attempts.
    pub worst_minute_group_sends: u64,
    /// The same, of accepted calls.
    pub worst_minute_group_accepted: u64,
    /// Calls to methods answered by their declared type alone.
    pub unmodelled: BTreeMap<&'static str, u64>,
    /// When the first 429 of the run was answered, since the epoch.
    pub first_throttled: Option<Duration>,
    /// Sightings dropped because their listener was too slow, so far in the run.
    pub sightings_dropped: u64,
}

/// One method's share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MethodCounts {
    /// Calls answered, however they were.
    pub calls: u64,
    /// Of them, those answered 429.
    pub throttled: u64,
    /// Of them, those answered with any other error.
    pub errors: u64,
}
