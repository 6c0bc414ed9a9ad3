//! The plan: every planned act with its instant, the same for the same scenario and seed, whatever the system does.
//!
//! Pure: ChaCha8 by name, one stream per player, integer arithmetic and libm, so that a plan is the same on
//! every platform and in every version.

use std::time::Duration;

/// Everything that will be sent, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The acts by index.
    pub acts: Vec<ActSpec>,
    /// The crowd by index.
    pub players: Vec<Player>,
    /// Every time a player opens the app, in the order of their instants.
    pub visits: Vec<Visit>,
    /// Sorted by (at, player, visit, nth).
    pub arrivals: Vec<Arrival>,
    /// SHA-256 of the arrivals' little-endian bytes.
    pub digest: [u8; 32],
}

/// Where an act stands in the scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActSpec {
    /// Its name.
    pub name: String,
    /// The journey's index.
    pub journey: usize,
    /// The step's index in the journey.
    pub step: usize,
}

/// One player going through one journey once; its initData is signed for its own opening instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Since the start of the load.
    pub at: Duration,
    /// Index in [`Plan::players`].
    pub player: u32,
    /// Index in the scenario's journeys.
    pub journey: u16,
}

/// One planned act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Since the start of the load.
    pub at: Duration,
    /// Index in [`Plan::players`].
    pub player: u32,
    /// Index in [`Plan::visits`].
    pub visit: u32,
    /// Index in [`Plan::acts`].
    pub act: u16,
    /// Which repetition of the act within its visit, from 0.
    pub nth: u16,
}

/// One of the crowd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// Telegram user id.
    pub user_id: i64,
    /// May hold any script, emoji, quotes and markup.
    pub first_name: String,
    /// Often absent.
    pub last_name: Option<String>,
    /// Often absent.
    pub username: Option<String>,
    /// Such as `ru`.
    pub language_code: String,
    /// The group's index.
    pub group: u32,
    /// The group's Telegram id, negative.
    pub chat_id: i64,
    /// The same for everyone of the group.
    pub chat_instance: i64,
}
