//! What came after the load: the system left alone and looked at again, and a stop that the scenario ordered.

use serde::{Deserialize, Serialize};

use super::Outcome;

/// The system was left alone, and then a player came once more. Written once; what memory and handles came to is in the
/// vitals of the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// When it was left alone.
    pub from_us: u64,
    /// When the players came.
    pub to_us: u64,
    /// The first act of every journey, once each.
    pub players: Vec<ProbePlayer>,
}

/// A first act that was done alone, before the load and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbePlayer {
    /// The act's name.
    pub act: String,
    /// How long it took in the pre-flight, from the send.
    pub before_us: Option<u64>,
    /// How long it took after the load; nothing: it did not succeed.
    pub after_us: Option<u64>,
    /// What became of it after the load.
    pub outcome: Outcome,
}

/// The scenario's own order to the system to end. Written once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedStop {
    /// When SIGTERM was sent.
    pub at_us: u64,
    /// When nothing of its process tree was left; nothing: that was not seen.
    pub gone_us: Option<u64>,
    /// Whether its time was up and SIGKILL had to end it.
    pub killed: bool,
    /// Acts in flight at the order.
    pub in_flight: u64,
    /// Effects that were accepted and not yet visible at the order.
    pub waiting: u64,
    /// Updates that the bot had acknowledged and never acted on; nothing: no act is towards the bot.
    pub unacted: Option<u64>,
}
