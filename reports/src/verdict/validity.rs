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

/// A rig that uses more than this of its cores for five seconds on end has no room left to send in time (an M/D/1
/// queue waits five times its service time at 91 %).
const BUSY: f64 = 0.9;

/// A host that takes this share of the machine's time is what made the rig late. On its own it is no reason: what it
/// does to the rig shows as lag, and what it does to the system is part of the machine that was measured.
const STOLEN: f64 = 0.1;

/// Why the run tells nothing about the system; empty when it does.
pub(crate) fn faults_of_the_rig(summary: &Summary) -> Vec<String> {
    if !summary.header.parts.is_empty() {
        return faults_of_the_rigs(summary);
    }
    let mut reasons = Vec::new();
    reasons.extend(could_not_send(summary));
    reasons.extend(sent_nothing(summary));
    reasons.extend(stood_still(summary));
    if summary.header.judge_latency {
        reasons.extend(sent_late(summary));
        reasons.extend(was_saturated(summary));
    }
    reasons
}

/// A joint run is invalid if any of its rigs was the limit, however little that moves the joint percentiles.
fn faults_of_the_rigs(summary: &Summary) -> Vec<String> {
    let parts = summary.header.parts.iter();
    let faults = parts.flat_map(|part| part.faults.iter().map(|fault| format!("shard {}: {fault}", part.shard)));
    faults.chain(sent_nothing(summary)).collect()
}

fn could_not_send(summary: &Summary) -> Option<String> {
    let faults: u64 = summary.acts.values().map(|act| act.outcomes.rig_fault).sum();
    (faults > 0).then(|| {
        let faults = Value::Count(faults);
        format!(
            "the rig could not send {faults} of its acts: it ran out of local ports, file descriptors or socket memory; \
             raise `ulimit -n`, or let players share connections"
        )
    })
}

fn sent_nothing(summary: &Summary) -> Option<String> {
    match summary.planned() {
        // A plan of fewer players than shards leaves some without any.
        0 if summary.header.shard.is_some() => None,
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

/// Steal, saturation and company look alike from inside, and call for different remedies.
fn why_late(summary: &Summary) -> String {
    let rig = &summary.rig;
    match (rig.own_busy, rig.steal, rig.core_busy) {
        (_, Some(stolen), _) if stolen > STOLEN => {
            let stolen = Value::Share(stolen);
            format!("the host stole {stolen} of the time, so take a quieter machine")
        }
        (Some(own), _, _) if own > BUSY => {
            let own = Value::Share(own);
            format!("the rig itself used {own} of its cores, so leave it more room or plan less")
        }
        (own, _, Some(busy)) if busy > BUSY => {
            let (own, busy) = (Value::share(own), Value::Share(busy));
            format!("others were on the rig's cores ({busy} busy, the rig's own part {own}), so keep them away")
        }
        (Some(_) | None, Some(_) | None, Some(_) | None) => "something else on this machine held the rig up".to_owned(),
    }
}

/// Only the rig's own use: what others do on its cores shows as lag, or did no harm.
fn was_saturated(summary: &Summary) -> Option<String> {
    let own = summary.rig.own_busy_sustained?;
    (own > BUSY).then(|| {
        let own = Value::Share(own);
        format!("the rig itself used {own} of its cores for five seconds on end: leave it more room or plan less")
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
    fn steal_saturation_and_company_are_told_apart() {
        let late = |own, steal, busy| {
            let reasons = reasons(|summary| {
                summary.rig.late_share = Some(0.5);
                summary.rig.own_busy = Some(own);
                summary.rig.steal = Some(steal);
                summary.rig.core_busy = Some(busy);
            });
            reasons[0].clone()
        };
        assert!(late(0.95, 0.3, 1.0).contains("the host stole 30 % of the time"));
        assert!(late(0.95, 0.1, 1.0).contains("the rig itself used 95 % of its cores"));
        assert!(late(0.9, 0.1, 0.98).contains("others were on the rig's cores (98 % busy, the rig's own part 90 %)"));
        assert!(late(0.2, 0.01, 0.9).contains("something else on this machine"));
    }

    #[test]
    fn the_rig_may_use_nine_tenths_of_its_cores() {
        let used = |share| move |summary: &mut Summary| summary.rig.own_busy_sustained = Some(share);
        assert!(reasons(used(0.9)).is_empty());
        assert!(the_only(&reasons(used(0.91))).contains("the rig itself used 91 % of its cores for five seconds"));
    }

    #[test]
    fn what_others_and_the_host_take_is_no_reason_while_the_rig_keeps_up() {
        let crowded = reasons(|summary| {
            summary.rig.core_busy = Some(1.0);
            summary.rig.steal = Some(0.5);
        });
        assert!(crowded.is_empty());
    }

    #[test]
    fn where_latency_is_only_shown_a_crowded_machine_is_no_reason_but_standing_still_is() {
        let crowded = |summary: &mut Summary| {
            summary.header.judge_latency = false;
            summary.rig.late_share = Some(0.5);
            summary.rig.own_busy_sustained = Some(1.0);
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
