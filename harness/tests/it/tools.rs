//! What a test needs of the machine. What is missing is said in plain sight, and is a failure where nothing may be.

use std::process::{Command, Stdio};

/// Whether these programs are all here.
pub(crate) fn here(programs: &[&str]) -> bool {
    let starts = |program: &str| {
        let asked = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        asked.is_ok_and(|output| output.status.success())
    };
    programs.iter().all(|program| needed(program, starts(program)))
}

/// Whether something is here that every machine of the project's CI has.
pub(crate) fn needed(what: &str, is_here: bool) -> bool {
    if !is_here {
        skipped(&format!("{what} is not here"));
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "CI has {what}");
    }
    is_here
}

/// Says why a test has ended without a result.
#[expect(clippy::print_stderr, reason = "a test that is skipped is seen to be")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}
