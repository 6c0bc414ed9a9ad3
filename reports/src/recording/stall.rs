//! A time in which the system did nothing for anybody, and who saw it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One stall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Stall {
    pub from_us: u64,
    pub len_us: u64,
    /// Who saw it.
    #[serde(default)]
    pub source: Source,
    /// What the loop did meanwhile; nothing: not seen from inside, or the kernel keeps no such account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<StallKind>,
    /// Whose loop it was, seen from inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether the process died during it, so that it might have been longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub died: bool,
    /// Who alone met it, where the other did certainly not; only from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
}

/// Where the two that watch from outside disagree, who waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// Requests waited for answers while connects were accepted at once.
    Requests,
    /// Connects waited to be accepted while requests were answered at once.
    Connects,
}

impl Stall {
    /// Whether both were under way at one instant.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.from_us < other.from_us + other.len_us && other.from_us < self.from_us + self.len_us
    }
}

/// Where a loop was while it stalled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// When the stall began.
    pub at_us: u64,
    /// Whose loop it is.
    pub pid: u32,
    /// Each `function (file:line)`, the innermost first.
    pub frames: Vec<String>,
}

/// Who saw a stall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The system's own loop wrote nothing for longer than 50 ms: right within half a tick, 10 ms.
    Inside,
    /// A steady probe was left unanswered, or a bare connect unaccepted, for longer than 50 ms over the run's median.
    #[default]
    Outside,
}

/// What a loop did while it stalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallKind {
    /// It computed.
    Computing,
    /// It waited in a call: a file, a lock, a sleep.
    Blocked,
    /// It was ready to run and had no processor, which others used.
    Starved,
    /// It was ready to run and its cgroup had spent its quota of CPU.
    Throttled,
    /// A signal had stopped it.
    Stopped,
}

impl StallKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Computing, Self::Blocked, Self::Starved, Self::Throttled, Self::Stopped];
}

impl fmt::Display for StallKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Computing => "computing",
            Self::Blocked => "blocked",
            Self::Starved => "starved of CPU",
            Self::Throttled => "held back by its CPU quota",
            Self::Stopped => "stopped by a signal",
        })
    }
}
