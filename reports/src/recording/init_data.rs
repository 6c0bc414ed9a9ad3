//! What is wrong with the initData that some visits carry, so that it can be seen whether the system refuses it.

use serde::{Deserialize, Serialize};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitDataFault {
    /// Signed well, but long ago.
    Stale,
    /// Names another user than the one that its hash is of.
    Tampered,
    /// That of the player's visit before.
    Reused,
}
