//! What a person can act on, each with what it rests on.

use maud::{Markup, html};

use crate::{Finding, Report};

use super::words::{marked, sentence};

/// The findings.
pub(super) fn section(report: &Report<'_>) -> Markup {
    html! {
        section {
            h2 { "Findings" }
            @if report.findings.is_empty() {
                p.nothing { "None of the rules found a cause to act on." }
            }
            @for finding in report.findings { (one(finding)) }
        }
    }
}

fn one(finding: &Finding) -> Markup {
    html! {
        article.finding {
            h3 { (sentence(&finding.id.name().replace('_', " "))) }
            p { (marked(&sentence(&finding.text))) }
            ul { @for evidence in &finding.evidence { li { (marked(evidence)) } } }
        }
    }
}
