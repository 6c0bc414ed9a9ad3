//! When a player tries an act again that has failed. Pure.

use std::time::Duration;

use floodrig_reports::recording::Outcome;

use crate::scenario::Retry;

/// When the `nth` further try is due, for an act begun at `begun` whose last try ended so at `ended`; nothing: the
/// player has given up. Tries are spread evenly, or begin when the one before has ended at last.
pub(super) fn due(retry: Retry, nth: u16, begun: Duration, ended: (Duration, Outcome)) -> Option<Duration> {
    let (at, outcome) = ended;
    if nth > retry.times || at > begun + retry.within || !outcome.has_failed() {
        return None;
    }
    Some(at.max(begun + retry.within * u32::from(nth) / u32::from(retry.times)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWICE: Retry = Retry { times: 2, within: Duration::from_secs(4) };
    const BEGUN: Duration = Duration::from_secs(10);

    fn due_after(nth: u16, ended_ms: u64, outcome: Outcome) -> Option<u64> {
        let due = due(TWICE, nth, BEGUN, (Duration::from_millis(ended_ms), outcome));
        due.map(|due| due.as_millis() as u64)
    }

    #[test]
    fn tries_are_spread_evenly_or_follow_the_one_before() {
        assert_eq!(due_after(1, 10_001, Outcome::Refused), Some(12_000));
        assert_eq!(due_after(2, 12_001, Outcome::Refused), Some(14_000));
        assert_eq!(due_after(1, 13_000, Outcome::Status(503)), Some(13_000));
    }

    #[test]
    fn there_are_no_more_than_so_many_and_none_after_that_time() {
        assert_eq!(due_after(3, 12_001, Outcome::Refused), None);
        assert_eq!(
            (due_after(1, 14_000, Outcome::Timeout), due_after(1, 14_001, Outcome::Timeout)),
            (Some(14_000), None)
        );
    }

    #[test]
    fn a_success_and_what_the_rig_could_not_send_are_not_tried_again() {
        let rig = Outcome::RigFault(floodrig_reports::recording::RigFault::Local);
        for outcome in [Outcome::Ok, rig, Outcome::Abandoned] {
            assert_eq!(due_after(1, 10_001, outcome), None, "{outcome:?}");
        }
    }
}
