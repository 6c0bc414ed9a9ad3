//! The numbers of a run as tables of text, for every renderer that shows tables: so all show the same.

use std::collections::BTreeMap;

use crate::Value;
use crate::compare::Comparison;
use crate::summary::{Act, Summary};
use crate::verdict::{budget_lines, ending_words};

/// A table. The first column names, the next ones hold values, and the rest say something in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One for each column.
    pub head: Vec<String>,
    /// How many columns after the first hold values.
    pub values: usize,
    /// As long as the head each.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &str, head: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head: Vec<String> = head.iter().map(|text| (*text).to_owned()).collect();
        Self { title: title.to_owned(), values: head.len() - 1, head, rows }
    }

    fn ending_in_words(self) -> Self {
        Self { values: self.values - 1, ..self }
    }

    /// Two columns: a name and its value.
    fn of_values(title: &str, values: &[(&str, String)]) -> Self {
        let rows = values.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
        Self::new(title, &["", "value"], rows)
    }
}

/// Every budget with its value.
pub fn budgets(summary: &Summary) -> Table {
    let row = |line: crate::BudgetLine| {
        let ratio = line.ratio.map(|ratio| Value::Share(ratio).to_string()).unwrap_or_default();
        let standing = match line.standing.why() {
            Some(why) => format!("{}: {why}", line.standing.word()),
            None => line.standing.word().to_owned(),
        };
        vec![line.series, line.limit, line.value, ratio, standing]
    };
    let rows = budget_lines(summary).into_iter().map(row).collect();
    Table::new("Budgets", &["budget", "at most", "measured", "of the limit", "verdict"], rows).ending_in_words()
}

/// All key figures, budgets left out.
pub fn figures(summary: &Summary) -> Vec<Table> {
    let failures = failures(summary);
    let (throttled_by, unmodelled) = (throttled_by(summary), unmodelled(summary));
    let telegram = [telegram(summary), throttled_by, unmodelled];
    let before = [acts(summary), failures, retries(summary), system(summary)];
    let tables = before.into_iter().chain(telegram).chain([deliveries(summary), rig(summary)]);
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// A comparison, series by series.
pub fn comparison(comparison: &Comparison) -> Table {
    let head = ["", &comparison.baseline, &comparison.candidate, "change"];
    let row = |pair: &crate::compare::Pair| {
        vec![pair.series.clone(), pair.baseline.clone(), pair.candidate.clone(), pair.change.clone()]
    };
    let title = format!("{} against {}", comparison.baseline, comparison.candidate);
    Table::new(&title, &head, comparison.series.iter().map(row).collect()).ending_in_words()
}

/// In the order of the scenario.
pub(crate) fn in_order(summary: &Summary) -> impl Iterator<Item = (&String, &Act)> {
    summary.header.acts.iter().filter_map(|name| summary.acts.get_key_value(name))
}

pub(crate) fn acts(summary: &Summary) -> Table {
    let head = ["act", "planned", "ok", "not ok", "p50", "p90", "p99", "p99.9", "max", "p99 of all planned"];
    let row = |(name, act): (&String, &Act)| {
        let response = &act.response_us;
        let quantiles = [response.p50, response.p90, response.p99, response.p999, response.max];
        let counts = [act.planned, act.ok, act.outcomes.total()].map(Value::Count);
        let values = counts.into_iter().chain(quantiles.map(Value::quantile)).chain([act.judged_p99()]);
        std::iter::once(name.clone()).chain(values.map(|value| value.to_string())).collect()
    };
    Table::new("Response time of the acts that succeeded", &head, in_order(summary).map(row).collect())
}

/// One act and how fast it went.
pub(crate) fn bench(summary: &Summary) -> Table {
    let head = ["act", "done", "ok", "ok/s", "p50", "p90", "p99", "p99.9", "max"];
    let row = |(name, act): (&String, &Act)| {
        let response = &act.response_us;
        let quantiles = [response.p50, response.p90, response.p99, response.p999, response.max];
        let counts = [Value::Count(act.planned), Value::Count(act.ok), Value::number(act.ok_per_second)];
        let values = counts.into_iter().chain(quantiles.map(Value::quantile));
        std::iter::once(name.clone()).chain(values.map(|value| value.to_string())).collect()
    };
    Table::new("Response time", &head, in_order(summary).map(row).collect())
}

/// Only the classes that occurred.
pub(crate) fn failures(summary: &Summary) -> Table {
    let mut rows = Vec::new();
    for (name, act) in in_order(summary) {
        let late = ("late_connect (succeeded)", act.late_connect);
        let occurred = act.outcomes.named().into_iter().chain([late]).filter(|(_, count)| *count > 0);
        rows.extend(
            occurred.map(|(class, count)| vec![name.clone(), class.to_owned(), Value::Count(count).to_string()]),
        );
    }
    Table::new("What did not succeed", &["act", "outcome", "acts"], rows)
}

/// Acts that were tried again: on a kept connection that had ended, or because their players are impatient.
pub(crate) fn retries(summary: &Summary) -> Table {
    let row = |(name, act): (&String, &Act)| {
        let values = [Value::Count(act.planned), Value::Count(act.requests), Value::number(act.amplification)];
        std::iter::once(name.clone()).chain(values.map(|value| value.to_string())).collect()
    };
    let tried_again = in_order(summary).filter(|(_, act)| act.was_tried_again());
    let head = ["act", "planned", "requests", "requests per planned act"];
    Table::new("Acts that were tried again", &head, tried_again.map(row).collect())
}

pub(crate) fn system(summary: &Summary) -> Table {
    let system = &summary.system;
    let seconds = system.cpu_seconds.map(|seconds| seconds * 1e3);
    let ready = system.ready_after_ms.map(|ms| ms as f64);
    let by_process = stalls_by_process(system);
    let stacks = stall_stacks(summary);
    let mut values = vec![
        ("ready after", Value::millis(ready).to_string()),
        ("peak memory", Value::size(system.rss_peak_bytes).to_string()),
        ("CPU time", Value::millis(seconds).to_string()),
        ("most handles", Value::count(system.handles_peak).to_string()),
        ("most threads", Value::count(system.threads_peak).to_string()),
        ("stalls", Value::count(system.stalls).to_string()),
        ("longest stall", Value::millis(system.stall_max_ms).to_string()),
        ("longest probe delay", Value::millis(system.probe_delay_max_ms).to_string()),
        ("longest listen queue", Value::count(system.listen_queue_peak).to_string()),
        ("lines on stderr", Value::count(system.stderr_lines).to_string()),
        ("error lines", Value::count(system.stderr_errors).to_string()),
    ];
    values.extend(by_process.iter().map(|(process, stalls)| (process.as_str(), stalls.clone())));
    values.extend(stacks.iter().map(|(stall, frames)| (stall.as_str(), frames.clone())));
    let of_network = [
        ("listen queue overflows", system.listen_overflows),
        ("dropped handshakes", system.listen_drops),
        ("handshakes begun again", system.syn_retransmits),
    ];
    let counted = of_network.into_iter().filter(|(_, count)| count.is_some());
    values.extend(counted.map(|(name, count)| (name, Value::count(count).to_string())));
    values.extend(system.stall_remark.iter().map(|remark| ("where inside and outside disagree", remark.clone())));
    values.extend(system.ending.as_ref().map(|ending| ("ended", ended(summary, ending))));
    Table::of_values("The system", &values)
}

/// Where the loop was, innermost first, for the first stalls that were caught at it.
fn stall_stacks(summary: &Summary) -> Vec<(String, String)> {
    let line = |stack: &crate::recording::Stack| {
        let at_s = (stack.at_us as f64 - summary.header.load_us.0 as f64) / 1e6;
        (format!("stalled at {at_s:.1} s (pid {}) in", stack.pid), stack.frames.join(" < "))
    };
    summary.system.stall_stacks.iter().map(line).collect()
}

/// What each process's own loop did while it stalled, a line for each kind.
fn stalls_by_process(system: &crate::summary::System) -> Vec<(String, String)> {
    let line = |stalls: &crate::summary::ProcessStalls| {
        let kind = stalls.kind.map_or_else(|| "of an unknown kind".to_owned(), |kind| kind.to_string());
        let died = if stalls.died { "; it died in the last" } else { "" };
        let (count, longest) = (Value::Count(stalls.count), Value::millis(Some(stalls.max_ms)));
        (format!("stalls of {} (pid {})", stalls.name, stalls.pid), format!("{count} {kind}, longest {longest}{died}"))
    };
    system.stalls_by_process.iter().map(line).collect()
}

fn ended(summary: &Summary, ending: &crate::recording::Ending) -> String {
    match ending.kind {
        crate::recording::EndingKind::Stopped => "when the rig stopped it".to_owned(),
        crate::recording::EndingKind::Exit | crate::recording::EndingKind::Signal => {
            ending_words(ending, summary.header.load_us.0)
        }
    }
}

pub(crate) fn telegram(summary: &Summary) -> Table {
    let telegram = &summary.telegram;
    if telegram.uncounted {
        return Table::of_values("Telegram", &[]);
    }
    let of_which = |all: u64, accepted: u64| format!("{} ({} accepted)", Value::Count(all), Value::Count(accepted));
    let mut values = vec![
        ("calls", of_which(telegram.calls, telegram.accepted)),
        ("429s", Value::Count(telegram.throttled).to_string()),
        ("calls while throttled", Value::Count(telegram.calls_while_throttled).to_string()),
        ("uploads", format!("{} ({})", Value::Count(telegram.uploads), Value::Size(telegram.upload_bytes))),
        ("uploads at once", Value::Count(telegram.peak_uploads_at_once).to_string()),
        ("sends in the fullest second", of_which(telegram.worst_second_sends, telegram.worst_second_accepted)),
        (
            "sends to one group in the fullest minute",
            of_which(telegram.worst_minute_group_sends, telegram.worst_minute_group_accepted),
        ),
    ];
    let unmatched = telegram.unmatched.map(|calls| Value::Count(calls).to_string());
    values.extend(unmatched.map(|calls| ("calls that answered no act", calls)));
    Table::of_values("Telegram", &values)
}

/// Only the rules that were broken.
pub(crate) fn throttled_by(summary: &Summary) -> Table {
    Table::new("429s by the rule that was broken", &["rule", "calls"], counted(&summary.telegram.throttled_by))
}

/// Real methods that the stub does not model.
pub(crate) fn unmodelled(summary: &Summary) -> Table {
    Table::new("Answered by their declared type alone", &["method", "calls"], counted(&summary.telegram.unmodelled))
}

fn counted(counts: &BTreeMap<String, u64>) -> Vec<Vec<String>> {
    counts.iter().map(|(name, count)| vec![name.clone(), Value::Count(*count).to_string()]).collect()
}

pub(crate) fn deliveries(summary: &Summary) -> Table {
    let deliveries = &summary.deliveries;
    if deliveries.expected.is_none() {
        return Table::of_values("Deliveries", &[]);
    }
    let staleness = &deliveries.staleness_ms;
    let values = [
        ("expected", Value::count(deliveries.expected).to_string()),
        ("delivered", Value::count(deliveries.delivered).to_string()),
        ("late", Value::count(deliveries.late).to_string()),
        ("lost", Value::count(deliveries.lost).to_string()),
        ("duplicated", Value::count(deliveries.duplicated).to_string()),
        ("time to delivery p50", Value::quantile(deliveries.latency_us.p50).to_string()),
        ("time to delivery p99", Value::quantile(deliveries.latency_us.p99).to_string()),
        ("staleness p50", staleness_of(staleness.p50).to_string()),
        ("staleness p99", staleness_of(staleness.p99).to_string()),
        ("staleness max", staleness_of(staleness.max).to_string()),
    ];
    Table::of_values("Deliveries", &values)
}

/// Deliveries were watched, so a quantile that is not there had nothing to count.
fn staleness_of(ms: Option<f64>) -> Value {
    ms.map_or(Value::Absent, |ms| Value::millis(Some(ms)))
}

pub(crate) fn rig(summary: &Summary) -> Table {
    let rig = &summary.rig;
    let per_request = rig.cpu_us_per_request.map(|us| us / 1e3);
    let values = [
        ("lag p50", Value::quantile(rig.lag_us.p50).to_string()),
        ("lag p99", Value::quantile(rig.lag_us.p99).to_string()),
        ("lag max", Value::quantile(rig.lag_us.max).to_string()),
        ("sent more than 50 ms late", Value::share(rig.late_share).to_string()),
        ("cores busy in the busiest second", Value::share(rig.core_busy).to_string()),
        ("used by the rig itself, at most", Value::share(rig.own_busy).to_string()),
        ("time stolen by the host", Value::share(rig.steal).to_string()),
        ("CPU time per request", Value::millis(per_request).to_string()),
        ("rows dropped", Value::Count(rig.dropped).to_string()),
    ];
    Table::of_values("The rig itself", &values)
}
