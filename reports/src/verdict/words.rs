//! The verdict in one line of words, the same in every renderer.

use super::{Breach, BudgetLine, Standing, Verdict, budget_lines};
use crate::recording::{Ending, Shard};
use crate::summary::Summary;
use crate::value::{Value, many};

/// Where others have this share of its cores, a system that keeps them half busy waits twice as long (M/D/1 at 50 % and
/// at 62.5 %, each act taking longer by a quarter).
const OTHERS: f64 = 0.2;

/// The verdict in words, its kind first: `died: SIGSEGV 3.1 s into the load (312 acts in flight)`.
pub fn headline(summary: &Summary, verdict: &Verdict) -> String {
    let kind = verdict.kind().name().replace('_', " ");
    let words = match verdict {
        Verdict::Pass => summary.header.shard.map_or_else(|| pass(&budget_lines(summary)), one_shard),
        Verdict::Broken(breaches) => broken(breaches, budget_lines(summary).len()) + &others(summary, breaches),
        Verdict::NotReady(why) | Verdict::Failed(why) => why.clone(),
        Verdict::Invalid(reasons) => invalid(reasons),
        Verdict::Died(ending) => ending_words(ending, summary.header.load_us.0),
        Verdict::Partial => "the run was cut short; this is what was recorded until then".to_owned(),
    };
    format!("{kind}: {words}")
}

fn pass(lines: &[BudgetLine]) -> String {
    let kept = lines.iter().filter(|line| line.standing == Standing::Kept).count();
    let only_shown = lines.len() - kept;
    match (kept, only_shown) {
        (0, 0) => "the scenario sets no budgets".to_owned(),
        (1, 0) => "its budget was kept".to_owned(),
        (kept, 0) => format!("all {} kept", budgets(kept)),
        (kept, only_shown) => format!("{} kept, {only_shown} not judged", budgets(kept)),
    }
}

fn one_shard(shard: Shard) -> String {
    format!("shard {shard} was driven; `floodrig merge` joins all {} and judges the budgets", shard.of)
}

fn broken(breaches: &[Breach], all: usize) -> String {
    let first = breaches.iter().map(|breach| format!("{} {} (at most {})", breach.series, breach.value, breach.limit));
    let first: Vec<String> = first.take(3).collect();
    let more = if breaches.len() > first.len() { ", .." } else { "" };
    format!("{} of {}: {}{more}", breaches.len(), budgets(all), first.join(", "))
}

/// Others on the system's cores are no reason to call a run invalid, since it may share them in production as well;
/// whoever looks for why it was slow has to know of them.
fn others(summary: &Summary, breaches: &[Breach]) -> String {
    let is_of_time = |breach: &Breach| {
        let kind = breach.series.split('.').next().unwrap_or_default();
        matches!(kind, "latency" | "stall" | "staleness" | "late" | "unserved" | "failed" | "late_connect")
    };
    let share = summary.system.cores_used_by_others.filter(|share| *share >= OTHERS);
    share.filter(|_| breaches.iter().any(is_of_time)).map_or_else(String::new, |share| {
        let share = Value::Share(share);
        format!(
            "; others used {share} of the system's cores meanwhile, which may be why: end what else runs there and run it \
             again"
        )
    })
}

fn invalid(reasons: &[String]) -> String {
    match reasons {
        [] => "for no stated reason".to_owned(),
        [only] => only.clone(),
        [first, others @ ..] => format!("{first} (and {} more)", others.len()),
    }
}

fn budgets(count: usize) -> String {
    if count == 1 { "1 budget".to_owned() } else { format!("{count} budgets") }
}

/// How the system ended by itself: `exit code 1 before the load`, `SIGSEGV 3.1 s into the load (312 acts in flight)`.
pub fn ending_words(ending: &Ending, load_from_us: u64) -> String {
    let into_load_ms = ending.at_ms - (load_from_us / 1_000) as i64;
    let when = if into_load_ms < 0 {
        "before the load".to_owned()
    } else {
        format!("{:.1} s into the load ({} in flight)", into_load_ms as f64 / 1e3, many(ending.in_flight, "act"))
    };
    let note = ending.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
    format!("{} {when}{note}", cause(ending))
}

fn cause(ending: &Ending) -> String {
    let cause = match (&ending.signal, ending.code) {
        (Some(signal), _) => signal.clone(),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "ended for an unknown reason".to_owned(),
    };
    if ending.oom == Some(true) { format!("{cause} by the kernel's out-of-memory killer") } else { cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::EndingKind;
    use crate::verdict::judge;

    fn said(change: impl FnOnce(&mut Summary)) -> String {
        let mut summary = fixture::summary();
        change(&mut summary);
        headline(&summary, &judge(&summary, &summary.header.budgets.clone()))
    }

    #[test]
    fn a_pass_says_what_was_judged() {
        assert_eq!(said(|_| {}), "pass: all 6 budgets kept");
        assert_eq!(said(|summary| summary.header.judge_latency = false), "pass: 5 budgets kept, 1 not judged");
        assert_eq!(
            said(|summary| summary.header.budgets = crate::Budgets::default()),
            "pass: the scenario sets no budgets"
        );
    }

    #[test]
    fn a_single_budget_is_not_all_of_them() {
        let one = crate::Budgets { unserved: Some(0), ..crate::Budgets::default() };
        assert_eq!(said(|summary| summary.header.budgets = one), "pass: its budget was kept");
    }

    #[test]
    fn a_breach_says_how_far_it_went() {
        let throttled = said(|summary| summary.telegram.throttled = 213);
        assert_eq!(throttled, "broken: 1 of 6 budgets: throttled 213 (at most 0)");
    }

    #[test]
    fn a_breach_of_time_beside_others_names_them_and_no_other_breach_does() {
        let stalled = |share| {
            said(|summary| {
                (summary.system.stall_max_ms, summary.system.cores_used_by_others) = (Some(9e3), Some(share));
            })
        };
        let alone = stalled(0.19);
        assert!(alone.starts_with("broken: 1 of 6 budgets: stall 9 s"), "{alone}");
        let beside = "; others used 40 % of the system's cores meanwhile, which may be why: end what else runs there and \
                      run it again";
        assert_eq!(stalled(0.4), format!("{alone}{beside}"));
        let throttled =
            said(|summary| (summary.telegram.throttled, summary.system.cores_used_by_others) = (213, Some(0.4)));
        assert_eq!(throttled, "broken: 1 of 6 budgets: throttled 213 (at most 0)");
    }

    #[test]
    fn a_death_says_by_what_and_when() {
        let died = |at_ms| {
            said(|summary| summary.system.ending = Some(fixture::ending(EndingKind::Signal, Some("SIGSEGV"), at_ms)))
        };
        assert_eq!(died(5_100), "died: SIGSEGV 3.1 s into the load (312 acts in flight)");
        assert_eq!(died(1_999), "died: SIGSEGV before the load");
    }

    #[test]
    fn the_out_of_memory_killer_is_named() {
        let killed = fixture::ending(EndingKind::Signal, Some("SIGKILL"), 5_000);
        let killed = Ending { oom: Some(true), note: Some("inferred through a wrapper".to_owned()), ..killed };
        assert_eq!(
            ending_words(&killed, fixture::LOAD_FROM_US),
            "SIGKILL by the kernel's out-of-memory killer 3.0 s into the load (312 acts in flight), inferred through a wrapper"
        );
    }

    #[test]
    fn an_invalid_run_says_why_first() {
        let frozen = said(|summary| summary.rig.lag_us.max = Some(2_000_000));
        let words =
            "invalid: the rig stood still: an act left, or was given up, 2 s after it was due (lag p99 100 us); ";
        assert!(frozen.starts_with(words), "{frozen}");
    }

    #[test]
    fn the_other_verdicts_give_their_own_words() {
        assert_eq!(said(|summary| summary.not_ready = Some("exit code 1".into())), "not ready: exit code 1");
        assert_eq!(said(|summary| summary.failed = Some("disk full".into())), "failed: disk full");
        assert!(said(|summary| summary.partial = true).starts_with("partial: the run was cut short"));
    }
}
