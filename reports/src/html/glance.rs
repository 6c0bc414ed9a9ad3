//! The run in a handful of numbers.

use maud::{Markup, html};

use crate::Summary;
use crate::chart::outcomes::CLASSES;
use crate::recording::Outcomes;
use crate::value::many;
use crate::{Report, Value};

use super::words;

/// The key figures.
pub(super) fn section(report: &Report<'_>) -> Markup {
    let summary = report.summary;
    let planned = summary.planned();
    let ok: u64 = summary.acts.values().map(|act| act.ok).sum();
    html! {
        section {
            h2 { "At a glance" }
            dl.glance {
                (figure("acts that succeeded", Value::Count(ok), &format!("of {} planned{}", Value::Count(planned), others(summary))))
                (slowest(report))
                (figure("peak memory", Value::size(summary.system.rss_peak_bytes), "resident, all processes"))
                (stall(report))
                (throttled(summary))
                (lost(report))
            }
        }
    }
}

/// What most of the others came to.
fn others(summary: &Summary) -> String {
    let mut all = Outcomes::default();
    summary.acts.values().for_each(|act| all.merge(&act.outcomes));
    let commonest = CLASSES.iter().map(|class| ((class.count)(&all), class.name)).max_by_key(|(count, _)| *count);
    let said = commonest.filter(|(count, _)| *count > 0);
    said.map(|(count, name)| format!(", {} {name}", Value::Count(count))).unwrap_or_default()
}

fn throttled(summary: &Summary) -> Markup {
    let throttled = Value::count(summary.telegram.measured(|telegram| telegram.throttled));
    let calls = summary.telegram.measured(|telegram| format!("of {}", many(telegram.calls, "call")));
    figure("calls answered 429", throttled, &calls.unwrap_or_else(|| "the stub is another rig's".to_owned()))
}

fn figure(term: &str, value: Value, beside: &str) -> Markup {
    html! { div { dt { (term) } dd { strong { (words::said(&value.to_string())) } span { (beside) } } } }
}

/// The act whose 99th percentile is the highest.
fn slowest(report: &Report<'_>) -> Markup {
    let slowest = report.summary.acts.iter().filter_map(|(name, act)| Some((act.response_us.p99?, name, act)));
    match slowest.max_by_key(|(p99, _, _)| *p99) {
        Some((p99, name, act)) => {
            let median = act.response_us.p50.map(|us| format!(", p50 {}", Value::Time(us))).unwrap_or_default();
            figure("slowest p99 response", Value::Time(p99), &format!("{name}{median}"))
        }
        None => figure("slowest p99 response", Value::Absent, "no act succeeded"),
    }
}

fn stall(report: &Report<'_>) -> Markup {
    let system = &report.summary.system;
    let beside = match (system.stall_max_ms, system.stalls) {
        (None, _) => words::because(&report.summary.observations.black_box).to_owned(),
        (Some(_), Some(count)) => many(count, "stall"),
        (Some(_), None) => String::new(),
    };
    figure("longest stall", Value::millis(system.stall_max_ms), &beside)
}

fn lost(report: &Report<'_>) -> Markup {
    let deliveries = &report.summary.deliveries;
    let beside = match deliveries.expected {
        Some(expected) => format!("of {} expected", Value::Count(expected)),
        None => words::because(&report.summary.observations.deliveries).to_owned(),
    };
    figure("effects never seen", Value::count(deliveries.lost), &beside)
}
