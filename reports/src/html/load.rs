//! The load as the players met it: arrivals, response times, outcomes.

use maud::{Markup, html};

use crate::chart::outcomes::{CLASSES, Class};
use crate::chart::{arrivals, latency, outcomes, percentiles};
use crate::how::network;
use crate::summary::Act;
use crate::{Report, Value, tables};

use super::plate::plate;
use super::words;

/// Arrivals against completions.
pub(super) fn arrivals(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Arrivals and completions" }
            (plate(|layout| arrivals::chart(report, layout), "A system that keeps up completes acts as they are planned; the gap between the two lines is what its players wait for."))
        }
    }
}

/// Response times over time and as a distribution, and their tables.
pub(super) fn response_times(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Response times" }
            p { "From the planned instant to the end of the answer, of acts that succeeded. Time spent waiting for a slow system to take the act is part of it." }
            @if let Some(network) = network(&report.summary.header) { p.remark { (words::sentence(&network)) "." } }
            (plate(|layout| latency::chart(report, layout), "Percentiles of few successes are worth little: the bars say how many each point rests on."))
            (plate(|_| percentiles::chart(report), "Each curve ends where its samples do. A short bar is a budget at its percentile, red when it is broken: it judges all planned acts, so that failures can break one above its curve."))
            @if !report.summary.acts.is_empty() {
                (words::table(&tables::acts(report.summary)))
                p.note { "The last column is what budgets judge: over all planned acts, one that did not succeed ranking slower than any bound." }
                (where_the_time_went(report))
            }
        }
    }
}

fn where_the_time_went(report: &Report<'_>) -> Markup {
    html! {
        h3 { "Where the time went" }
        p { "Service is from the send to the end, blocked is the wait for the player's own previous act, both of successes. Failed is from the planned instant to the failure. Lag is what the rig itself came late, whatever became of the act." }
        (words::table(&tables::times(report.summary)))
    }
}

/// What became of the acts.
pub(super) fn outcomes(report: &Report<'_>) -> Markup {
    let acts = &report.summary.acts;
    let seen = |class: &&Class| acts.values().any(|act| (class.count)(&act.outcomes) > 0);
    html! {
        section {
            h2 { "Outcomes" }
            (plate(|layout| outcomes::chart(report, layout), if acts.values().all(|act| act.outcomes.total() == 0) { "Every act succeeded." } else { "The legend names the layers from the bottom to the top." }))
            @if !acts.is_empty() {
                div.scroll { table {
                    thead { tr { th { "outcome" } @for (name, _) in tables::in_order(report.summary) { th.number { (name) } } th { "meaning" } } }
                    tbody {
                        (outcome(report, "ok", "answered as expected", |act| act.ok))
                        (outcome(report, "late connect", "of all acts: the handshake had to be sent again, a full listen queue", |act| act.late_connect))
                        @for class in CLASSES.iter().filter(seen) {
                            (outcome(report, class.name, class.means, |act| (class.count)(&act.outcomes)))
                        }
                    }
                } }
            }
            (retries(report))
        }
    }
}

/// Nothing where every act was sent once.
fn retries(report: &Report<'_>) -> Markup {
    let table = tables::retries(report.summary);
    html! {
        @if !table.rows.is_empty() {
            h3 { (table.title) }
            (words::table(&table))
            p.note { "A further try is a request and never a sample: the act ends with its last one." }
        }
    }
}

fn outcome(report: &Report<'_>, name: &str, means: &str, count: impl Fn(&Act) -> u64) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @for (_, act) in tables::in_order(report.summary) { td.number { (Value::Count(count(act))) } }
            td { (means) }
        }
    }
}
