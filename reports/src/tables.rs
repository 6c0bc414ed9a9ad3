//! The numbers of a run as tables of text, for every renderer that shows tables: so all show the same.

mod after;
mod system;

use std::collections::BTreeMap;

pub(crate) use self::after::{recovery, shutdown};
pub(crate) use self::system::{connections, services, system};
use crate::Value;
use crate::compare::Comparison;
use crate::summary::{Act, Quantiles, Summary};
use crate::verdict::budget_lines;

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
    let before = [acts(summary), times(summary), failures, retries(summary), system(summary)];
    let before = before.into_iter().chain([connections(summary), services(summary)]);
    let after = [after::recovery(summary), after::shutdown(summary)];
    let tables = before.chain(after).chain(telegram).chain([deliveries(summary), rig(summary)]);
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

/// What response time is made of, and what the rig added, act by act; parts that no act had are left out.
pub(crate) fn times(summary: &Summary) -> Table {
    let head = ["act", "acts", "p50", "p90", "p99", "p99.9", "max"];
    let rows = in_order(summary).flat_map(|(name, act)| {
        let parts = [
            ("service", act.service_us),
            ("blocked", act.blocked_us),
            ("failed", act.failed_response_us),
            ("lag", act.lag_us),
        ];
        let known = parts.into_iter().filter(|(_, quantiles)| quantiles.count > 0);
        known.map(move |(part, Quantiles { count, mean: _, p50, p90, p99, p999, max })| {
            let quantiles = [p50, p90, p99, p999, max].map(Value::quantile);
            let values = std::iter::once(Value::Count(count)).chain(quantiles).map(|value| value.to_string());
            std::iter::once(format!("{name}, {part}")).chain(values).collect()
        })
    });
    Table::new("Where the time went", &head, rows.collect())
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
        let late = ("late_connect (whatever the outcome)", act.late_connect);
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
        ("time in which some task waited for a processor", Value::share(rig.pressure).to_string()),
        (
            "frequency of its cores",
            rig.core_mhz.map_or_else(|| Value::Unmeasured.to_string(), |(low, high)| format!("{low} to {high} MHz")),
        ),
        ("CPU time per request", Value::millis(per_request).to_string()),
        ("rows dropped", Value::Count(rig.dropped).to_string()),
    ];
    Table::of_values("The rig itself", &values)
}
