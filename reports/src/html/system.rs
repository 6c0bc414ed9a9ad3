//! The system under test: what it used, where it stood still, what it wrote and how it ended.

use maud::{Markup, html};

use crate::chart::time::into_load;
use crate::chart::vitals;
use crate::recording::{Event, Source};
use crate::{Report, Value, tables};

use super::plate::plate;
use super::words;

/// The section.
pub(super) fn section(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "The system" }
            (plate(|layout| vitals::chart(report, layout), caption(report)))
            (words::facts(&tables::system(report.summary)))
            (after(report))
            @if report.summary.system.outbound.as_ref().is_some_and(|to| !to.is_empty()) {
                h3 { "Its own connections" }
                (words::table(&tables::connections(report.summary)))
            }
            @if !report.summary.services.is_empty() {
                h3 { "What ran beside it" }
                (words::table(&tables::services(report.summary)))
            }
            @if let Some(hint) = &report.summary.system.pool_hint { p.note { (hint) } }
            (events(report))
            (messages(report))
        }
    }
}

/// How it stood after the load, and how it took a stop.
fn after(report: &Report<'_>) -> Markup {
    html! {
        @for table in [tables::recovery(report.summary), tables::shutdown(report.summary)] {
            @if !table.rows.is_empty() {
                h3 { (table.title) }
                (words::facts(&table))
            }
        }
    }
}

/// What the bars of the stalls are.
fn caption(report: &Report<'_>) -> &'static str {
    match report.summary.system.stall_source {
        Some(Source::Inside) if report.summary.observations.sees_loops_in_part() => {
            "All processes of the system together. A stall is a time of more than 50 ms in which a loop of the system that is watched did not come round or, since not every one is watched, a probe left unanswered for longer than 50 ms over the run's median; the bars show how long each was."
        }
        Some(Source::Inside) => {
            "All processes of the system together. A stall is a time of more than 50 ms in which the system's own loop did not come round; the bars show how long each was. The delay is that of a probe from outside, which asks twice a second."
        }
        Some(Source::Outside) | None => {
            "All processes of the system together. A stall is a probe left unanswered for longer than 50 ms over the run's median; the bars show how long each was."
        }
    }
}

fn events(report: &Report<'_>) -> Markup {
    html! {
        @if !report.timeline.events.is_empty() {
            h3 { "What happened when" }
            div.scroll { table {
                thead { tr { th.number { "time" } th { "event" } th { "" } } }
                tbody { @for event in &report.timeline.events { (event_row(report, event)) } }
            } }
        }
    }
}

fn event_row(report: &Report<'_>, event: &Event) -> Markup {
    html! {
        tr {
            td.number { (format!("{:.1} s", into_load(report, event.at_us as f64 / 1e6))) }
            th scope="row" { (event.kind.words()) }
            td { (event.text) }
        }
    }
}

fn messages(report: &Report<'_>) -> Markup {
    let messages = &report.summary.system.top_messages;
    html! {
        @if !messages.is_empty() {
            h3 { "Commonest error lines" }
            div.scroll { table {
                thead { tr { th.number { "count" } th { "line, numbers folded" } } }
                tbody { @for message in messages { tr { td.number { (Value::Count(message.count)) } td.code { (message.text) } } } }
            } }
        }
    }
}
