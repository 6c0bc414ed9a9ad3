//! The load is over, the system was left alone, and it is not as it was before.

use super::{Finding, FindingId};
use crate::summary::{ProbeTimes, Recovery};
use crate::verdict::{Standing, budget_lines};
use crate::{Summary, Value};

/// A lone player who waits this long, in microseconds, meets a system that is still busy: a second is where people's
/// flow of thought breaks (Nielsen, "Response Times: The 3 Important Limits").
const SLOW_US: u64 = 1_000_000;

/// And so many times as long as the one before the load: a first act that always takes a second tells nothing.
const TIMES_AS_SLOW: u64 = 5;

pub(super) fn find(summary: &Summary) -> Option<Finding> {
    let recovery = summary.recovery.as_ref()?;
    let mut evidence: Vec<String> =
        recovery.acts.iter().filter(|(_, times)| is_worse(times)).map(|(act, times)| said(act, times)).collect();
    let broken = budget_lines(summary).into_iter().filter(|line| line.standing == Standing::Broken);
    let broken = broken.filter(|line| line.series.starts_with("recovery."));
    evidence.extend(broken.map(|line| format!("{} is {} (at most {})", line.series, line.value, line.limit)));
    (!evidence.is_empty()).then(|| finding(recovery, evidence))
}

fn finding(recovery: &Recovery, evidence: Vec<String>) -> Finding {
    let idle = Value::Time(recovery.idle_ms * 1_000);
    Finding {
        id: FindingId::DidNotRecover,
        text: format!(
            "the system did not recover: left alone for {idle} after the load, it is not as it was before. Look for \
             work still queued, for connections and timers that nobody ends, and for caches without a bound."
        ),
        evidence,
    }
}

/// What the rig itself failed at tells nothing of the system.
fn is_worse(times: &ProbeTimes) -> bool {
    match (times.before_us, times.after_us) {
        (_, None) => times.rig_fault.is_none(),
        (Some(before), Some(after)) => after >= SLOW_US && after >= before.saturating_mul(TIMES_AS_SLOW),
        (None, Some(_)) => false,
    }
}

fn said(act: &str, times: &ProbeTimes) -> String {
    let before = times.before_us.map(|us| format!(", {} before the load", Value::Time(us))).unwrap_or_default();
    match times.after_us {
        Some(us) => format!("`{act}` of one player alone took {}{before}", Value::Time(us)),
        None => format!("`{act}` of one player alone was not served ({}){before}", times.outcome),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::RigFault;

    fn found(before_us: u64, after_us: Option<u64>) -> Option<Finding> {
        found_with(before_us, after_us, None)
    }

    fn found_with(before_us: u64, after_us: Option<u64>, rig_fault: Option<RigFault>) -> Option<Finding> {
        let mut summary = fixture::summary();
        let times = ProbeTimes { before_us: Some(before_us), after_us, outcome: "timeout".to_owned(), rig_fault };
        summary.recovery = Some(Recovery { acts: [("open".to_owned(), times)].into(), ..Recovery::default() });
        find(&summary)
    }

    #[test]
    fn a_player_who_is_not_served_is_a_finding_and_a_quick_answer_is_none() {
        let finding = found(2_000, None).unwrap();
        assert_eq!(finding.evidence, ["`open` of one player alone was not served (timeout), 2 ms before the load"]);
        assert_eq!(found(2_000, Some(3_000)), None);
        assert_eq!(found_with(2_000, None, Some(RigFault::AnswerTooLong)), None, "it is the rig's own");
    }

    #[test]
    fn slow_is_a_second_and_five_times_as_slow_as_before() {
        assert!(found(200_000, Some(1_000_000)).is_some());
        assert!(found(200_000, Some(999_999)).is_none());
        assert!(found(200_001, Some(1_000_000)).is_none());
    }

    #[test]
    fn memory_that_stays_is_a_finding_where_a_budget_says_how_much_is_too_much() {
        let mut summary = fixture::summary();
        summary.recovery = Some(Recovery { rss_left_bytes: Some(50 << 20), ..Recovery::default() });
        assert_eq!(find(&summary), None);
        summary.header.budgets.recovery.memory = Some(bytesize::ByteSize::mib(10));
        assert_eq!(find(&summary).unwrap().evidence, ["recovery.memory is 50.0 MiB (at most 10.0 MiB)"]);
    }
}
