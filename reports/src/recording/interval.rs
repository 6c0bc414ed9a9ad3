//! What the acts of one interval came to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Histogram, Outcome, Outcomes, RigFaults, Sample};

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
    /// Calls of the bot that answered no act; nothing where no act waits for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmatched: Option<u64>,
}

impl Interval {
    /// Adds what another rig counted in the same interval; exact.
    pub fn merge(&mut self, other: &Self) {
        self.len_us = self.len_us.max(other.len_us);
        self.in_flight += other.in_flight;
        // Nobody's count is no count, and never a zero.
        self.unmatched = [self.unmatched, other.unmatched].into_iter().flatten().reduce(|all, one| all + one);
        for (name, act) in &other.acts {
            self.acts.entry(name.clone()).or_default().merge(act);
        }
    }
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
    /// Of those at the rig's own fault, how many of each kind.
    #[serde(default, skip_serializing_if = "RigFaults::is_none")]
    pub rig_faults: RigFaults,
    /// Acts for which a handshake needed SYN retransmits, whatever became of them.
    pub late_connect: u64,
    /// Of the skipped ones, those whose player had left.
    #[serde(default)]
    pub left: u64,
    /// Requests sent, retries included.
    pub requests: u64,
    /// From the planned instant to the end, of the ok ones.
    pub response: Histogram,
    /// From the send to the end, of the ok ones.
    pub service: Histogram,
    /// Acts that were free to go and not sent within [`Sample::LATE`], or abandoned although free for longer.
    pub sent_late: u64,
    /// The rig's own lateness, of all that were sent and of those abandoned although free for longer than [`Sample::LATE`].
    pub lag: Histogram,
    /// Time spent waiting for the player's own previous act, of the ok ones.
    pub blocked: Histogram,
    /// From the planned instant to the end, of those that failed (abandoned, skipped and those at the rig's own fault left out).
    pub failed_response: Histogram,
}

impl ActInterval {
    /// Counts one act that ended. Its planned instant (`offered`) is counted by whoever knows the plan.
    pub fn count(&mut self, sample: &Sample) {
        self.requests += u64::from(sample.tries);
        self.late_connect += u64::from(sample.late_connect);
        self.outcomes.count(sample.outcome);
        if sample.outcome.has_failed() {
            self.failed_response.record(sample.response());
            self.count_lag(sample);
        }
        if sample.outcome == Outcome::Ok {
            self.count_success(sample);
        }
        if sample.outcome == Outcome::Abandoned {
            self.count_abandoned(sample);
        }
        if let Outcome::RigFault(fault) = sample.outcome {
            self.rig_faults.count(fault);
        }
        self.left += u64::from(sample.outcome == Outcome::Skipped { left: true });
    }

    fn count_success(&mut self, sample: &Sample) {
        self.ok += 1;
        self.response.record(sample.response());
        self.service.record(sample.service());
        self.blocked.record(sample.blocked());
        self.count_lag(sample);
    }

    /// One whose player was never free tells nothing of the rig; one that was free and left lying is the rig's fault.
    fn count_abandoned(&mut self, sample: &Sample) {
        if sample.tries == 0 && sample.lag() > Sample::LATE {
            self.count_lag(sample);
        }
    }

    fn count_lag(&mut self, sample: &Sample) {
        self.lag.record(sample.lag());
        self.sent_late += u64::from(sample.lag() > Sample::LATE);
    }

    /// Adds another interval's counts; exact.
    pub fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.ok += other.ok;
        self.outcomes.merge(&other.outcomes);
        self.rig_faults.merge(&other.rig_faults);
        self.late_connect += other.late_connect;
        self.left += other.left;
        self.requests += other.requests;
        self.sent_late += other.sent_late;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lag.merge(&other.lag);
        self.blocked.merge(&other.blocked);
        self.failed_response.merge(&other.failed_response);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::recording::RigFault;

    /// Sent `lag` after it was due at one second, and ended 30 ms later.
    fn sample(lag: Duration, outcome: Outcome) -> Sample {
        let scheduled = Duration::from_secs(1);
        let started = scheduled + lag;
        let ended = started + Duration::from_millis(30);
        let free = Duration::ZERO;
        Sample { act: 0, player: 0, scheduled, free, started, ended, outcome, tries: 1, late_connect: false }
    }

    fn never_sent(lag: Duration) -> Sample {
        let sample = sample(lag, Outcome::Abandoned);
        Sample { ended: sample.started, tries: 0, ..sample }
    }

    fn counted(samples: &[Sample]) -> ActInterval {
        let mut act = ActInterval::default();
        for sample in samples {
            act.count(sample);
        }
        act
    }

    #[test]
    fn successes_and_failures_have_histograms_of_their_own() {
        let act = counted(&[sample(Duration::ZERO, Outcome::Ok), sample(Duration::ZERO, Outcome::Timeout)]);
        assert_eq!((act.ok, act.outcomes.timeout, act.requests), (1, 1, 2));
        assert_eq!((act.response.count(), act.service.count(), act.blocked.count()), (1, 1, 1));
        assert_eq!((act.failed_response.count(), act.lag.count()), (1, 2));
    }

    #[test]
    fn whoever_was_let_in_late_is_counted_whatever_became_of_it() {
        let late = |outcome| Sample { late_connect: true, ..sample(Duration::ZERO, outcome) };
        let every = [Outcome::Ok, Outcome::Status(503), Outcome::Timeout, Outcome::CheckFailed, Outcome::Abandoned];
        assert_eq!(counted(&every.map(late)).late_connect, 5);
        assert_eq!(counted(&every.map(|outcome| sample(Duration::ZERO, outcome))).late_connect, 0);
    }

    #[test]
    fn an_act_is_sent_late_beyond_fifty_milliseconds() {
        let ok = Outcome::Ok;
        assert_eq!(counted(&[sample(Sample::LATE, ok)]).sent_late, 0);
        assert_eq!(counted(&[sample(Sample::LATE + Duration::from_micros(1), ok)]).sent_late, 1);
    }

    #[test]
    fn an_abandoned_act_is_the_rigs_fault_only_when_its_player_was_free() {
        let left_lying = never_sent(Duration::from_millis(51));
        let blocked = Sample { free: left_lying.ended, ..left_lying.clone() };
        assert_eq!(counted(&[left_lying]).sent_late, 1);
        let blocked = counted(&[blocked]);
        assert_eq!((blocked.sent_late, blocked.lag.count(), blocked.outcomes.abandoned), (0, 0, 1));
    }

    #[test]
    fn skipped_acts_and_rig_faults_leave_no_time_behind() {
        let act = counted(&[
            sample(Duration::ZERO, Outcome::Skipped { left: false }),
            sample(Duration::ZERO, Outcome::RigFault(RigFault::TooManyOpenFiles)),
        ]);
        assert_eq!((act.failed_response.count(), act.lag.count()), (0, 0));
        assert_eq!((act.outcomes.total(), act.rig_faults.too_many_open_files), (2, 1));
    }
}
