//! One run with everything that is said of it: what the pages and pictures are made from.

use crate::{BudgetLine, Finding, Summary, Timeline, Verdict};

/// One run, judged.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Its numbers.
    pub summary: &'a Summary,
    /// The run over time.
    pub timeline: &'a Timeline,
    /// What it came to.
    pub verdict: &'a Verdict,
    /// Every budget, kept or not.
    pub budget_lines: &'a [BudgetLine],
    /// What a person can act on.
    pub findings: &'a [Finding],
}

impl Report<'_> {
    /// What tells the run from others of its scenario: its variant, or the scenario's own name.
    pub fn name(&self) -> &str {
        self.summary.header.name()
    }
}
