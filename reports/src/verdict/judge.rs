//! Summary and budgets -> verdict.

use super::lines::lines;
use super::{Breach, BudgetLine, Standing, Verdict, validity};
use crate::recording::Outcomes;
use crate::summary::Summary;
use crate::{Budgets, Value};

/// The first that holds: partial, failed, not ready, died, invalid, broken, pass.
pub fn judge(summary: &Summary, budgets: &Budgets) -> Verdict {
    if summary.partial {
        return Verdict::Partial;
    }
    if let Some(fault) = &summary.failed {
        return Verdict::Failed(fault.clone());
    }
    if let Some(why) = &summary.not_ready {
        return Verdict::NotReady(why.clone());
    }
    if let Some(ending) = summary.system.own_ending() {
        return Verdict::Died(Box::new(ending.clone()));
    }
    judge_what_was_measured(summary, &lines(summary, budgets))
}

fn judge_what_was_measured(summary: &Summary, lines: &[BudgetLine]) -> Verdict {
    let reasons: Vec<String> = validity::faults_of_the_rig(summary).into_iter().chain(not_judgeable(lines)).collect();
    if !reasons.is_empty() {
        return Verdict::Invalid(reasons);
    }
    let breaches: Vec<Breach> = lines.iter().filter_map(BudgetLine::breach).collect();
    match nothing_succeeded(summary) {
        Some(reason) if breaches.is_empty() => Verdict::Invalid(vec![reason]),
        Some(_) | None if breaches.is_empty() => Verdict::Pass,
        Some(_) | None => Verdict::Broken(breaches),
    }
}

/// A run without a single success has no response times, and nobody can tell from it what the system does when it is
/// asked well. Where a budget names that, it is broken; where none does, it is still no pass. A shard is one of many.
fn nothing_succeeded(summary: &Summary) -> Option<String> {
    if summary.header.shard.is_some() || summary.acts.values().any(|act| act.ok > 0) || !summary.any_failed() {
        return None;
    }
    let mut all = Outcomes::default();
    summary.acts.values().for_each(|act| all.merge(&act.outcomes));
    let classes = all.named().into_iter().filter(|(_, count)| *count > 0);
    let classes: Vec<String> = classes.map(|(class, count)| format!("{class} {}", Value::Count(count))).collect();
    Some(format!("not one act succeeded ({}), so no response time was measured", classes.join(", ")))
}

/// Budgets on what was not measured, or none of which could be judged.
fn not_judgeable(lines: &[BudgetLine]) -> Vec<String> {
    let unmeasured = lines.iter().filter_map(|line| match &line.standing {
        Standing::Unmeasured(why) => Some(format!("the budget `{}` has nothing to judge: {why}", line.series)),
        Standing::Kept | Standing::Broken | Standing::NotJudged(_) => None,
    });
    unmeasured.chain(none_judged(lines)).collect()
}

fn none_judged(lines: &[BudgetLine]) -> Option<String> {
    let why = lines.first()?.standing.why()?;
    let all_only_shown = lines.iter().all(|line| matches!(line.standing, Standing::NotJudged(_)));
    all_only_shown.then(|| format!("there are only latency budgets, and none could be judged: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::VerdictKind;
    use crate::fixture::{self, ending};
    use crate::recording::{ActInterval, Ending, EndingKind, Outcome, Row, Sample};

    /// What the small run comes to after a change to it.
    fn verdict(change: impl FnOnce(&mut Summary)) -> Verdict {
        let mut summary = fixture::summary();
        change(&mut summary);
        judge(&summary, &summary.header.budgets.clone())
    }

    fn throttle(summary: &mut Summary) {
        summary.telegram.throttled = 213;
    }

    fn freeze_the_rig(summary: &mut Summary) {
        summary.rig.lag_us.max = Some(2_000_000);
    }

    fn die(summary: &mut Summary) {
        summary.system.ending = Some(ending(EndingKind::Signal, Some("SIGSEGV"), 5_100));
    }

    #[test]
    fn the_first_that_holds_wins() {
        type Worsened = (VerdictKind, fn(&mut Summary));
        let worse: [Worsened; 7] = [
            (VerdictKind::Pass, |_| {}),
            (VerdictKind::Broken, throttle),
            (VerdictKind::Invalid, freeze_the_rig),
            (VerdictKind::Died, die),
            (VerdictKind::NotReady, |summary| summary.not_ready = Some("exit 1".to_owned())),
            (VerdictKind::Failed, |summary| summary.failed = Some("disk full".to_owned())),
            (VerdictKind::Partial, |summary| summary.partial = true),
        ];
        for (last, (kind, _)) in worse.iter().enumerate() {
            let all_up_to_it = verdict(|summary| worse[..=last].iter().for_each(|(_, change)| change(summary)));
            assert_eq!(all_up_to_it.kind(), *kind);
        }
    }

    #[test]
    fn a_breach_says_what_was_allowed_and_what_was_measured() {
        let Verdict::Broken(breaches) = verdict(throttle) else { panic!("213 of at most 0 are a breach") };
        let breach = Breach { series: "throttled".into(), limit: "0".into(), value: "213".into(), ratio: None };
        assert_eq!(breaches, [breach]);
    }

    #[test]
    fn the_rigs_own_stop_is_no_death_and_a_clean_exit_of_its_own_is() {
        assert_eq!(verdict(|_| {}).kind(), VerdictKind::Pass);
        let exit = Ending { code: Some(0), ..ending(EndingKind::Exit, None, 5_000) };
        assert_eq!(verdict(|summary| summary.system.ending = Some(exit)).kind(), VerdictKind::Died);
    }

    #[test]
    fn a_system_that_answers_nothing_breaks_its_budgets_and_is_never_a_reason_for_invalid() {
        let broken = verdict(|summary| {
            summary.deliveries.expected = Some(0);
            for act in summary.acts.values_mut() {
                act.outcomes.timeout = std::mem::take(&mut act.ok);
                act.unserved = act.planned;
                act.judged_us = crate::summary::Quantiles { count: act.planned, ..Default::default() };
            }
        });
        assert_eq!(broken.kind(), VerdictKind::Broken);
    }

    /// The small run with two of its guesses replaced: too few to move the 99th percentile of all 300 acts.
    fn verdict_with_two_guesses_like(sample: &Sample) -> Verdict {
        let mut rows = fixture::rows();
        let mut intervals =
            rows.iter_mut().filter_map(|row| if let Row::Interval(row) = row { Some(row) } else { None });
        let guess = intervals.nth(5).unwrap().acts.get_mut("guess").unwrap();
        *guess = ActInterval::default();
        for nth in 0..20 {
            let healthy = fixture::sample(5, Duration::from_millis(5), Outcome::Ok);
            guess.count(if nth < 2 { sample } else { &healthy });
        }
        let (summary, _) = fixture::summarised(rows);
        judge(&summary, &summary.header.budgets)
    }

    #[test]
    fn a_rig_stopped_for_two_seconds_makes_the_run_invalid_and_a_system_stopped_as_long_does_not() {
        let healthy = fixture::sample(5, Duration::from_secs(2), Outcome::Ok);
        let rig_stopped = Sample { started: healthy.started + Duration::from_secs(2), ..healthy.clone() };
        let Verdict::Invalid(reasons) = verdict_with_two_guesses_like(&rig_stopped) else {
            panic!("the rig stood still")
        };
        assert_eq!(reasons.len(), 1);
        let late = "the rig stood still: an act left, or was given up, 2.001 s after it was due (lag p99 100 us); ";
        assert!(reasons[0].starts_with(late), "{reasons:?}");
        assert_eq!(verdict_with_two_guesses_like(&healthy), Verdict::Pass);
    }

    #[test]
    fn a_stalled_system_does_not_make_a_run_invalid() {
        assert_eq!(verdict(|summary| summary.system.stall_max_ms = Some(2_000.0)).kind(), VerdictKind::Broken);
    }

    #[test]
    fn a_budget_on_what_was_not_measured_is_invalid_in_words() {
        let Verdict::Invalid(reasons) = verdict(|summary| summary.system.rss_peak_bytes = None) else {
            panic!("memory was not measured")
        };
        assert_eq!(
            reasons,
            ["the budget `memory` has nothing to judge: the system's memory was not measured (proc: active)"]
        );
    }

    #[test]
    fn when_only_latency_would_be_judged_and_is_not_the_run_is_invalid() {
        let only_latency = |summary: &mut Summary, judged| {
            let latency = std::mem::take(&mut summary.header.budgets.latency);
            summary.header.budgets = Budgets { latency, ..Budgets::default() };
            summary.header.judge_latency = judged;
        };
        assert_eq!(verdict(|summary| only_latency(summary, true)).kind(), VerdictKind::Pass);
        assert_eq!(verdict(|summary| only_latency(summary, false)).kind(), VerdictKind::Invalid);
        assert_eq!(verdict(|summary| summary.header.judge_latency = false).kind(), VerdictKind::Pass);
    }

    #[test]
    fn without_budgets_a_measured_run_passes() {
        assert_eq!(verdict(|summary| summary.header.budgets = Budgets::default()).kind(), VerdictKind::Pass);
    }

    /// Every act of the small run ends like this.
    fn all_end(summary: &mut Summary, count: fn(&mut Outcomes) -> &mut u64) {
        for act in summary.acts.values_mut() {
            *count(&mut act.outcomes) += std::mem::take(&mut act.ok);
        }
    }

    #[test]
    fn a_run_in_which_nothing_succeeded_is_no_pass_though_no_budget_says_so() {
        let none_but = |ok| {
            verdict(|summary| {
                all_end(summary, |outcomes| &mut outcomes.status_4xx);
                summary.header.budgets = Budgets::default();
                summary.acts.get_mut("guess").unwrap().ok = ok;
            })
        };
        let Verdict::Invalid(reasons) = none_but(0) else { panic!("nothing was measured") };
        assert_eq!(reasons, ["not one act succeeded (status_4xx 300), so no response time was measured"]);
        assert_eq!(none_but(1), Verdict::Pass);
    }

    #[test]
    fn of_a_shard_in_which_nothing_succeeded_the_whole_is_judged() {
        let shard = verdict(|summary| {
            all_end(summary, |outcomes| &mut outcomes.status_4xx);
            summary.header.budgets = Budgets::default();
            summary.header.shard = Some(crate::recording::Shard { number: 1, of: 8 });
        });
        assert_eq!(shard, Verdict::Pass);
    }
}
