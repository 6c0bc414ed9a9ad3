//! Whether the rig itself was the limit. A slow or dead system is never a reason: only what the rig, its cores and
//! the host did wrong counts here.

use std::time::Duration;

use crate::Value;
use crate::recording::Sample;
use crate::summary::Summary;

/// More than this share of the acts sent late puts the 99th percentile of lag beyond [`Sample::LATE`], and with it
/// the percentile that most budgets are on.
const LATE_SHARE: f64 = 0.01;

/// An act sent this late was not held up by scheduling: the rig stood still (stopped, suspended, starved), and the
/// acts planned meanwhile came in a heap that nobody had planned.
const STOOD_STILL: Duration = Duration::from_secs(1);

/// A rig core busier than this for five seconds on end has no room left to send in time (an M/D/1 queue waits five
/// times its service time at 91 %).
const BUSY: f64 = 0.9;

/// A host that takes this share of the machine's time slows the system as much as the rig, so that what was
/// measured is not the machine that the report names.
const STOLEN: f64 = 0.1;

/// Why the run tells nothing about the system; empty when it does.
pub(super) fn faults_of_the_rig(summary: &Summary) -> Vec<String> {
    let mut reasons = Vec::new();
    reasons.extend(could_not_send(summary));
    reasons.extend(sent_nothing(summary));
    reasons.extend(stood_still(summary));
    if summary.header.judge_latency {
        reasons.extend(sent_late(summary));
        reasons.extend(was_busy(summary));
        reasons.extend(was_robbed(summary));
    }
    reasons
}

fn could_not_send(summary: &Summary) -> Option<String> {
    let faults: u64 = summary.acts.values().map(|act| act.outcomes.rig_fault).sum();
    (faults > 0).then(|| {
        let faults = Value::Count(faults);
        format!(
            "the rig could not send {faults} of its acts: it ran out of local ports, file descriptors or socket memory"
        )
    })
}

fn sent_nothing(summary: &Summary) -> Option<String> {
    match summary.planned() {
        0 => Some("no act was planned, so there is nothing to judge".to_owned()),
        _ if summary.taken() == 0 => Some("every planned act was skipped, so there is nothing to judge".to_owned()),
        _ if summary.rig.lag_us.max.is_none() => Some("not one act was sent".to_owned()),
        _ => None,
    }
}

fn stood_still(summary: &Summary) -> Option<String> {
    let max = summary.rig.lag_us.max?;
    (u128::from(max) >= STOOD_STILL.as_micros()).then(|| {
        let (max, p99) = (Value::Time(max), Value::quantile(summary.rig.lag_us.p99));
        format!("the rig stood still: an act left {max} after it was due (lag p99 {p99})")
    })
}

fn sent_late(summary: &Summary) -> Option<String> {
    let share = summary.rig.late_share?;
    (share > LATE_SHARE).then(|| {
        let (late, p99) = (Value::from(Sample::LATE), Value::quantile(summary.rig.lag_us.p99));
        let (share, why) = (Value::Share(share), why_late(summary));
        format!("{share} of the acts that were free to go left more than {late} late or never (lag p99 {p99}): {why}")
    })
}

/// Steal and saturation look alike from inside, and call for different remedies.
fn why_late(summary: &Summary) -> String {
    let (busy, steal) = (summary.rig.core_busy, summary.rig.steal);
    match (busy, steal) {
        (_, Some(stolen)) if stolen > STOLEN => {
            let stolen = Value::Share(stolen);
            format!("the host stole {stolen} of the time, so take a quieter machine")
        }
        (Some(busy), _) if busy > BUSY => {
            let busy = Value::Share(busy);
            format!("the rig's cores were {busy} busy, so leave them more room or plan less")
        }
        (Some(_) | None, Some(_) | None) => "the rig was held up by something else on this machine".to_owned(),
    }
}

fn was_busy(summary: &Summary) -> Option<String> {
    let busy = summary.rig.core_busy_sustained?;
    (busy > BUSY).then(|| {
        let busy = Value::Share(busy);
        format!("the rig's cores were {busy} busy for five seconds on end: leave them more room or plan less")
    })
}

fn was_robbed(summary: &Summary) -> Option<String> {
    let stolen = summary.rig.steal?;
    (stolen > STOLEN).then(|| {
        let stolen = Value::Share(stolen);
        format!("the host stole {stolen} of the machine's time during the load: take a quieter machine")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn reasons(change: impl FnOnce(&mut Summary)) -> Vec<String> {
        let mut summary = fixture::summary();
        change(&mut summary);
        faults_of_the_rig(&summary)
    }

    fn the_only(reasons: &[String]) -> &str {
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        &reasons[0]
    }

    #[test]
    fn a_rig_that_kept_up_is_no_reason() {
        assert!(reasons(|_| {}).is_empty());
    }

    #[test]
    fn one_act_at_the_rigs_own_fault_is_enough() {
        let reasons = reasons(|summary| summary.acts.get_mut("open").unwrap().outcomes.rig_fault = 1);
        assert!(the_only(&reasons).starts_with("the rig could not send 1 of its acts"));
    }

    #[test]
    fn a_rig_that_stood_still_is_caught_even_when_the_99th_percentile_is_not() {
        let lag_max = |us| move |summary: &mut Summary| summary.rig.lag_us.max = Some(us);
        assert!(reasons(lag_max(999_999)).is_empty());
        assert_eq!(
            the_only(&reasons(lag_max(2_012_000))),
            "the rig stood still: an act left 2.012 s after it was due (lag p99 100 us)"
        );
        assert_eq!(reasons(lag_max(1_000_000)).len(), 1);
    }

    #[test]
    fn one_act_in_a_hundred_may_be_late_and_not_more() {
        let late = |share| move |summary: &mut Summary| summary.rig.late_share = Some(share);
        assert!(reasons(late(0.01)).is_empty());
        let reasons = reasons(late(0.018));
        let said = the_only(&reasons);
        assert!(said.starts_with("1.8 % of the acts that were free to go left more than 50 ms late"), "{said}");
    }

    #[test]
    fn steal_is_told_apart_from_saturation() {
        let late = |busy, steal| {
            let reasons = reasons(|summary| {
                summary.rig.late_share = Some(0.5);
                summary.rig.core_busy = Some(busy);
                summary.rig.steal = Some(steal);
            });
            reasons[0].clone()
        };
        assert!(late(1.0, 0.3).contains("the host stole 30 % of the time"));
        assert!(late(0.95, 0.01).contains("the rig's cores were 95 % busy"));
        assert!(late(0.2, 0.01).contains("something else on this machine"));
    }

    #[test]
    fn cores_may_be_busy_up_to_nine_tenths() {
        let busy = |busy| move |summary: &mut Summary| summary.rig.core_busy_sustained = Some(busy);
        assert!(reasons(busy(0.9)).is_empty());
        assert!(the_only(&reasons(busy(0.91))).contains("91 % busy for five seconds on end"));
    }

    #[test]
    fn the_host_may_steal_up_to_a_tenth() {
        let steal = |share| move |summary: &mut Summary| summary.rig.steal = Some(share);
        assert!(reasons(steal(0.1)).is_empty());
        assert!(the_only(&reasons(steal(0.11))).contains("the host stole 11 %"));
    }

    #[test]
    fn where_latency_is_only_shown_a_crowded_machine_is_no_reason_but_standing_still_is() {
        let crowded = |summary: &mut Summary| {
            summary.header.judge_latency = false;
            summary.rig.late_share = Some(0.5);
            summary.rig.core_busy_sustained = Some(1.0);
            summary.rig.steal = Some(0.5);
        };
        assert!(reasons(crowded).is_empty());
        let frozen = reasons(|summary| {
            crowded(summary);
            summary.rig.lag_us.max = Some(2_000_000);
        });
        assert!(the_only(&frozen).starts_with("the rig stood still"));
    }

    #[test]
    fn no_data_is_a_reason() {
        assert!(the_only(&reasons(|summary| summary.acts.clear())).starts_with("no act was planned"));
        assert_eq!(the_only(&reasons(|summary| summary.rig.lag_us.max = None)), "not one act was sent");
        let skipped = reasons(|summary| {
            for act in summary.acts.values_mut() {
                act.outcomes.skipped = act.planned;
            }
        });
        assert!(the_only(&skipped).starts_with("every planned act was skipped"));
    }
}
