//! What became of one planned act.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One planned act and what became of it. All instants are durations since the run's epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The act's index in [`super::Header::acts`].
    pub act: u16,
    /// The player's index in the plan.
    pub player: u32,
    /// The planned instant.
    #[serde(rename = "scheduled_us", with = "micros")]
    pub scheduled: Duration,
    /// When the player's own previous act had ended; zero for its first.
    #[serde(rename = "free_us", with = "micros")]
    pub free: Duration,
    /// When the act was begun; equal to `ended` when it never was.
    #[serde(rename = "started_us", with = "micros")]
    pub started: Duration,
    /// When its last try ended.
    #[serde(rename = "ended_us", with = "micros")]
    pub ended: Duration,
    /// What became of it.
    pub outcome: Outcome,
    /// Requests sent for it.
    pub tries: u16,
}

impl Sample {
    /// What the user waited: from the planned instant to the end.
    pub fn response(&self) -> Duration {
        self.ended.saturating_sub(self.scheduled)
    }

    /// What the system took: from the send to the end.
    pub fn service(&self) -> Duration {
        self.ended.saturating_sub(self.started)
    }

    /// Time spent waiting for the player's own previous act.
    pub fn blocked(&self) -> Duration {
        self.free.saturating_sub(self.scheduled)
    }

    /// The rig's own lateness, and its fault alone.
    pub fn lag(&self) -> Duration {
        self.started.saturating_sub(self.scheduled.max(self.free))
    }
}

/// What became of one planned act. The classes are never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Answered as expected.
    Ok {
        /// The handshake needed SYN retransmits: the user waited a second or more to be let in.
        late_connect: bool,
    },
    /// Answered, but a check on the answer failed.
    CheckFailed,
    /// Answered with a status that was not expected.
    Status(u16),
    /// `ECONNREFUSED`: nobody listens.
    Refused,
    /// `ECONNRESET` or `EPIPE` in or after the connect.
    Reset,
    /// No handshake within `connect_timeout`.
    ConnectTimeout,
    /// The connection ended before any byte of an answer.
    Closed,
    /// Connected and sent, but no complete answer within `timeout`.
    Timeout,
    /// A bot act that no call of the bot answered.
    Unanswered,
    /// The rig could not send it. Never charged to the system; the run is invalid.
    RigFault(RigFault),
    /// Planned and never sent: the backlog cap was reached, or the run ended.
    Abandoned,
    /// Planned and deliberately not taken: a condition was not met, or the player had left.
    Skipped,
}

/// What kept the rig itself from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RigFault {
    /// `EADDRNOTAVAIL`: the rig ran out of local ports.
    AddressNotAvailable,
    /// `EMFILE` or `ENFILE`: the rig ran out of descriptors.
    TooManyOpenFiles,
    /// `ENOBUFS` or `ENOMEM`: the kernel ran out of memory for sockets.
    NoBufferSpace,
    /// Any other local error, such as a request that could not be built.
    Local,
}

/// Acts that did not succeed, by class. `ok` stands beside them; together they are the planned acts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are the classes of `Outcome`")]
pub struct Outcomes {
    pub check_failed: u64,
    pub status_1xx: u64,
    pub status_2xx: u64,
    pub status_3xx: u64,
    pub status_4xx: u64,
    pub status_5xx: u64,
    pub refused: u64,
    pub reset: u64,
    pub connect_timeout: u64,
    pub closed: u64,
    pub timeout: u64,
    pub unanswered: u64,
    pub abandoned: u64,
    pub skipped: u64,
    pub rig_fault: u64,
}

pub(crate) mod micros {
    //! Durations as whole microseconds, which is what the recording's `_us` keys promise.

    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(value.as_micros() as u64)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_micros(u64::deserialize(from)?))
    }
}
