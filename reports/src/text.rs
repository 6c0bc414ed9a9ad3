//! A run for the terminal: the verdict in words first, then what to act on, how it was measured, and the numbers.
//! Plain text; whoever prints it may add colour, which never carries meaning alone.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};

use crate::compare::Comparison;
use crate::how::how_measured;
use crate::recording::Network;
use crate::tables::{self, Table};
use crate::verdict::{Verdict, VerdictKind, headline};
use crate::{Finding, Summary};

/// A run for the terminal.
pub fn text(summary: &Summary, verdict: &Verdict, findings: &[Finding]) -> String {
    let mut page = title(summary);
    page += &headline(summary, verdict);
    page += "\n";
    page += &reasons(verdict);
    page += &section("Services that died", &summary.services_died);
    page += &section("Last lines on the system's stderr", summary.system.last_words());
    page += &list_of(findings);
    page += &section("How it was measured", &how_measured(&summary.header));
    page += &section("Telegram's ceilings, as modelled", &summary.header.how.ceilings);
    let tables = std::iter::once(tables::budgets(summary)).chain(tables::figures(summary));
    for table in tables.filter(|table| !table.rows.is_empty()) {
        page += &drawn(&table);
    }
    page += &section("Commonest error lines", &summary.system.commonest_errors());
    page += &section("Run it again", std::slice::from_ref(&summary.header.repeat_with));
    page
}

/// The engine alone, for the terminal: what was done, how it stands, and its numbers.
pub fn bench_text(summary: &Summary, verdict: &Verdict) -> String {
    let mut page = title(summary);
    if let Some(protocol) = summary.header.how.network.as_ref().and_then(Network::protocol) {
        let _ = writeln!(page, "{protocol}");
    }
    if verdict.kind() != VerdictKind::Pass {
        page += &headline(summary, verdict);
        page += "\n";
    }
    page += &reasons(verdict);
    for table in [tables::bench(summary), tables::failures(summary), tables::rig(summary)] {
        if !table.rows.is_empty() {
            page += &drawn(&table);
        }
    }
    page
}

/// Two runs side by side, for the terminal.
pub fn comparison_text(comparison: &Comparison) -> String {
    let remark = comparison.remark.iter().map(|remark| format!("\n{remark}\n"));
    remark.chain([drawn(&tables::comparison(comparison))]).collect()
}

fn title(summary: &Summary) -> String {
    let header = &summary.header;
    let about = if header.about.is_empty() { String::new() } else { format!(": {}", header.about) };
    format!("{}{about}\n", header.title())
}

/// All of them, where the headline holds only the first.
fn reasons(verdict: &Verdict) -> String {
    match verdict.invalid_because() {
        [] | [_] => String::new(),
        several => section("Why it is invalid", several),
    }
}

fn list_of(findings: &[Finding]) -> String {
    let mut page = String::new();
    for finding in findings {
        let _ = write!(page, "\nFinding {}\n  {}\n", finding.id.name(), finding.text);
        for evidence in &finding.evidence {
            let _ = writeln!(page, "  - {evidence}");
        }
    }
    page
}

fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{title}\n  {}\n", lines.join("\n  "))
}

/// A table for a terminal; one without a name for its first column carries its title there.
pub fn drawn(table: &Table) -> String {
    let mut head = table.head.clone();
    let title = if head[0].is_empty() {
        std::mem::replace(&mut head[0], table.title.clone())
    } else {
        format!("{}\n", table.title)
    };
    let mut drawing = comfy_table::Table::new();
    let ruled = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    drawing.load_style(ruled).set_content_arrangement(ContentArrangement::Disabled);
    drawing.set_header(head).add_rows(&table.rows);
    for column in drawing.column_iter_mut().skip(1).take(table.values) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("\n{title}{}\n", drawing.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::fixture;
    use crate::recording::EndingKind;
    use crate::verdict::judge;
    use crate::{FindingId, findings};

    #[test]
    fn a_run_that_went_well() {
        let (summary, timeline) = fixture::summarised(fixture::rows());
        let verdict = judge(&summary, &summary.header.budgets);
        insta::assert_snapshot!(text(&summary, &verdict, &findings(&summary, &timeline)));
    }

    #[test]
    fn a_run_whose_system_died() {
        let mut summary = fixture::summary();
        summary.system.ending = Some(fixture::ending(EndingKind::Signal, Some("SIGSEGV"), 5_100));
        let guess = summary.acts.get_mut("guess").unwrap();
        guess.ok -= 20;
        guess.outcomes.refused = 20;
        guess.unserved = 20;
        guess.judged_us.p99 = None;
        let finding = Finding {
            id: FindingId::ThrottleStorm,
            text: "a throttle storm: wait.".to_owned(),
            evidence: vec!["10 of 40 calls were answered 429".to_owned()],
        };
        let verdict = judge(&summary, &summary.header.budgets);
        insta::assert_snapshot!(text(&summary, &verdict, &[finding]));
    }

    #[test]
    fn a_service_that_died_is_told_in_words_too() {
        let services_died = vec!["2.0 s into the load: the service `db` exited with 1, 3 in flight".to_owned()];
        let summary = Summary { services_died, ..fixture::summary() };
        let page = text(&summary, &Verdict::Pass, &[]);
        assert!(page.contains("\nServices that died\n  2.0 s into the load: the service `db` exited"), "{page}");
        assert!(!text(&fixture::summary(), &Verdict::Pass, &[]).contains("Services that died"));
    }

    #[test]
    fn every_reason_of_an_invalid_run_is_listed() {
        let reasons = ["the rig stood still".to_owned(), "the host stole 20 %".to_owned()].to_vec();
        let page = text(&fixture::summary(), &Verdict::Invalid(reasons), &[]);
        assert!(
            page.contains("invalid: the rig stood still (and 1 more)\n\nWhy it is invalid\n  the rig stood still\n")
        );
    }

    #[test]
    fn two_runs_side_by_side() {
        let mut before = fixture::summary();
        before.header.variant = Some("before".to_owned());
        before.telegram.throttled = 213;
        before.system.rss_peak_bytes = Some(125 << 20);
        insta::assert_snapshot!(comparison_text(&compare(&before, &fixture::summary()).unwrap()));
    }
}
