//! Whether this machine has a program that a scenario needs, and in the version that it needs.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::scenario::{Need, Version};

/// How programs are asked for their version; Go's knows only the second.
const ASKED: [&str; 2] = ["--version", "version"];

/// How long one may take to say it: a cold JVM on a busy small server takes seconds.
const WITHIN: Duration = Duration::from_secs(20);

/// What is missing, in words; nothing: the need is met.
pub fn unmet(need: &Need) -> Option<String> {
    let Some(program) = found(&need.program) else {
        return Some(format!("`{need}` is needed, and no `{}` is in PATH: install it", need.program));
    };
    let least = need.at_least.as_ref()?;
    match ASKED.iter().find_map(|word| version(&program, word)) {
        Some(has) if has.reaches(least) => None,
        Some(has) => Some(format!("`{need}` is needed, and {} is {has}: install a newer one", program.display())),
        None => Some(format!("`{need}` is needed, and {} does not say its version", program.display())),
    }
}

fn found(program: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where this machine's programs are")]
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(is_program)
}

/// What it prints when it is asked so, if it says a version and is content to.
fn version(program: &PathBuf, word: &str) -> Option<Version> {
    let mut command = Command::new(program);
    let piped = command.arg(word).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().ok()?;
    let ended = ends(&child);
    if !ended {
        // One that has ended meanwhile cannot be killed, which is as well.
        drop(child.kill());
    }
    let status = child.wait().ok()?;
    let mut text = String::new();
    child.stdout.take()?.take(4096).read_to_string(&mut text).ok()?;
    Version::first_in(&text).filter(|_| ended && status.success())
}

/// Whether it ends by itself in time.
fn ends(child: &Child) -> bool {
    let Some(pid) = Pid::from_raw(child.id() as i32) else { return false };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let within = rustix::time::Timespec { tv_sec: WITHIN.as_secs() as i64, tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&within)).is_ok_and(|ended| ended > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(program: &str, least: Option<&str>) -> Need {
        Need { program: program.to_owned(), at_least: least.map(|text| Version::first_in(text).unwrap()) }
    }

    #[test]
    fn a_program_that_is_there_will_do_in_its_version_and_not_in_one_to_come() {
        assert_eq!(unmet(&need("cargo", None)), None);
        assert_eq!(unmet(&need("cargo", Some("1.95"))), None);
        let text = unmet(&need("cargo", Some("1000"))).unwrap();
        assert!(text.starts_with("`cargo >= 1000` is needed, and /"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_or_says_no_version_is_named() {
        let text = unmet(&need("no-such-program", None)).unwrap();
        assert_eq!(text, "`no-such-program` is needed, and no `no-such-program` is in PATH: install it");
        assert!(unmet(&need("true", Some("1000"))).is_some());
    }
}
