//! A part of a plan that one rig drives, and what is kept of each rig when their recordings are joined.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Calibration, Cores, Machine};

/// Which part of a plan a rig drives: that of the players whose index leaves `number - 1` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1. The first one owns the stub, the system and the observation.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// Whether this rig starts and watches what the others only load.
    pub fn is_owner(self) -> bool {
        self.number == 1
    }

    /// Whether it drives the acts of this player.
    pub fn holds(self, player: u32) -> bool {
        player % self.of == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// One rig of a recording that was joined from several: a joint run is worth no more than the worst of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it drove.
    pub shard: Shard,
    /// Where.
    pub machine: Machine,
    /// On which cores.
    pub cores: Cores,
    /// What it could do there; nothing: it was not calibrated.
    pub calibration: Option<Calibration>,
    /// CPU time that it used during the load, its stub's left out.
    pub cpu_us: Option<u64>,
    /// The busiest second of its cores, whoever used them, 0.0..=1.0.
    pub core_busy: Option<f64>,
    /// The most it used of them itself in a second, 0.0..=1.0.
    pub own_busy: Option<f64>,
    /// What it used of them for five seconds on end, 0.0..=1.0.
    pub own_busy_sustained: Option<f64>,
    /// The share of the load's time that its host stole, 0.0..=1.0.
    pub steal: Option<f64>,
    /// Why its own numbers tell nothing about the system, in words; empty when they do.
    pub faults: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_player_is_held_by_exactly_one_shard() {
        for of in 1..=8 {
            for player in 0..100 {
                let holders = (1..=of).filter(|number| Shard { number: *number, of }.holds(player));
                assert_eq!(holders.count(), 1, "player {player} of {of} shards");
            }
        }
    }
}
