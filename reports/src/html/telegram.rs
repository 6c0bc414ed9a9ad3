//! What the system asked of Telegram, what Telegram refused, and what its users got to see.

use maud::{Markup, html};

use crate::chart::telegram;
use crate::recording::MethodCounts;
use crate::{Report, Value, tables};

use super::plate::plate;
use super::words;

/// Calls and 429s.
pub(super) fn calls(report: &Report<'_>) -> Markup {
    let summary = report.summary;
    if summary.telegram.uncounted {
        return html! { section { h2 { "Calls to Telegram" } p.note { "Not counted here: " (summary.observations.calls) "." } } };
    }
    html! {
        section {
            h2 { "Calls to Telegram" }
            (plate(|layout| telegram::chart(report, layout), "429 is Telegram's answer to a call that came too soon; it names the seconds to wait."))
            @if report.summary.telegram.calls > 0 { (words::facts(&tables::telegram(report.summary))) (methods(report)) (rules(report)) }
        }
    }
}

fn methods(report: &Report<'_>) -> Markup {
    let telegram = &report.summary.telegram;
    html! {
        div.scroll { table {
            thead { tr { th { "method" } th.number { "calls" } th.number { "accepted" } th.number { "429" } th.number { "other errors" } } }
            tbody { @for (method, counts) in &telegram.by_method { (method_row(method, *counts)) } }
        } }
        @if !telegram.unmodelled.is_empty() {
            p.note {
                "Answered by their declared type alone: "
                @for (nth, (method, calls)) in telegram.unmodelled.iter().enumerate() {
                    @if nth > 0 { ", " }
                    (method) " (" (Value::Count(*calls)) ")"
                }
                "."
            }
        }
    }
}

/// Which ceilings answered 429.
fn rules(report: &Report<'_>) -> Markup {
    let table = tables::throttled_by(report.summary);
    html! {
        @if !table.rows.is_empty() {
            h3 { (table.title) }
            (words::table(&table))
        }
    }
}

fn method_row(method: &str, counts: MethodCounts) -> Markup {
    let MethodCounts { calls, throttled, errors } = counts;
    html! {
        tr {
            th scope="row" { (method) }
            td.number { (Value::Count(calls)) }
            td.number { (Value::Count(counts.accepted())) }
            td.number { (Value::Count(throttled)) }
            td.number { (Value::Count(errors)) }
        }
    }
}

/// What became visible in the chats.
pub(super) fn deliveries(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Deliveries" }
            @if report.summary.deliveries.expected.is_none() {
                p.nothing { "Not measured: " (words::because(&report.summary.observations.deliveries)) "." }
            } @else {
                p { "What successful acts were to show in a chat, and when an accepted call showed it." }
                (words::facts(&tables::deliveries(report.summary)))
            }
        }
    }
}
