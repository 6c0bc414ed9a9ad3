//! The table at the end of several runs: each as it was expected, or not.

use floodrig_reports::tables::Table;
use floodrig_reports::{Value, drawn};

use super::made::Made;
use super::report::Rendered;
use super::{Exit, say};

/// Prints it on standard output.
pub(super) fn show(made: &[Made]) {
    let head = ["run", "verdict", "ok", "memory", "longest stall", "429s", "", "held against what was expected"];
    let table = Table {
        title: "All runs".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        values: 5,
        rows: made.iter().map(row).collect(),
    };
    let ended = made.iter().filter(|made| made.held().0 == Exit::Pass).count();
    let line = format!("{ended} of {} runs ended as expected", made.len());
    say::data(&format!("{}\n{line}", drawn(&table)));
}

fn row(made: &Made) -> Vec<String> {
    let (exit, words) = made.held();
    let sign = if exit == Exit::Pass { "ok" } else { "NOT OK" };
    let mut cells = vec![made.title.clone()];
    match &made.result {
        Ok(rendered) => cells.extend(figures(rendered)),
        Err(_) => cells.extend(std::iter::repeat_n("-".to_owned(), 5)),
    }
    cells.extend([sign.to_owned(), words]);
    cells
}

fn figures(Rendered { summary, verdict, .. }: &Rendered) -> [String; 5] {
    let (planned, ok) = summary.acts.values().fold((0, 0), |(planned, ok), act| (planned + act.planned, ok + act.ok));
    [
        verdict.kind().name().to_owned(),
        format!("{ok} of {planned}"),
        Value::size(summary.system.rss_peak_bytes).to_string(),
        Value::millis(summary.system.stall_max_ms).to_string(),
        Value::count(Some(summary.telegram.throttled)).to_string(),
    ]
}
