//! What became of one planned act.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RigFault;

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
    /// When the player's own previous act had ended; zero for its first, equal to `ended` when the previous one never did.
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
    /// A handshake made for it, in whichever try, needed SYN retransmits: the user waited a second or more to be let
    /// in, whatever became of it then.
    #[serde(default)]
    pub late_connect: bool,
}

impl Sample {
    /// An act that was free to go and not sent within this long was sent late. It is half of the 100 ms in which
    /// people take an answer for instant (Nielsen, "Response Times: The 3 Important Limits").
    pub const LATE: Duration = Duration::from_millis(50);

    /// An act as late as this was not held up by scheduling: the rig stood still (stopped, suspended, starved) or was
    /// far behind, and the run is invalid. What has come due meanwhile would leave in a heap that nobody had planned,
    /// so that it is not sent any more.
    pub const STOOD_STILL: Duration = Duration::from_secs(1);

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
    Ok,
    /// Answered, but without what the step captures, checks or shows.
    CheckFailed,
    /// Answered with a status that was not expected. One outside of 100 to 599 is counted as [`Self::Malformed`].
    Status(u16),
    /// `ECONNREFUSED`: nobody listens.
    Refused,
    /// `ECONNRESET` or `EPIPE` in or after the connect.
    Reset,
    /// No handshake within `connect_timeout`.
    ConnectTimeout,
    /// Connected, but no TLS session came of it: a certificate that is not trusted, no version in common.
    TlsFailed,
    /// The connection ended before the answer was whole.
    Closed,
    /// What came is no answer that can be read: not HTTP, or against the rules of the protocol that is spoken.
    Malformed,
    /// Connected and sent, but no complete answer within `timeout`.
    Timeout,
    /// A bot act that no call of the bot answered.
    Unanswered,
    /// The rig could not send it, or could not judge its answer. Never charged to the system; the run is invalid.
    RigFault(RigFault),
    /// Planned and never sent: an earlier answer did not hold what it needs, the backlog cap was reached, the rig
    /// itself was too late for it, or the run ended.
    Abandoned,
    /// Begun after the scenario had ordered the system to stop, and not served: nobody need listen then.
    Stopped,
    /// Planned and deliberately not taken.
    Skipped {
        /// The player had left, over an act that failed: it ranks slowest. Otherwise a condition did not hold, and it is left out of all judgement.
        left: bool,
    },
}

impl Outcome {
    /// Whether the system failed the player, or what it answered did.
    pub fn has_failed(self) -> bool {
        match self {
            Self::CheckFailed
            | Self::Status(_)
            | Self::Refused
            | Self::Reset
            | Self::ConnectTimeout
            | Self::TlsFailed
            | Self::Closed
            | Self::Malformed
            | Self::Timeout
            | Self::Unanswered => true,
            Self::Ok | Self::RigFault(_) | Self::Abandoned | Self::Stopped | Self::Skipped { .. } => false,
        }
    }

    /// Its class in words, the key of `summary.json` it is counted by: `timeout`.
    pub fn words(self) -> &'static str {
        let mut counted = Outcomes::default();
        counted.count(self);
        counted.named().into_iter().find(|(_, count)| *count > 0).map_or("ok", |(name, _)| name)
    }
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
    #[serde(default)]
    pub tls_failed: u64,
    pub closed: u64,
    #[serde(default)]
    pub malformed: u64,
    pub timeout: u64,
    pub unanswered: u64,
    pub abandoned: u64,
    #[serde(default)]
    pub stopped: u64,
    pub skipped: u64,
    pub rig_fault: u64,
}

impl Outcomes {
    /// Counts one outcome; successes are counted beside this.
    pub fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Ok => return,
            Outcome::CheckFailed => &mut self.check_failed,
            Outcome::Status(code) => self.status(code),
            Outcome::Refused => &mut self.refused,
            Outcome::Reset => &mut self.reset,
            Outcome::ConnectTimeout => &mut self.connect_timeout,
            Outcome::TlsFailed => &mut self.tls_failed,
            Outcome::Closed => &mut self.closed,
            Outcome::Malformed => &mut self.malformed,
            Outcome::Timeout => &mut self.timeout,
            Outcome::Unanswered => &mut self.unanswered,
            Outcome::RigFault(_) => &mut self.rig_fault,
            Outcome::Abandoned => &mut self.abandoned,
            Outcome::Stopped => &mut self.stopped,
            Outcome::Skipped { left: _ } => &mut self.skipped,
        } += 1;
    }

    /// The class of an HTTP status. Below 100 and from 600 on there are none (RFC 9110, section 15): whoever sends one
    /// says nothing that can be relied on.
    fn status(&mut self, code: u16) -> &mut u64 {
        match code {
            100..200 => &mut self.status_1xx,
            200..300 => &mut self.status_2xx,
            300..400 => &mut self.status_3xx,
            400..500 => &mut self.status_4xx,
            500..600 => &mut self.status_5xx,
            ..100 | 600.. => &mut self.malformed,
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        self.check_failed += other.check_failed;
        self.status_1xx += other.status_1xx;
        self.status_2xx += other.status_2xx;
        self.status_3xx += other.status_3xx;
        self.status_4xx += other.status_4xx;
        self.status_5xx += other.status_5xx;
        self.refused += other.refused;
        self.reset += other.reset;
        self.connect_timeout += other.connect_timeout;
        self.tls_failed += other.tls_failed;
        self.closed += other.closed;
        self.malformed += other.malformed;
        self.timeout += other.timeout;
        self.unanswered += other.unanswered;
        self.abandoned += other.abandoned;
        self.stopped += other.stopped;
        self.skipped += other.skipped;
        self.rig_fault += other.rig_fault;
    }

    /// Every class with its key in `summary.json`.
    pub fn named(&self) -> [(&'static str, u64); 18] {
        [
            ("check_failed", self.check_failed),
            ("status_1xx", self.status_1xx),
            ("status_2xx", self.status_2xx),
            ("status_3xx", self.status_3xx),
            ("status_4xx", self.status_4xx),
            ("status_5xx", self.status_5xx),
            ("refused", self.refused),
            ("reset", self.reset),
            ("connect_timeout", self.connect_timeout),
            ("tls_failed", self.tls_failed),
            ("closed", self.closed),
            ("malformed", self.malformed),
            ("timeout", self.timeout),
            ("unanswered", self.unanswered),
            ("abandoned", self.abandoned),
            ("stopped", self.stopped),
            ("skipped", self.skipped),
            ("rig_fault", self.rig_fault),
        ]
    }

    /// Those that are left out of all judgement but for the players who had left: skipped, or begun after an ordered stop.
    pub fn excused(&self) -> u64 {
        self.skipped + self.stopped
    }

    /// All that did not succeed.
    pub fn total(&self) -> u64 {
        self.named().iter().map(|(_, count)| count).sum()
    }

    /// Those the system left without an answer that can be read.
    pub fn unserved(&self) -> u64 {
        let unconnected = self.refused + self.connect_timeout + self.tls_failed;
        unconnected + self.reset + self.closed + self.malformed + self.timeout
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY_FAILURE: [Outcome; 18] = [
        Outcome::CheckFailed,
        Outcome::Status(101),
        Outcome::Status(204),
        Outcome::Status(302),
        Outcome::Status(404),
        Outcome::Status(503),
        Outcome::Refused,
        Outcome::Reset,
        Outcome::ConnectTimeout,
        Outcome::TlsFailed,
        Outcome::Closed,
        Outcome::Malformed,
        Outcome::Timeout,
        Outcome::Unanswered,
        Outcome::Abandoned,
        Outcome::Stopped,
        Outcome::Skipped { left: false },
        Outcome::RigFault(RigFault::Local),
    ];

    fn counted(outcomes: &[Outcome]) -> Outcomes {
        let mut counted = Outcomes::default();
        for outcome in outcomes {
            counted.count(*outcome);
        }
        counted
    }

    #[test]
    fn every_class_of_failure_is_counted_in_a_place_of_its_own() {
        let counts = counted(&EVERY_FAILURE).named().map(|(_, count)| count);
        assert_eq!(counts, [1; 18]);
    }

    #[test]
    fn the_names_are_the_keys_of_the_file() {
        let file = serde_json::to_value(Outcomes::default()).unwrap();
        let named: Vec<_> = Outcomes::default().named().iter().map(|(name, _)| *name).collect();
        assert!(named.iter().all(|name| file.get(name).is_some()));
        assert_eq!(file.as_object().unwrap().len(), named.len());
    }

    #[test]
    fn a_success_is_no_failure() {
        assert_eq!(counted(&[Outcome::Ok]).total(), 0);
    }

    #[test]
    fn what_the_rig_did_not_send_and_who_was_let_off_did_not_fail() {
        let let_off: Vec<_> = EVERY_FAILURE.into_iter().filter(|outcome| !outcome.has_failed()).collect();
        let rig = Outcome::RigFault(RigFault::Local);
        assert_eq!(let_off, [Outcome::Abandoned, Outcome::Stopped, Outcome::Skipped { left: false }, rig]);
        assert!(!Outcome::Ok.has_failed());
    }

    #[test]
    fn merging_adds_every_class() {
        let mut twice = counted(&EVERY_FAILURE);
        twice.merge(&counted(&EVERY_FAILURE));
        assert_eq!(twice.named().map(|(_, count)| count), [2; 18]);
    }

    #[test]
    fn unserved_are_the_seven_ways_of_getting_no_answer() {
        assert_eq!(counted(&EVERY_FAILURE).unserved(), 7);
    }

    #[test]
    fn a_status_that_http_does_not_have_is_no_answer_and_of_no_class() {
        for (code, class) in
            [(0, "malformed"), (99, "malformed"), (100, "status_1xx"), (599, "status_5xx"), (600, "malformed")]
        {
            assert_eq!(Outcome::Status(code).words(), class, "{code}");
        }
        assert_eq!(counted(&[Outcome::Status(999)]).unserved(), 1);
    }

    #[test]
    fn counts_from_before_a_class_was_told_apart_are_read_as_none_of_it() {
        let mut older = serde_json::to_value(counted(&EVERY_FAILURE)).unwrap();
        for class in ["malformed", "tls_failed", "stopped"] {
            older.as_object_mut().unwrap().remove(class);
        }
        let read: Outcomes = serde_json::from_value(older).unwrap();
        assert_eq!((read.malformed, read.tls_failed, read.stopped, read.closed), (0, 0, 0, 1));
    }

    #[test]
    fn lag_is_neither_the_players_own_waiting_nor_the_systems_time() {
        let ms = Duration::from_millis;
        let sample = Sample {
            act: 0,
            player: 0,
            scheduled: ms(100),
            free: ms(130),
            started: ms(132),
            ended: ms(180),
            outcome: Outcome::Ok,
            tries: 1,
            late_connect: false,
        };
        assert_eq!(sample.response(), ms(80));
        assert_eq!(sample.blocked(), ms(30));
        assert_eq!(sample.lag(), ms(2));
        assert_eq!(sample.service(), ms(48));
    }
}
