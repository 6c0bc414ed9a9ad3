//! Budgets on what comes after the load: recovery and an ordered stop.

use std::time::Duration;

use bytesize::ByteSize;

use super::BudgetLine;
use super::lines::{Measured, line};
use crate::budgets::{RecoveryBudget, ShutdownBudget};
use crate::summary::{Recovery, Shutdown, Summary};
use crate::{Budgets, Value};

pub(super) fn after_lines(summary: &Summary, budgets: &Budgets) -> Vec<BudgetLine> {
    let mut lines = recovery_lines(summary, budgets.recovery);
    lines.extend(shutdown_lines(summary, budgets.shutdown));
    lines
}

fn recovery_lines(summary: &Summary, budget: RecoveryBudget) -> Vec<BudgetLine> {
    let RecoveryBudget { memory, handles, response } = budget;
    let rested = || summary.recovery.as_ref().ok_or_else(|| why_not_rested(summary));
    let left = |left: Option<i64>, of: fn(u64) -> Value, what: &str| {
        let grown = left.map(|left| of(left.max(0) as u64));
        grown.ok_or_else(|| format!("the system's {what} were not measured (proc: {})", summary.observations.proc))
    };
    let memory = line("recovery.memory", memory.map(|ByteSize(bytes)| Value::Size(bytes)), || {
        left(rested()?.rss_left_bytes, Value::Size, "memory and its levels")
    });
    let handles =
        line("recovery.handles", handles.map(Value::Count), || left(rested()?.handles_left, Value::Count, "handles"));
    let response = line("recovery.response", response, || slowest(rested()?));
    let response = response.map(|line| unless_only_shown(summary, line));
    [memory, handles, response].into_iter().flatten().collect()
}

/// A system that died or was ended had nothing to recover; of one that ran on, somebody would have had to wait.
fn why_not_rested(summary: &Summary) -> String {
    match summary.shutdown {
        Some(_) => "the scenario stopped the system".to_owned(),
        None => "the system was not left alone after the load".to_owned(),
    }
}

fn slowest(recovery: &Recovery) -> Measured {
    match (recovery.slowest_us(), recovery.rig_fault()) {
        _ if recovery.acts.is_empty() => Err("no probe player came".to_owned()),
        (Some(us), _) => Ok(Value::Time(us)),
        (None, None) => Ok(Value::Unbounded),
        (None, Some(fault)) => {
            Err(format!("the rig itself failed at the player who came after the load: {}", fault.in_words()))
        }
    }
}

/// Where latency is only shown so is the player's; one who was not served at all was not slow for want of a core.
fn unless_only_shown(summary: &Summary, line: BudgetLine) -> BudgetLine {
    let header = &summary.header;
    let served = summary.recovery.as_ref().is_some_and(|recovery| recovery.slowest_us().is_some());
    if header.judge_latency || !served {
        return line;
    }
    line.not_judged(header.not_judged.as_deref().unwrap_or("latency is only shown"))
}

fn shutdown_lines(summary: &Summary, budget: ShutdownBudget) -> Vec<BudgetLine> {
    let stop = || summary.shutdown.ok_or_else(|| "the system was not ordered to stop".to_owned());
    let within = line("shutdown.within", budget.within, || Ok(exit(stop()?)));
    let unacted = line("shutdown.unacted", budget.unacted.map(Value::Count), || {
        stop()?.unacted.map(Value::Count).ok_or_else(|| "no act was towards the bot".to_owned())
    });
    [within, unacted].into_iter().flatten().collect()
}

/// One that SIGKILL had to end would have taken longer than it was let.
fn exit(Shutdown { exit_ms, killed, .. }: Shutdown) -> Value {
    match exit_ms {
        Some(ms) if !killed => Value::from(Duration::from_millis(ms)),
        Some(_) | None => Value::Unbounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::summary::ProbeTimes;
    use crate::verdict::Standing;

    fn stands(budgets: &Budgets, change: impl FnOnce(&mut Summary)) -> BudgetLine {
        let mut summary = fixture::summary();
        change(&mut summary);
        let mut lines = after_lines(&summary, budgets);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    }

    fn recovery(budget: RecoveryBudget) -> Budgets {
        Budgets { recovery: budget, ..Budgets::default() }
    }

    fn shutdown(budget: ShutdownBudget) -> Budgets {
        Budgets { shutdown: budget, ..Budgets::default() }
    }

    fn came_back(after_us: Option<u64>) -> impl Fn(&mut Summary) {
        move |summary| {
            let times = ProbeTimes { before_us: Some(2_000), after_us, outcome: "timeout".to_owned(), rig_fault: None };
            let acts = [("open".to_owned(), times)].into();
            summary.recovery = Some(Recovery { acts, rss_left_bytes: Some(50 << 20), ..Recovery::default() });
        }
    }

    #[test]
    fn memory_that_stays_breaks_its_budget_above_the_limit_and_not_at_it() {
        let most = |mib| recovery(RecoveryBudget { memory: Some(ByteSize::mib(mib)), ..RecoveryBudget::default() });
        assert_eq!(stands(&most(50), came_back(Some(1))).standing, Standing::Kept);
        assert_eq!(stands(&most(49), came_back(Some(1))).standing, Standing::Broken);
    }

    #[test]
    fn memory_that_was_given_back_is_no_growth() {
        let none = recovery(RecoveryBudget { memory: Some(ByteSize(0)), ..RecoveryBudget::default() });
        let line = stands(&none, |summary| {
            summary.recovery = Some(Recovery { rss_left_bytes: Some(-5), ..Recovery::default() });
        });
        assert_eq!((line.standing, line.value.as_str()), (Standing::Kept, "0 B"));
    }

    #[test]
    fn a_player_who_is_not_served_breaks_any_bound_even_where_latency_is_only_shown() {
        let half = recovery(RecoveryBudget { response: Some(Duration::from_millis(500)), ..RecoveryBudget::default() });
        assert_eq!(stands(&half, came_back(Some(500_000))).standing, Standing::Kept);
        assert_eq!(stands(&half, came_back(Some(500_001))).standing, Standing::Broken);
        let shown = |after_us| {
            move |summary: &mut Summary| {
                came_back(after_us)(summary);
                summary.header.judge_latency = false;
            }
        };
        assert_eq!(stands(&half, shown(Some(900_000))).standing.word(), "not judged");
        assert_eq!(stands(&half, shown(None)).standing, Standing::Broken);
    }

    #[test]
    fn a_system_that_was_not_left_alone_or_not_stopped_has_nothing_to_judge() {
        let handles = recovery(RecoveryBudget { handles: Some(1), ..RecoveryBudget::default() });
        assert_eq!(stands(&handles, |_| {}).standing.word(), "not measured");
        let unacted = shutdown(ShutdownBudget { unacted: Some(0), ..ShutdownBudget::default() });
        assert_eq!(stands(&unacted, |_| {}).standing.word(), "not measured");
    }

    #[test]
    fn an_exit_in_time_is_kept_and_one_by_sigkill_never() {
        let second = shutdown(ShutdownBudget { within: Some(Duration::from_secs(1)), ..ShutdownBudget::default() });
        let took = |exit_ms, killed| {
            let stop = Shutdown { exit_ms: Some(exit_ms), killed, ..Shutdown::default() };
            stands(&second, move |summary| summary.shutdown = Some(stop)).standing
        };
        assert_eq!(
            (took(1_000, false), took(1_001, false), took(900, true)),
            (Standing::Kept, Standing::Broken, Standing::Broken)
        );
    }
}
