//! 429s feed themselves: refused calls are followed by more calls instead of by waiting.

use std::collections::BTreeMap;

use super::{Finding, FindingId};
use crate::recording::EventKind;
use crate::timeline::Timeline;
use crate::{Summary, Value};

/// The calls already under way when a scope closes are refused too, and are no storm; one bot rarely has ten.
const THROTTLED: u64 = 10;

/// Every second refusal came to a call that `retry_after` had told not to be made.
const SHARE_WHILE_THROTTLED: f64 = 0.5;

pub(super) fn find(summary: &Summary, timeline: &Timeline) -> Option<Finding> {
    let throttled = summary.telegram.throttled;
    let unheeding = summary.telegram.calls_while_throttled;
    let feeds_itself = unheeding as f64 >= throttled as f64 * SHARE_WHILE_THROTTLED;
    (throttled >= THROTTLED && feeds_itself).then(|| finding(summary, timeline))
}

fn finding(summary: &Summary, timeline: &Timeline) -> Finding {
    let telegram = &summary.telegram;
    let (calls, throttled) = (Value::Count(telegram.calls), Value::Count(telegram.throttled));
    let unheeding = Value::Count(telegram.calls_while_throttled);
    let mut evidence = vec![
        format!("{throttled} of {calls} calls were answered 429"),
        format!("{unheeding} calls were made while a retry_after was running"),
    ];
    evidence.extend(first_refusal(summary, timeline));
    evidence.extend(worst_second(timeline));
    evidence.extend(by_method(summary));
    Finding {
        id: FindingId::ThrottleStorm,
        text: format!(
            "a throttle storm: {unheeding} calls were made although an earlier 429 had said to wait, and {throttled} \
             were refused. Send through one queue per bot, and let a 429 pause the whole queue for its retry_after \
             instead of trying again at once."
        ),
        evidence,
    }
}

fn first_refusal(summary: &Summary, timeline: &Timeline) -> Option<String> {
    let first = timeline.events.iter().find(|event| event.kind == EventKind::FirstThrottled)?;
    let into_load_s = (first.at_us as f64 - summary.header.load_us.0 as f64) / 1e6;
    Some(format!("the first 429 came {into_load_s:.1} s into the load"))
}

fn worst_second(timeline: &Timeline) -> Option<String> {
    let mut by_second = BTreeMap::<u64, u64>::new();
    for calls in &timeline.calls {
        *by_second.entry(calls.from_s as u64).or_default() += calls.throttled;
    }
    let worst = by_second.into_values().max().filter(|worst| *worst > 0)?;
    Some(format!("{} refusals in the worst second", Value::Count(worst)))
}

fn by_method(summary: &Summary) -> Option<String> {
    let mut refused: Vec<_> = summary.telegram.by_method.iter().filter(|(_, counts)| counts.throttled > 0).collect();
    refused.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.throttled));
    let words: Vec<_> =
        refused.iter().map(|(method, counts)| format!("{method} {}", Value::Count(counts.throttled))).collect();
    (!words.is_empty()).then(|| format!("refused by method: {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::{Event, MethodCounts};
    use crate::timeline::CallPoint;

    fn found(throttled: u64, while_throttled: u64) -> Option<Finding> {
        let mut summary = fixture::summary();
        summary.telegram.calls = 40;
        summary.telegram.throttled = throttled;
        summary.telegram.calls_while_throttled = while_throttled;
        let counts = |throttled| MethodCounts { calls: 20, throttled, errors: 0 };
        summary.telegram.by_method = [("editMessageMedia".into(), counts(4)), ("sendPhoto".into(), counts(6))].into();
        let timeline = Timeline {
            events: vec![Event { at_us: 3_500_000, kind: EventKind::FirstThrottled, text: String::new() }],
            calls: [3.5, 3.6, 4.0].map(|from_s| CallPoint { from_s, throttled: 3, ..CallPoint::default() }).into(),
            ..Timeline::default()
        };
        find(&summary, &timeline)
    }

    #[test]
    fn refusals_that_are_not_waited_for_are_a_storm() {
        let finding = found(10, 5).unwrap();
        assert_eq!(finding.id, FindingId::ThrottleStorm);
        assert_eq!(
            finding.evidence,
            [
                "10 of 40 calls were answered 429",
                "5 calls were made while a retry_after was running",
                "the first 429 came 1.5 s into the load",
                "6 refusals in the worst second",
                "refused by method: sendPhoto 6, editMessageMedia 4",
            ]
        );
    }

    #[test]
    fn a_few_refusals_are_no_storm() {
        assert_eq!(found(9, 9), None);
    }

    #[test]
    fn refusals_that_are_waited_for_are_no_storm() {
        assert_eq!(found(10, 4), None);
    }
}
