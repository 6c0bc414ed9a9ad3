//! The build that comes before the system.

use std::path::PathBuf;
use std::time::Duration;

use floodrig::stop::Stop;
use floodrig::system::{Build, BuildError, build};

use super::support::{LONG, program};

fn shell(script: &str) -> Build {
    let command = vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()];
    Build { program: program(), dir: PathBuf::from("/"), command, within: LONG }
}

fn run(order: &Build) -> (Result<(), BuildError>, Vec<String>) {
    let mut lines = Vec::new();
    let result = build(order, &Stop::default(), &mut |line| lines.push(line.to_owned()));
    (result, lines)
}

#[test]
fn a_build_shows_its_lines_and_succeeds() {
    let (result, lines) = run(&shell("echo one; echo two >&2"));
    result.unwrap();
    assert_eq!(lines.iter().filter(|line| *line == "one" || *line == "two").count(), 2, "{lines:?}");
}

#[test]
fn a_build_that_fails_quotes_its_last_lines() {
    let (result, _) = run(&shell("echo 'error[E0425]: cannot find value' >&2; exit 101"));
    let error = result.unwrap_err().to_string();
    assert!(error.ends_with("exited with 101; its last lines:\n  error[E0425]: cannot find value"), "{error}");
}

#[test]
fn a_build_that_takes_too_long_is_ended() {
    let (result, _) = run(&Build { within: Duration::from_millis(100), ..shell("sleep 1000; :") });
    assert!(matches!(result, Err(BuildError::TooLong { .. })));
}

#[test]
fn an_interrupt_ends_the_build() {
    let stop = Stop::default();
    stop.ask();
    let result = build(&shell("sleep 1000; :"), &stop, &mut |_| {});
    assert!(matches!(result, Err(BuildError::Interrupted)));
}
