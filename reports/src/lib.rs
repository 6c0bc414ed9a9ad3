//! Recordings in, words and pictures out.
//!
//! ```text
//! run.jsonl -> recording -> summary + timeline -> verdict, findings -> html, png, text, markdown, json
//! ```
//! Invariants: this crate depends on nothing else of the workspace, has no async runtime, and everything
//! behind the recording's reader is pure: no clock, no entropy, no environment.

mod budgets;
mod chart;
pub mod compare;
pub mod expectation;
pub mod findings;
#[cfg(test)]
mod fixture;
mod how;
mod html;
mod json;
mod markdown;
pub mod merge;
pub mod outbound;
mod png;
pub mod recording;
mod report;
pub mod summary;
pub mod tables;
mod text;
pub mod timeline;
mod value;
pub mod verdict;

pub use budgets::{Budgets, Latency, RecoveryBudget, ShutdownBudget};
pub use compare::{Comparison, DifferentPlans, compare};
pub use expectation::{Expectation, Held, hold};
pub use findings::{Finding, FindingId, findings};
pub use how::how_measured;
pub use html::{html, html_comparison};
pub use json::{json, json_line};
pub use markdown::{comparison_markdown, markdown};
pub use png::png;
pub use report::Report;
pub use summary::{Summary, summarise};
pub use text::{bench_text, comparison_text, drawn, text};
pub use timeline::Timeline;
pub use value::Value;
pub use verdict::{
    Breach, BudgetLine, Standing, Verdict, VerdictKind, budget_lines, faults_of_the_rig, headline, judge,
};
