//! What the acts of one interval came to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Histogram, Outcomes};

/// One interval of a run: 100 ms for runs up to a minute, else 1 s. A sample belongs to the interval it ended in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Interval {
    pub from_us: u64,
    pub len_us: u64,
    /// Acts by name; an act nothing happened to is left out.
    pub acts: BTreeMap<String, ActInterval>,
    /// Acts begun and not yet ended at the end of the interval.
    pub in_flight: u64,
}

/// One act's share of an interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActInterval {
    /// Acts whose planned instant lies in the interval.
    pub offered: u64,
    /// Acts that ended well.
    pub ok: u64,
    /// Acts that did not, by class.
    pub outcomes: Outcomes,
    /// Of the ok ones, those whose handshake needed SYN retransmits.
    pub late_connect: u64,
    /// Requests sent, retries included.
    pub requests: u64,
    /// From the planned instant to the end, of the ok ones.
    pub response: Histogram,
    /// From the send to the end, of the ok ones.
    pub service: Histogram,
    /// The rig's own lateness, of all that were sent.
    pub lag: Histogram,
    /// Time spent waiting for the player's own previous act, of the ok ones.
    pub blocked: Histogram,
    /// From the planned instant to the end, of those that failed (abandoned and skipped ones left out).
    pub failed_response: Histogram,
}
