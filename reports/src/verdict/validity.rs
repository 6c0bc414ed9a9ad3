//! Whether the rig itself was the limit. A slow or dead system is never a reason: only what the rig, its cores and
//! the host did wrong counts here.

use crate::Value;
use crate::recording::{RigFaults, Sample};
use crate::summary::{Busy, Rig, Summary};

/// More than this share of the acts sent late puts the 99th percentile of lag beyond [`Sample::LATE`], and with it
/// the percentile that most budgets are on.
pub(crate) const LATE_SHARE: f64 = 0.01;

/// A rig that uses more than this of its cores, or of the one core of its driving thread or its stub's, for five
/// seconds on end has no room left to be in time (an M/D/1 queue waits five times its service time at 91 %).
const BUSY: f64 = 0.9;

/// A host that takes this share of the time of the rig's and the system's cores is what made the rig late. So much is
/// no reason by itself: what it does to the rig shows as lag, and what it does to the system is part of the machine
/// that was measured.
const STOLEN: f64 = 0.1;

/// Beyond this share, over the whole load, the figures are the host's and not the system's: a system that keeps its
/// cores 75 % busy keeps what is left of them 94 % busy, and its queue is five times as long (M/D/1). The next run
/// finds another host.
const MOST_STOLEN: f64 = 0.2;

/// Why the run tells nothing about the system; empty when it does.
pub fn faults_of_the_rig(summary: &Summary) -> Vec<String> {
    if !summary.header.parts.is_empty() {
        return faults_of_the_rigs(summary);
    }
    let mut reasons = Vec::new();
    reasons.extend(failed_at_its_part(summary));
    reasons.extend(sent_nothing(summary));
    reasons.extend(stood_still(summary));
    if summary.header.judge_latency {
        reasons.extend(sent_late(summary));
        reasons.extend(was_saturated(summary));
        reasons.extend(was_robbed(summary));
    }
    reasons
}

/// A joint run is invalid if any of its rigs was the limit, however little that moves the joint percentiles.
fn faults_of_the_rigs(summary: &Summary) -> Vec<String> {
    let parts = summary.header.parts.iter();
    let faults = parts.flat_map(|part| part.faults.iter().map(|fault| format!("shard {}: {fault}", part.shard)));
    faults.chain(sent_nothing(summary)).collect()
}

/// A reason for each kind of fault, since each has another cause.
fn failed_at_its_part(summary: &Summary) -> Vec<String> {
    let mut faults = RigFaults::default();
    summary.acts.values().for_each(|act| faults.merge(&act.rig_faults));
    let all: u64 = summary.acts.values().map(|act| act.outcomes.rig_fault).sum();
    let told = faults.kinds().into_iter().map(|(kind, count)| (count, kind.in_words()));
    let untold = (all.saturating_sub(faults.total()), "its recording does not say why: record it again");
    told.chain([untold])
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("the rig failed at {} of its acts: {why}", Value::Count(count)))
        .collect()
}

fn sent_nothing(summary: &Summary) -> Option<String> {
    match summary.planned() {
        // A plan of fewer players than shards leaves some without any.
        0 if summary.header.shard.is_some() => None,
        0 => Some(
            "no act was planned, so there is nothing to judge: let players arrive for longer, or more of them"
                .to_owned(),
        ),
        _ if summary.taken() == 0 => Some(
            "every planned act was skipped, so there is nothing to judge: see to the `when` of the steps, and to whom \
             `on_failure` lets leave"
                .to_owned(),
        ),
        _ if summary.rig.lag_us.max.is_none() => Some(
            "not one act was sent: `outcomes` says what kept them; abandoned ones need what an earlier step captures, \
             or a load that lasts longer"
                .to_owned(),
        ),
        _ => None,
    }
}

fn stood_still(summary: &Summary) -> Option<String> {
    let max = summary.rig.lag_us.max?;
    (u128::from(max) >= Sample::STOOD_STILL.as_micros()).then(|| {
        let (max, p99) = (Value::Time(max), Value::quantile(summary.rig.lag_us.p99));
        let late = format!("an act left, or was given up, {max} after it was due (lag p99 {p99})");
        match too_busy(&summary.rig) {
            Some(why) => format!("the rig was far behind: {late}: {why}"),
            None => format!(
                "the rig stood still: {late}; run it again where nobody suspends it and nothing else takes its cores"
            ),
        }
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
    match (too_busy(rig), rig.steal, rig.core_busy) {
        (_, Some(stolen), _) if stolen > STOLEN => {
            let stolen = Value::Share(stolen);
            format!("the host stole {stolen} of the time, so take a quieter machine")
        }
        (Some(why), _, _) => why,
        (None, _, Some(busy)) if busy > BUSY => {
            let (own, busy) = (Value::share(rig.own_busy), Value::Share(busy));
            format!("others were on the rig's cores ({busy} busy, the rig's own part {own}), so keep them away")
        }
        (None, _, None) => {
            "how busy its cores were is not known, so end what else runs here, or let the load last a second".to_owned()
        }
        (None, _, Some(_)) => {
            "something else on this machine held the rig up, so end what else runs here, or take another machine"
                .to_owned()
        }
    }
}

/// In words, where the rig had no room left in its busiest second.
fn too_busy(rig: &Rig) -> Option<String> {
    let own = rig.own_busy.filter(|own| *own > BUSY)?;
    let (of, remedy) = busiest(rig, own, |busy| busy.most);
    Some(format!("the rig itself used {} of {of}, so {remedy}", Value::Share(own)))
}

/// Only the rig's own use: what others do on its cores shows as lag, or did no harm.
fn was_saturated(summary: &Summary) -> Option<String> {
    let own = summary.rig.own_busy_sustained.filter(|own| *own > BUSY)?;
    let (of, remedy) = busiest(&summary.rig, own, |busy| busy.sustained);
    let own = Value::Share(own);
    Some(format!("the rig itself used {own} of {of} for five seconds on end or the whole of a shorter load: {remedy}"))
}

/// What the rig's greatest share is of, and what helps: one thread is not helped by further cores.
fn busiest(rig: &Rig, own: f64, share: fn(&Busy) -> Option<f64>) -> (&'static str, &'static str) {
    if share(&rig.driver) == Some(own) {
        ("its driving thread's core", "plan less, or divide the load among several rigs (--shard)")
    } else if share(&rig.stub) == Some(own) {
        ("the one core that its stub's thread can use", "plan less")
    } else {
        ("its cores", "leave it more room or plan less")
    }
}

fn was_robbed(summary: &Summary) -> Option<String> {
    let stolen = summary.rig.steal.filter(|stolen| *stolen > MOST_STOLEN)?;
    let (stolen, most) = (Value::Share(stolen), Value::Share(MOST_STOLEN));
    Some(format!(
        "the host stole {stolen} of the time of the rig's and the system's cores, more than {most}: take a quieter \
         machine, or run it again later"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::RigFault;

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
    fn one_act_at_the_rigs_own_fault_is_enough_and_each_kind_says_its_own_cause() {
        for (fault, cause) in [
            (RigFault::AddressNotAvailable, "no local port was left (EADDRNOTAVAIL)"),
            (RigFault::TooManyOpenFiles, "the limit on open files was met (EMFILE)"),
            (RigFault::NoBufferSpace, "the kernel had no memory left for sockets (ENOBUFS)"),
            (RigFault::Unsigned, "their initData was not signed in time"),
            (RigFault::Stub, "the stub fell behind or had ended"),
            (
                RigFault::AnswerTooLong,
                "an answer was longer than is kept (16 MiB of a body to be read, 1000 header lines or 64 KiB of head)",
            ),
            (RigFault::Local, "this machine has no way to the target"),
        ] {
            let reasons = reasons(|summary| {
                let open = summary.acts.get_mut("open").unwrap();
                open.outcomes.rig_fault = 1;
                open.rig_faults.count(fault);
            });
            let said = the_only(&reasons);
            assert!(said.starts_with(&format!("the rig failed at 1 of its acts: {cause}")), "{said}");
        }
    }

    #[test]
    fn faults_of_two_kinds_are_two_reasons_and_an_old_recording_does_not_say_which() {
        let reasons = reasons(|summary| {
            let open = summary.acts.get_mut("open").unwrap();
            open.outcomes.rig_fault = 6;
            open.rig_faults = RigFaults { local: 1, unsigned: 2, ..RigFaults::default() };
        });
        let begin = |reason: &String| reason.split_once(" of its acts").unwrap().0.to_owned();
        let counts: Vec<String> = reasons.iter().map(begin).collect();
        assert_eq!(counts, [2, 1, 3].map(|count| format!("the rig failed at {count}")));
        assert!(reasons[2].contains("its recording does not say why"), "{reasons:?}");
    }

    #[test]
    fn a_rig_that_stood_still_is_caught_even_when_the_99th_percentile_is_not() {
        let lag_max = |us| move |summary: &mut Summary| summary.rig.lag_us.max = Some(us);
        assert!(reasons(lag_max(999_999)).is_empty());
        assert_eq!(
            the_only(&reasons(lag_max(2_012_000))),
            "the rig stood still: an act left, or was given up, 2.012 s after it was due (lag p99 100 us); run it again \
             where nobody suspends it and nothing else takes its cores"
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
    fn a_rig_whose_one_thread_is_full_is_the_one_to_blame_also_where_it_is_far_behind() {
        let busy = Busy { most: Some(0.99), sustained: Some(0.95) };
        let full = |part: fn(&mut Rig) -> &mut Busy| {
            reasons(|summary| {
                let rig = &mut summary.rig;
                *part(rig) = busy;
                (rig.own_busy, rig.own_busy_sustained) = (busy.most, busy.sustained);
                (rig.lag_us.max, rig.core_busy) = (Some(1_000_000), Some(0.14));
            })
        };
        for (part, of) in [
            ((|rig| &mut rig.driver) as fn(&mut Rig) -> &mut Busy, "its driving thread's core"),
            (|rig| &mut rig.stub, "the one core that its stub's thread can use"),
        ] {
            let reasons = full(part);
            assert_eq!(reasons.len(), 2, "{reasons:?}");
            assert!(reasons[0].starts_with("the rig was far behind: an act left"), "{reasons:?}");
            assert!(reasons[0].contains(&format!("the rig itself used 99 % of {of}")), "{reasons:?}");
            assert!(
                reasons[1].starts_with(&format!("the rig itself used 95 % of {of} for five seconds")),
                "{reasons:?}"
            );
        }
    }

    #[test]
    fn the_rig_may_use_nine_tenths_of_its_cores() {
        let used = |share| move |summary: &mut Summary| summary.rig.own_busy_sustained = Some(share);
        assert!(reasons(used(0.9)).is_empty());
        assert!(the_only(&reasons(used(0.91))).contains("the rig itself used 91 % of its cores for five seconds"));
    }

    #[test]
    fn what_others_take_is_no_reason_while_the_rig_keeps_up() {
        assert!(reasons(|summary| summary.rig.core_busy = Some(1.0)).is_empty());
    }

    #[test]
    fn a_host_that_steals_more_than_a_fifth_of_the_time_is_a_reason_by_itself() {
        let stolen = |share| move |summary: &mut Summary| summary.rig.steal = Some(share);
        assert!(reasons(stolen(0.2)).is_empty());
        let reasons = reasons(stolen(0.21));
        let said = the_only(&reasons);
        assert!(said.starts_with("the host stole 21 % of the time of the rig's and the system's cores"), "{said}");
    }

    #[test]
    fn where_latency_is_only_shown_a_crowded_machine_is_no_reason_but_standing_still_is() {
        let crowded = |summary: &mut Summary| {
            summary.header.judge_latency = false;
            summary.rig.late_share = Some(0.5);
            summary.rig.own_busy_sustained = Some(1.0);
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
        assert!(the_only(&reasons(|summary| summary.rig.lag_us.max = None)).starts_with("not one act was sent: "));
        let skipped = reasons(|summary| {
            for act in summary.acts.values_mut() {
                act.outcomes.skipped = act.planned;
            }
        });
        assert!(the_only(&skipped).starts_with("every planned act was skipped"));
    }
}
