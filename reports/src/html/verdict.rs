//! What the run came to, in words, and every budget beneath.

use maud::{Markup, html};

use crate::verdict::{Tone, headline};
use crate::{BudgetLine, Report, Standing};

use super::words::{marked, said, sentence};

/// Verdict and budgets.
pub(super) fn section(report: &Report<'_>) -> Markup {
    html! {
        section.verdict.(class(report.verdict.tone())) {
            (in_words(report))
            @for reason in report.verdict.invalid_because().iter().skip(1) { p { (sentence(reason)) } }
            (last_words(report))
            p.exit { "Exit code " (report.verdict.kind().exit_code()) }
        }
        (budgets(report))
    }
}

/// What the system wrote last, when it ended by itself: mostly the reason.
fn last_words(report: &Report<'_>) -> Markup {
    let lines = report.summary.system.last_words();
    html! {
        @if !lines.is_empty() {
            p.exit { "Its last lines on stderr:" }
            pre { (lines.join("\n")) }
        }
    }
}

/// The headline that every renderer shows: its kind as a heading, the rest beneath.
pub(super) fn in_words(report: &Report<'_>) -> Markup {
    let headline = headline(report.summary, report.verdict);
    let (kind, words) = headline.split_once(": ").unwrap_or((&headline, ""));
    html! {
        h2.kind { span.sign aria-hidden="true" { (sign(report.verdict.tone())) } (sentence(kind)) }
        p.words { (sentence(words)) }
    }
}

/// The colour's name in the style. The words and the sign say the same.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Well => "well",
        Tone::Badly => "badly",
        Tone::Unsure => "unsure",
    }
}

fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Well => "✓",
        Tone::Badly => "✕",
        Tone::Unsure => "?",
    }
}

fn budgets(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Budgets" }
            @if report.budget_lines.is_empty() {
                p.nothing { "The scenario sets no budgets: everything below is shown and nothing is judged." }
            } @else {
                table.budgets {
                    thead { tr {
                        th { "budget" } th.number { "at most" } th.number { "measured" } th.number { "of the limit" } th { "" }
                    } }
                    tbody { @for line in report.budget_lines { (row(line)) } }
                }
            }
        }
    }
}

fn row(line: &BudgetLine) -> Markup {
    let (class, sign, word) = match line.standing {
        Standing::Kept => ("well", "✓", "kept"),
        Standing::Broken => ("badly", "✕", "broken"),
        Standing::NotJudged(_) => ("unsure", "–", "not judged"),
        Standing::Unmeasured(_) => ("unsure", "?", "not measured"),
    };
    html! {
        tr {
            th scope="row" { (line.series) }
            td.number data-name="at most" { (line.limit) }
            td.number data-name="measured" { (said(&line.value)) }
            td.number.ratio { @if let Some(ratio) = line.ratio { (of_limit(ratio)) } }
            td.state.(class) {
                span.sign aria-hidden="true" { (sign) } (word)
                @if let Some(why) = line.standing.why() { span.why { (marked(why)) } }
            }
        }
    }
}

/// A share below twice the limit, a factor from there.
fn of_limit(ratio: f64) -> String {
    match ratio {
        ..2.0 => format!("{:.0} %", ratio * 100.0),
        ..10.0 => format!("{ratio:.1} ×"),
        _ => format!("{ratio:.0} ×"),
    }
}
