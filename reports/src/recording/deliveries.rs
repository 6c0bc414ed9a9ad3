//! What became visible in the chats during one interval.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// Deliveries of one interval. An act that `shows` something is expected to become visible in a call that the stub accepts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct DeliveryInterval {
    pub from_us: u64,
    pub len_us: u64,
    /// Acts that succeeded and whose effect is now awaited.
    pub expected: u64,
    /// Effects seen, late ones included.
    pub delivered: u64,
    /// Of the delivered, those beyond the budget of staleness.
    pub late: u64,
    /// Effects still unseen at the end of settle (written once, in the last row).
    pub lost: u64,
    /// The same marker seen again in another message of its chat.
    pub duplicated: u64,
    /// From the act's planned instant to the call that shows it.
    pub latency: Histogram,
    /// The age of the oldest effect not yet on a board, at the moment a call shows it (lost ones: at the end of settle).
    pub staleness: Histogram,
}

impl DeliveryInterval {
    /// Adds another interval's counts; exact.
    pub fn merge(&mut self, other: &Self) {
        self.expected += other.expected;
        self.delivered += other.delivered;
        self.late += other.late;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.latency.merge(&other.latency);
        self.staleness.merge(&other.staleness);
    }
}
