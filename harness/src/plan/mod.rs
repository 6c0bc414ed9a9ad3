//! The plan: every planned act with its instant, the same for the same scenario and seed, whatever the system does.
//!
//! Pure: ChaCha8 by name, one stream per player, integer arithmetic and libm, so that a plan is the same on
//! every platform and in every version.

mod acts;
#[cfg(test)]
pub(crate) mod by_hand;
mod chance;
mod crowd;
mod marker;
mod names;
mod networks;
mod openings;
mod part;
mod think;
mod visits;
mod walk;
mod words;

use std::time::Duration;

use sha2::{Digest, Sha256};

pub use self::crowd::crowd;
pub use self::marker::Marker;
pub use self::networks::networks;
pub use self::words::{draw, word};

use self::acts::Acts;
use crate::scenario::{Fault, Scenario};

/// Everything that will be sent, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The acts by index.
    pub acts: Vec<ActSpec>,
    /// The crowd by index.
    pub players: Vec<Player>,
    /// Every time a player opens the app, in the order of their instants.
    pub visits: Vec<Visit>,
    /// Sorted: acts that one visit has at the same instant keep their order.
    pub arrivals: Vec<Arrival>,
    /// SHA-256 of the arrivals in order, each as 20 little-endian bytes: `at` in microseconds (8), `player` (4),
    /// `visit` (4), `act` (2), `nth` (2).
    pub digest: [u8; 32],
}

/// Everything that `scenario` plans. The acts of a visit follow each other by the time the player thinks before each,
/// beginning at the instant the app is opened, however long the system takes to answer.
pub fn plan(scenario: &Scenario) -> Plan {
    let players = crowd(scenario.seed, scenario.crowd.groups, scenario.crowd.players_per_group);
    let acts = Acts::of(&scenario.journeys);
    let visits = visits::visits(scenario, players.len() as u32);
    let arrivals = walk::arrivals(scenario.seed, &scenario.journeys, &acts, &visits);
    let digest = digest(&arrivals);
    Plan { acts: acts.specs, players, visits, arrivals, digest }
}

/// Where an act stands in the scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActSpec {
    /// Its name; ends in `.stale` and the like when its visits carry faulty initData.
    pub name: String,
    /// The journey's index.
    pub journey: usize,
    /// The step's index in the journey.
    pub step: usize,
    /// What is wrong with the initData it is done with.
    pub fault: Option<Fault>,
}

impl ActSpec {
    /// The statuses that it must be refused with, where its initData is such that it must be refused.
    pub fn refusal<'a>(&self, scenario: &'a Scenario) -> Option<&'a [u16]> {
        let journey = &scenario.journeys[self.journey];
        let statuses = journey.faults.as_ref()?.refusal(self.fault?)?;
        journey.steps[self.step].does.sends_init_data().then_some(statuses)
    }
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
    /// What is wrong with its initData.
    pub fault: Option<Fault>,
}

/// One planned act. Its instant is in whole microseconds, so that what is printed and digested is all there is.
///
/// Arrivals come in the order of their fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

fn digest(arrivals: &[Arrival]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for arrival in arrivals {
        digest.update((arrival.at.as_micros() as u64).to_le_bytes());
        digest.update(arrival.player.to_le_bytes());
        digest.update(arrival.visit.to_le_bytes());
        digest.update(arrival.act.to_le_bytes());
        digest.update(arrival.nth.to_le_bytes());
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests;
