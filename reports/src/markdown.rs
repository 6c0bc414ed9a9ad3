//! `report.md`: a run for a pull request. The same words and numbers as everywhere else.

use crate::compare::Comparison;
use crate::how::how_measured;
use crate::tables::{self, Table};
use crate::verdict::{Verdict, headline};
use crate::{Finding, Summary};

/// A run as Markdown.
pub fn markdown(summary: &Summary, verdict: &Verdict, findings: &[Finding]) -> String {
    let tables = std::iter::once(tables::budgets(summary)).chain(tables::figures(summary));
    let tables: Vec<String> = tables.filter(|table| !table.rows.is_empty()).map(|table| drawn(&table)).collect();
    let findings: Vec<String> = findings.iter().map(finding).collect();
    [
        title(summary),
        format!("**{}**\n", escaped(&headline(summary, verdict))),
        reasons(verdict),
        lines("Services that died", &summary.services_died),
        lines("Last lines on the system's stderr", summary.system.last_words()),
        findings.concat(),
        format!("\n## How it was measured\n\n{}", bullets(&how_measured(&summary.header))),
        lines("Telegram's ceilings, as modelled", &summary.header.how.ceilings),
        tables.concat(),
        lines("Commonest error lines", &summary.system.commonest_errors()),
        format!("\n## Run it again\n\n```sh\n{}\n```\n", summary.header.repeat_with),
    ]
    .concat()
}

/// Two runs side by side as Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let remark = comparison.remark.iter().map(|remark| format!("\n{}\n", escaped(remark)));
    remark.chain([drawn(&tables::comparison(comparison))]).collect()
}

fn title(summary: &Summary) -> String {
    let header = &summary.header;
    let about = if header.about.is_empty() { String::new() } else { format!("{}\n\n", escaped(&header.about)) };
    format!("# {}\n\n{about}", escaped(&header.title()))
}

fn reasons(verdict: &Verdict) -> String {
    match verdict.invalid_because() {
        [] | [_] => String::new(),
        several => format!("\n{}", bullets(several)),
    }
}

fn finding(finding: &Finding) -> String {
    let evidence = bullets(&finding.evidence);
    format!("\n## Finding: `{}`\n\n{}\n\n{evidence}", finding.id.name(), escaped(&finding.text))
}

fn lines(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("\n## {title}\n\n{}", bullets(lines)) }
}

fn bullets(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {}\n", escaped(line))).collect();
    lines.concat()
}

fn drawn(table: &Table) -> String {
    let words = table.head.len() - 1 - table.values;
    let rule = ["|---|", &"--:|".repeat(table.values), &"---|".repeat(words)].concat();
    let rows: Vec<String> = table.rows.iter().map(|cells| row(cells)).collect();
    format!("\n## {}\n\n{}{rule}\n{}", escaped(&table.title), row(&table.head), rows.concat())
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// What a system wrote must stay text: no markup, no tags, and no end of a table's cell or line.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => safe.extend(['\\', letter]),
            '<' => safe += "&lt;",
            '&' => safe += "&amp;",
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::fixture;
    use crate::verdict::judge;
    use crate::{FindingId, comparison_text, text};

    fn stampede() -> Finding {
        Finding {
            id: FindingId::RenderStampede,
            text: "a render stampede: draw a few at a time.".to_owned(),
            evidence: vec!["memory 64.0 MiB -> 128.0 MiB between 3.0 s and 13.0 s of the load".to_owned()],
        }
    }

    #[test]
    fn a_run_that_broke_a_budget() {
        let mut summary = fixture::summary();
        summary.telegram.throttled = 213;
        summary.telegram.unmodelled = [("getUserGifts".to_owned(), 2)].into();
        summary.telegram.throttled_by = [("bot".to_owned(), 13), ("group".to_owned(), 200)].into();
        let verdict = judge(&summary, &summary.header.budgets);
        insta::assert_snapshot!(markdown(&summary, &verdict, &[stampede()]));
    }

    #[test]
    fn what_a_system_wrote_stays_text() {
        assert_eq!(escaped("<b>|a_b|\n`c`"), "&lt;b>\\|a\\_b\\| \\`c\\`");
    }

    #[test]
    fn two_runs_side_by_side_are_one_table() {
        let page = comparison_markdown(&compare(&fixture::summary(), &fixture::summary()).unwrap());
        assert!(
            page.starts_with("\n## after against after\n\n|  | after | after | change |\n|---|--:|--:|---|\n"),
            "{page}"
        );
    }

    #[test]
    fn a_remark_stands_before_the_numbers_everywhere() {
        let mut comparison = compare(&fixture::summary(), &fixture::summary()).unwrap();
        comparison.remark = Some("the networks differ".to_owned());
        for page in [comparison_markdown(&comparison), comparison_text(&comparison)] {
            assert!(page.starts_with("\nthe networks differ\n\n"), "{page}");
        }
    }

    #[test]
    fn terminal_and_markdown_show_the_same_values() {
        let summary = fixture::summary();
        let terminal = text(&summary, &Verdict::Pass, &[]);
        let page = markdown(&summary, &Verdict::Pass, &[]);
        let cells = tables::figures(&summary).into_iter().flat_map(|table| table.rows).flatten();
        for cell in cells {
            assert!(terminal.contains(&cell) && page.contains(&escaped(&cell)), "{cell}");
        }
    }
}
