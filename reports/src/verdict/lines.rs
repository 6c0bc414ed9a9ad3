//! What was measured of every budget, or why there is nothing to judge.

use std::time::Duration;

use super::after::after_lines;
use super::standing::BudgetLine;
use crate::recording::{Ending, Observations};
use crate::summary::{Act, Quantiles, Summary};
use crate::{Budgets, Latency, Value};

/// Every budget that the run was recorded with, in the order of the scenario's keys. Of a run that did not come to
/// its end no budget is kept or broken: what is missing could have gone either way.
pub fn budget_lines(summary: &Summary) -> Vec<BudgetLine> {
    let lines = lines(summary, &summary.header.budgets);
    match unfinished(summary) {
        Some(why) => lines.into_iter().map(|line| line.not_judged(why)).collect(),
        None => lines,
    }
}

fn unfinished(summary: &Summary) -> Option<&'static str> {
    match summary {
        Summary { partial: true, .. } => Some("the run was cut short"),
        Summary { failed: Some(_), .. } => Some("the rig failed"),
        Summary { not_ready: Some(_), .. } => Some("the system never became ready"),
        Summary { .. } if died_before_the_load(summary) => Some("the system died before the load"),
        Summary { .. } => None,
    }
}

/// None of its load was sent.
fn died_before_the_load(summary: &Summary) -> bool {
    let before = |ending: &Ending| ending.at_ms < (summary.header.load_us.0 / 1_000) as i64;
    summary.system.own_ending().is_some_and(before)
}

/// Budgets are of the whole plan: one shard's acts cannot keep or break them.
pub(super) fn lines(summary: &Summary, budgets: &Budgets) -> Vec<BudgetLine> {
    if summary.header.shard.is_some() {
        return Vec::new();
    }
    let mut lines = act_lines(summary, budgets);
    lines.extend(system_lines(summary, budgets));
    lines.extend(telegram_lines(summary, budgets));
    lines.extend(after_lines(summary, budgets));
    lines.extend(budgets.latency.iter().flat_map(|(act, latency)| latency_lines(summary, act, *latency)));
    lines
}

/// A value, or why there is none.
pub(super) type Measured = Result<Value, String>;

/// One of the quantiles, picked.
type QuantileOf = fn(&Quantiles) -> Option<u64>;

pub(super) fn line(
    series: &str,
    limit: Option<impl Into<Value>>,
    value: impl FnOnce() -> Measured,
) -> Option<BudgetLine> {
    let (series, limit) = (series.to_owned(), limit?.into());
    Some(match value() {
        Ok(value) => BudgetLine::judged(series, limit, value),
        Err(why) => BudgetLine::unmeasured(series, limit, why),
    })
}

fn act_lines(summary: &Summary, budgets: &Budgets) -> Vec<BudgetLine> {
    let total = |of: fn(&Act) -> u64| Ok(Value::Count(summary.acts.values().map(of).sum()));
    let lines = [
        line("unserved", budgets.unserved.map(Value::Count), || total(|act| act.unserved)),
        line("failed", budgets.failed.map(Value::Count), || total(Act::failed)),
        line("late_connect", budgets.late_connect.map(Value::Count), || total(|act| act.late_connect)),
    ];
    lines.into_iter().flatten().collect()
}

fn system_lines(summary: &Summary, budgets: &Budgets) -> Vec<BudgetLine> {
    let system = &summary.system;
    let lines = [
        line("error_lines", budgets.error_lines.map(Value::Count), || {
            system.stderr_errors.map(Value::Count).ok_or_else(|| "the system's log lines were not counted".to_owned())
        }),
        line("stall", budgets.stall, || stall(summary, budgets.stall)),
        line("memory", budgets.memory, || {
            let peak = system.rss_peak_bytes.map(Value::Size);
            peak.ok_or_else(|| format!("the system's memory was not measured (proc: {})", summary.observations.proc))
        }),
    ];
    lines.into_iter().flatten().collect()
}

fn stall(summary: &Summary, limit: Option<Duration>) -> Measured {
    let Observations { black_box, bare_connects, heartbeat, .. } = &summary.observations;
    let Some(ms) = summary.system.stall_max_ms else {
        if summary.partial && summary.observations.sees_stalls() {
            return Err("the recording ends before the stalls from outside were written".to_owned());
        }
        return Err(format!(
            "nothing watched for stalls, so drop it, or give the system what can be watched (black_box: {black_box}; \
             bare_connects: {bare_connects}; heartbeat: {heartbeat})"
        ));
    };
    if ms == 0.0 && limit.is_some_and(|limit| limit < Budgets::SHORTEST_STALL) {
        let shortest = Value::from(Budgets::SHORTEST_STALL);
        return Err(format!("a stall shorter than {shortest} is not told from an ordinary delay: allow more"));
    }
    Ok(Value::millis(Some(ms)))
}

fn telegram_lines(summary: &Summary, budgets: &Budgets) -> Vec<BudgetLine> {
    let deliveries = &summary.deliveries;
    let lines = [
        line("throttled", budgets.throttled.map(Value::Count), || throttled(summary)),
        line("lost", budgets.lost.map(Value::Count), || delivery(summary, deliveries.lost.map(Value::Count))),
        line("late", budgets.late.map(Value::Count), || delivery(summary, deliveries.late.map(Value::Count))),
        line("staleness", budgets.staleness, || delivery(summary, staleness(summary))),
    ];
    lines.into_iter().flatten().collect()
}

fn throttled(summary: &Summary) -> Measured {
    let throttled = summary.telegram.measured(|telegram| telegram.throttled);
    throttled.map(Value::Count).ok_or_else(|| summary.observations.calls.clone())
}

/// With nothing delivered because nothing succeeded, what players see is older than any bound.
fn staleness(summary: &Summary) -> Option<Value> {
    let p99 = summary.deliveries.staleness_ms.p99.map(|ms| Value::millis(Some(ms)));
    p99.or_else(|| summary.any_failed().then_some(Value::Unbounded))
}

/// No effect expected although every act succeeded is no data, and no data is never a pass. When acts failed it is
/// the system's doing, and no reason to call the run invalid.
fn delivery(summary: &Summary, value: Option<Value>) -> Measured {
    let deliveries = &summary.deliveries;
    let Some(expected) = deliveries.expected else {
        return Err(format!("deliveries were not watched ({})", summary.observations.deliveries));
    };
    if expected == 0 && !summary.any_failed() {
        return Err("no act that shows anything was taken".to_owned());
    }
    value.ok_or_else(|| "no effect became visible and none was lost".to_owned())
}

fn latency_lines(summary: &Summary, act: &str, latency: Latency) -> Vec<BudgetLine> {
    let Latency { p50, p90, p99, p999, max } = latency;
    let quantiles: [(&str, Option<Duration>, QuantileOf); 5] = [
        ("p50", p50, |quantiles| quantiles.p50),
        ("p90", p90, |quantiles| quantiles.p90),
        ("p99", p99, |quantiles| quantiles.p99),
        ("p999", p999, |quantiles| quantiles.p999),
        ("max", max, |quantiles| quantiles.max),
    ];
    let lines = quantiles.into_iter().filter_map(|(name, limit, of)| {
        let series = format!("latency.{act}.{name}");
        line(&series, limit, || judged_quantile(summary, act, of))
    });
    lines.map(|line| unless_not_judged(summary, act, line)).collect()
}

fn judged_quantile(summary: &Summary, name: &str, of: QuantileOf) -> Measured {
    let Some(act) = summary.acts.get(name) else {
        let acts = summary.header.acts.join(", ");
        return Err(format!("the scenario has no act `{name}`; it has {acts}"));
    };
    match act.judged_us.count {
        0 if act.planned == 0 => Err(format!("no `{name}` was planned")),
        0 => Err(format!("every planned `{name}` was skipped")),
        _ => Ok(of(&act.judged_us).map_or(Value::Unbounded, Value::Time)),
    }
}

/// A budget that names no act of the scenario is a mistake even where latency is only shown.
fn unless_not_judged(summary: &Summary, act: &str, line: BudgetLine) -> BudgetLine {
    let header = &summary.header;
    if header.judge_latency || !summary.acts.contains_key(act) {
        return line;
    }
    line.not_judged(header.not_judged.as_deref().unwrap_or("latency is only shown in this run"))
}

#[cfg(test)]
mod tests {
    use bytesize::ByteSize;

    use super::*;
    use crate::Standing;
    use crate::fixture;
    use crate::recording::EndingKind;
    use crate::summary::Staleness;

    /// How one budget stands on the small run, after a change to it.
    fn stands(budgets: &Budgets, change: impl FnOnce(&mut Summary)) -> BudgetLine {
        let mut summary = fixture::summary();
        change(&mut summary);
        let mut lines = lines(&summary, budgets);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    }

    fn untouched(_: &mut Summary) {}

    fn of_guess(latency: Latency) -> Budgets {
        Budgets { latency: [("guess".to_owned(), latency)].into(), ..Budgets::default() }
    }

    fn guess_p99(ms: u64) -> Budgets {
        of_guess(Latency { p99: Some(Duration::from_millis(ms)), ..Latency::default() })
    }

    /// Lets some guesses fail, as if they had been so from the start.
    fn fail_guesses(summary: &mut Summary, failed: u64) {
        let guess = summary.acts.get_mut("guess").unwrap();
        guess.outcomes.timeout = failed;
        guess.ok -= failed;
        guess.unserved = failed;
        guess.judged_us.p999 = None;
        guess.judged_us.p99 = guess.judged_us.p99.filter(|_| failed * 100 <= guess.planned);
    }

    #[test]
    fn a_count_at_its_limit_is_kept_and_one_above_it_broken() {
        let unserved = |most| Budgets { unserved: Some(most), ..Budgets::default() };
        let at_limit = stands(&unserved(2), |summary| fail_guesses(summary, 2));
        assert_eq!((at_limit.standing, at_limit.value.as_str()), (Standing::Kept, "2"));
        let above = stands(&unserved(2), |summary| fail_guesses(summary, 3));
        assert_eq!((above.standing, above.ratio), (Standing::Broken, Some(1.5)));
    }

    #[test]
    fn skipped_acts_have_not_failed_and_abandoned_ones_have() {
        let failed = Budgets { failed: Some(0), ..Budgets::default() };
        let change = |change: fn(&mut Act)| move |summary: &mut Summary| change(summary.acts.get_mut("open").unwrap());
        let skipped = stands(&failed, change(|act| (act.ok, act.outcomes.skipped) = (99, 1)));
        assert_eq!(skipped.standing, Standing::Kept);
        let abandoned = stands(&failed, change(|act| (act.ok, act.outcomes.abandoned) = (99, 1)));
        assert_eq!(abandoned.standing, Standing::Broken);
    }

    #[test]
    fn a_memory_budget_is_judged_by_the_peak() {
        let memory = |mib| Budgets { memory: Some(ByteSize::mib(mib)), ..Budgets::default() };
        assert_eq!(stands(&memory(30), untouched).standing, Standing::Kept);
        let broken = stands(&memory(29), untouched);
        assert_eq!(
            (broken.standing, broken.value.as_str(), broken.limit.as_str()),
            (Standing::Broken, "30.0 MiB", "29.0 MiB")
        );
    }

    #[test]
    fn a_latency_budget_stands_by_its_quantile() {
        assert_eq!(stands(&guess_p99(21), untouched).standing, Standing::Kept);
        assert_eq!(stands(&guess_p99(19), untouched).standing, Standing::Broken);
    }

    #[test]
    fn more_failures_than_the_quantile_leaves_room_for_break_any_bound() {
        assert_eq!(stands(&guess_p99(60_000), |summary| fail_guesses(summary, 2)).standing, Standing::Kept);
        let broken = stands(&guess_p99(60_000), |summary| fail_guesses(summary, 3));
        assert_eq!((broken.standing, broken.value.as_str(), broken.ratio), (Standing::Broken, "unbounded", None));
    }

    #[test]
    fn latency_that_is_not_judged_is_shown_with_the_reason() {
        let shown = stands(&guess_p99(1), |summary| {
            summary.header.judge_latency = false;
            summary.header.not_judged = Some("1 core of 2".to_owned());
        });
        assert_eq!((shown.standing, shown.value.as_str()), (Standing::NotJudged("1 core of 2".to_owned()), "20.1 ms"));
    }

    #[test]
    fn a_budget_on_an_act_that_the_scenario_has_not_is_not_measured_even_when_latency_is_only_shown() {
        let budgets =
            Budgets { latency: [("gess".to_owned(), guess_p99(1).latency["guess"])].into(), ..Budgets::default() };
        let line = stands(&budgets, |summary| summary.header.judge_latency = false);
        assert_eq!(
            line.standing,
            Standing::Unmeasured("the scenario has no act `gess`; it has open, guess".to_owned())
        );
    }

    #[test]
    fn a_budget_on_an_act_of_which_none_was_taken_is_not_measured() {
        let skipped =
            stands(&guess_p99(1), |summary| summary.acts.get_mut("guess").unwrap().judged_us = Quantiles::default());
        assert_eq!(skipped.standing.why(), Some("every planned `guess` was skipped"));
        let unplanned = stands(&guess_p99(1), |summary| {
            summary.acts.insert("guess".to_owned(), Act::default());
        });
        assert_eq!(unplanned.standing.why(), Some("no `guess` was planned"));
    }

    #[test]
    fn a_budget_on_what_was_not_watched_is_not_measured() {
        let budgets = [
            Budgets { stall: Some(Duration::from_secs(1)), ..Budgets::default() },
            Budgets { memory: Some(ByteSize::gib(1)), ..Budgets::default() },
            Budgets { error_lines: Some(9), ..Budgets::default() },
            Budgets { lost: Some(9), ..Budgets::default() },
            Budgets { late: Some(9), ..Budgets::default() },
            Budgets { staleness: Some(Duration::from_secs(99)), ..Budgets::default() },
        ];
        for budgets in budgets {
            let line = stands(&budgets, |summary| {
                summary.system = crate::summary::System::default();
                summary.deliveries = crate::summary::Deliveries::default();
            });
            assert_eq!(line.standing.word(), "not measured", "{line:?}");
        }
    }

    #[test]
    fn a_stall_budget_under_what_can_be_told_apart_is_not_measured() {
        let stall = |ms| Budgets { stall: Some(Duration::from_millis(ms)), ..Budgets::default() };
        assert_eq!(stands(&stall(50), untouched).standing, Standing::Kept);
        assert_eq!(stands(&stall(49), untouched).standing.word(), "not measured");
        let stalled = stands(&stall(49), |summary| summary.system.stall_max_ms = Some(60.0));
        assert_eq!(stalled.standing, Standing::Broken);
    }

    #[test]
    fn of_a_run_without_its_end_no_budget_is_kept_or_broken() {
        let standings = |change: fn(&mut Summary)| {
            let mut summary = fixture::summary();
            change(&mut summary);
            budget_lines(&summary).into_iter().map(|line| line.standing).collect::<Vec<_>>()
        };
        let because = |why: &str| vec![Standing::NotJudged(why.to_owned()); 6];
        assert_eq!(standings(untouched), vec![Standing::Kept; 6]);
        assert_eq!(standings(|summary| summary.partial = true), because("the run was cut short"));
        assert_eq!(standings(|summary| summary.failed = Some("disk full".into())), because("the rig failed"));
        let not_ready = standings(|summary| summary.not_ready = Some("exit 1".into()));
        assert_eq!(not_ready, because("the system never became ready"));
        let died = standings(|summary| summary.system.ending = Some(fixture::ending(EndingKind::Exit, None, -1)));
        assert_eq!(died, because("the system died before the load"));
    }

    #[test]
    fn deliveries_nobody_expected_are_no_data_unless_the_system_failed() {
        let staleness = Budgets { staleness: Some(Duration::from_secs(20)), ..Budgets::default() };
        let nothing = |summary: &mut Summary| {
            summary.deliveries.expected = Some(0);
            summary.deliveries.staleness_ms = Staleness::default();
        };
        assert_eq!(stands(&staleness, untouched).standing, Standing::Kept);
        assert_eq!(stands(&staleness, nothing).standing.word(), "not measured");
        let failed = stands(&staleness, |summary| {
            nothing(summary);
            fail_guesses(summary, 200);
        });
        assert_eq!((failed.standing, failed.value.as_str()), (Standing::Broken, "unbounded"));
    }
}
