//! What the stub costs, and that it costs no more than it may: CPU against a bare axum route, memory after
//! many chats, memory and speed with many bots that wait. `scripts/bench stub` runs it.
//!
//! Every measurement runs in a process of its own, this program again with its name, so that none finds the
//! memory of another. It prints one table and ends with 1 if something costs too much.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot go on ends; it prints")]

mod chats;
mod client;
mod cpu;
mod crowd;
mod fuzz;
mod row;
mod waiting;

use std::process::{Command, ExitCode, Stdio};

use row::Row;

type Measure = fn() -> Vec<Row>;

/// The measurements by name, in the order of the table.
const MEASUREMENTS: &[(&str, Measure)] = &[
    ("cpu", cpu::measure),
    ("idle", chats::idle),
    ("chats", chats::busy),
    ("waiting", waiting::measure),
    ("crowd", crowd::measure),
];

/// Those that are no part of it: `fuzz` takes as many seconds as it is told, `serve` is the other side of a crowd.
const OTHERS: &[(&str, Measure)] = &[("fuzz", fuzz::measure), ("serve", crowd::serve)];

fn main() -> ExitCode {
    match std::env::args().nth(1) {
        Some(name) => one(&name),
        None => all(),
    }
}

fn one(name: &str) -> ExitCode {
    let mut all = MEASUREMENTS.iter().chain(OTHERS);
    let Some((_, measure)) = all.find(|(own, _)| *own == name) else {
        let names: Vec<&str> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
        println!("there is no measurement {name:?}; there are {}", names.join(", "));
        return ExitCode::from(2);
    };
    let rows = measure();
    for row in &rows {
        println!("{row}");
    }
    if rows.iter().all(Row::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn all() -> ExitCode {
    println!("{}", Row::head());
    let own = std::env::current_exe().unwrap();
    let held = MEASUREMENTS.iter().map(|(name, _)| {
        let ended = Command::new(&own).arg(name).stdin(Stdio::null()).status().unwrap();
        ended.success()
    });
    // Every one of them runs, whatever became of those before.
    if held.filter(|held| !held).count() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
