//! Every way to die, through every wrapper that people start their systems with: each named rightly.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use floodrig::system::{Launch, Limits};
use floodrig_reports::recording::{Ending, EndingKind};

use super::support::{LONG, Run, dies_by, shell, until};

/// Dies as the file `now` says, which the test writes.
const VICTIM: &str = r#"
const fs = require("fs");
setInterval(() => {
  let act = "";
  try { act = fs.readFileSync("now", "utf8"); } catch { return; }
  if (act === "exit") process.exit(1);
  if (act === "grow") for (const kept = []; ; ) kept.push(Buffer.alloc(16 << 20, 1));
  if (act !== "") process.kill(process.pid, act);
}, 5);
"#;

const WRAPPERS: [(&str, &[&str]); 3] = [
    ("none", &["node", "victim.js"]),
    ("sh -c", &["sh", "-c", "node victim.js; exit $?"]),
    ("npm start", &["npm", "start"]),
];

const MEMORY: u64 = 512 << 20;

/// How the system ended that was started through this wrapper and told to do this.
fn ending_of(command: &[&str], act: &str) -> Ending {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("victim.js"), VICTIM).unwrap();
    let package = r#"{ "name": "victim", "version": "1.0.0", "scripts": { "start": "node victim.js" } }"#;
    fs::write(dir.path().join("package.json"), package).unwrap();
    let command = command.iter().map(|&word| word.to_owned()).collect();
    // With a limit of its own its kills are counted apart: the machine's count is of everybody's.
    let limits = Limits { memory: Some(MEMORY), cpu: None };
    let launch = Launch { dir: dir.path().to_owned(), command, limits, ..shell("") };
    let run = Run::new();
    let in_flight = u64::from(std::process::id() % 1000) + 1;
    run.in_flight.store(in_flight, Ordering::Relaxed);
    let system = run.start(&launch).unwrap();
    let ordered = run.epoch.elapsed();
    // In one step, so that the victim never reads half of it.
    fs::write(dir.path().join("now.new"), act).unwrap();
    fs::rename(dir.path().join("now.new"), dir.path().join("now")).unwrap();
    let death = until("the death", || system.death());
    assert!(ordered <= death.at && death.at <= run.epoch.elapsed(), "{death:?}");
    let ending = system.stop(LONG).ending;
    assert_eq!(ending.in_flight, in_flight);
    ending
}

/// A wrapper may pass the signal on or exit with 128 and its number; only the second is inferred.
fn is_named(ending: &Ending, signal: &str, number: i32) -> bool {
    let inferred = ending.note.as_deref().is_some_and(|note| note.contains("inferred from exit status"));
    let how = match ending.kind {
        EndingKind::Signal => ending.code.is_none() && !inferred,
        EndingKind::Exit => ending.code == Some(128 + number) && inferred,
        EndingKind::Stopped => false,
    };
    how && ending.signal.as_deref() == Some(signal)
}

#[test]
fn every_signal_is_named_through_every_wrapper() {
    for (wrapper, command) in WRAPPERS {
        for (signal, number) in [("SIGSEGV", 11), ("SIGABRT", 6), ("SIGKILL", 9)] {
            let ending = ending_of(command, signal);
            assert!(is_named(&ending, signal, number), "{signal} through {wrapper}: {ending:?}");
            assert_eq!(ending.oom, Some(false), "{signal} through {wrapper}");
        }
    }
}

#[test]
fn an_exit_is_no_signal_through_any_wrapper() {
    for (wrapper, command) in WRAPPERS {
        let ending = ending_of(command, "exit");
        assert_eq!((ending.kind, ending.code, ending.signal), (EndingKind::Exit, Some(1), None), "{wrapper}");
    }
}

#[test]
fn a_system_killed_for_its_memory_is_told_from_one_that_was_killed() {
    for (wrapper, command) in WRAPPERS {
        let ending = ending_of(command, "grow");
        let emulated = ending.note.as_deref().is_some_and(|note| note.contains("emulated cap"));
        assert!(ending.oom == Some(true) || emulated, "{wrapper}: {ending:?}");
        assert_eq!(ending.signal.as_deref(), Some("SIGKILL"), "{wrapper}: {ending:?}");
    }
}

fn ending_of_script(act: &str) -> Ending {
    let (dir, script) = dies_by(act);
    let run = Run::new();
    let system = run.start(&shell(&script)).unwrap();
    fs::write(dir.path().join("now"), "").unwrap();
    until("the death", || system.death());
    system.stop(LONG).ending
}

#[test]
fn the_reason_that_a_runtime_gives_is_quoted() {
    let heap = ending_of_script("exec node --max-old-space-size=16 -e 'for (const a = [];;) a.push({ a })'");
    assert_eq!(heap.signal.as_deref(), Some("SIGABRT"));
    assert!(heap.note.as_deref().unwrap_or_default().contains("JavaScript heap out of memory"), "{heap:?}");
    assert!(heap.stderr_tail.iter().any(|line| line.starts_with("FATAL ERROR: ")), "{heap:?}");
    let python = ending_of_script("exec python3 -c 'raise ValueError(\"no\")'");
    assert_eq!((python.code, python.note.as_deref()), (Some(1), Some("its stderr says \"ValueError: no\"")));
    assert!(python.stderr_tail[0].starts_with("Traceback "), "{python:?}");
    let bun = ending_of_script("echo 'panic: Segmentation fault at address 0x0' >&2; kill -ILL $$");
    assert_eq!(bun.signal.as_deref(), Some("SIGILL"));
    assert_eq!(bun.note.as_deref(), Some("its stderr says \"panic: Segmentation fault at address 0x0\""));
}

fn stopped(script: &str, within: Duration) -> Ending {
    let dir = tempfile::tempdir().unwrap();
    let up = dir.path().join("up");
    let run = Run::new();
    let system = run.start(&shell(&script.replace("UP", up.to_str().unwrap()))).unwrap();
    until("its trap", || up.exists().then_some(()));
    system.stop(within).ending
}

#[test]
fn a_slow_exit_is_timed_and_is_no_crash() {
    let slow = "trap 'sleep 0.3; exit 0' TERM; touch UP; while :; do sleep 0.01; done";
    let ending = stopped(slow, LONG);
    assert_eq!((ending.kind, ending.code, ending.note.as_deref()), (EndingKind::Stopped, Some(0), None));
    assert!(ending.stop_took_ms.unwrap() >= 300, "{ending:?}");
}

#[test]
fn sigkill_after_the_grace_is_told_even_when_only_a_child_needed_it() {
    let stubborn = "sh -c 'trap \"\" TERM; touch UP; while :; do sleep 0.01; done' & wait";
    let ending = stopped(stubborn, Duration::from_millis(200));
    assert_eq!((ending.kind, ending.signal.as_deref()), (EndingKind::Stopped, Some("SIGTERM")));
    assert_eq!(ending.note.as_deref(), Some("needed SIGKILL after 0.2 s"));
    assert!(ending.stop_took_ms.unwrap() >= 200, "{ending:?}");
}
