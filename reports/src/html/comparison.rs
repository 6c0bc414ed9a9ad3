//! Runs of one scenario side by side: their verdicts, their key series with ratios to the first, and both in one picture.

use maud::{Markup, html};

use crate::chart::overlay;
use crate::{Report, compare, tables};

use super::plate::plate;
use super::verdict::{class, in_words};
use super::{page as shell, words};

/// The page.
pub(super) fn page(reports: &[Report<'_>]) -> String {
    let scenario = reports.first().map_or("", |report| report.summary.header.scenario.as_str());
    let names: Vec<&str> = reports.iter().map(Report::name).collect();
    let title = format!("{scenario} · {}", names.join(" and "));
    shell::page(
        &title,
        &html! {
            header {
                p.brand { "Floodrig comparison" }
                h1 { (title) }
                @if let Some(first) = reports.first() { p.about { (first.summary.header.about) } }
            }
            (verdicts(reports))
            (key_series(reports))
            (charts(reports))
            (again(reports))
        },
    )
}

fn verdicts(reports: &[Report<'_>]) -> Markup {
    html! {
        section.side-by-side {
            @for report in reports {
                div.verdict.(class(report.verdict.tone())) {
                    p.brand { (report.name()) }
                    (in_words(report))
                }
            }
        }
    }
}

fn charts(reports: &[Report<'_>]) -> Markup {
    html! {
        section {
            h2 { "Over time" }
            (plate(|layout| overlay::over_time(reports, layout), "Every run from the start of its load."))
        }
        section {
            h2 { "Response times" }
            @for act in overlay::acts(reports) {
                (plate(|_| overlay::curves(reports, &act), "Of acts that succeeded, from the planned instant."))
            }
        }
    }
}

/// Each run against the first, series by series.
fn key_series(reports: &[Report<'_>]) -> Markup {
    let Some((baseline, candidates)) = reports.split_first() else { return html! {} };
    html! {
        section {
            h2 { "Key series" }
            @for candidate in candidates {
                @match compare(baseline.summary, candidate.summary) {
                    Ok(comparison) => {
                        @if let Some(remark) = &comparison.remark { p.remark { (words::sentence(remark)) "." } }
                        (words::table(&tables::comparison(&comparison)))
                    }
                    Err(different) => p.nothing { (different) },
                }
            }
        }
    }
}

fn again(reports: &[Report<'_>]) -> Markup {
    html! {
        section {
            h2 { "Run them again" }
            @for report in reports { pre.command { (report.summary.header.repeat_with) } }
        }
    }
}
