//! Every way to die, through every wrapper that people start their systems with: each named rightly.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use floodrig::scenario::Ready;
use floodrig::system::{Clock, Confinement, Launch, Limits, System};
use floodrig_reports::recording::{Ending, EndingKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tempfile::TempDir;

use super::support::{LONG, Run, dies_by, shell, until};

/// Serves, and dies as the file `now` says, which the test writes. Right before, it writes when and who: `hrtime` is
/// `CLOCK_MONOTONIC`, as `Instant` is.
const VICTIM: &str = r#"
const fs = require("fs");
const wrote = (name, text) => { fs.writeFileSync(name + ".new", text); fs.renameSync(name + ".new", name); };
const dies = () => wrote("died", `${process.hrtime.bigint()} ${process.pid}`);
require("http").createServer((_, answer) => answer.end()).listen(process.env.PORT, "127.0.0.1");
setInterval(() => {
  let act = "";
  try { act = fs.readFileSync("now", "utf8"); } catch { return; }
  fs.unlinkSync("now");
  if (act === "help") { require("child_process").spawnSync("true"); wrote("helped", ""); return; }
  if (act === "grow") for (const kept = []; ; ) { kept.push(Buffer.alloc(1 << 20, 1)); dies(); }
  dies();
  if (act === "exit") process.exit(1);
  process.kill(process.pid, act);
}, 5);
"#;

const WRAPPERS: [(&str, &[&str]); 3] = [
    ("none", &["node", "victim.js"]),
    ("sh -c", &["sh", "-c", "node victim.js; exit $?"]),
    ("npm start", &["npm", "start"]),
];

const MEMORY: u64 = 512 << 20;
/// What the instant of a death may be wrong by.
const WITHIN: Duration = Duration::from_millis(100);

/// A victim that serves, and what the test knows of it.
struct Victim {
    dir: TempDir,
    run: Run,
    system: System,
    in_flight: u64,
}

impl Victim {
    fn start(command: &[&str]) -> Self {
        Self::start_program(command, VICTIM, |launch| launch)
    }

    fn start_program(command: &[&str], program: &str, change: impl FnOnce(Launch) -> Launch) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("victim.js"), program).unwrap();
        let package = r#"{ "name": "victim", "version": "1.0.0", "scripts": { "start": "node victim.js" } }"#;
        fs::write(dir.path().join("package.json"), package).unwrap();
        let command = command.iter().map(|&word| word.to_owned()).collect();
        // With a limit of its own its kills are counted apart: the machine's count is of everybody's.
        let limits = Limits { memory: Some(MEMORY), cpu: None };
        let mut launch = Launch { dir: dir.path().to_owned(), command, limits, ..shell("") };
        launch.env.insert("PORT".to_owned(), launch.port.to_string());
        let run = Run::new();
        let in_flight = u64::from(std::process::id() % 1000) + 1;
        run.begin(in_flight);
        let system = run.start_serving(&change(launch)).unwrap();
        Self { dir, run, system, in_flight }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn order(&self, act: &str) {
        write_at_once(&self.path("now"), act);
    }

    /// Its last word: when it was about to die, and who it was.
    fn last_word(&self) -> Option<(Duration, u32)> {
        let text = fs::read_to_string(self.path("died")).ok()?;
        let (at_ns, pid) = text.split_once(' ')?;
        let at = Clock::new(self.run.epoch).of_monotonic_ns(at_ns.parse().ok()?);
        Some((at, pid.parse().ok()?))
    }

    /// Its end, after which much more is in flight, as if it lived: an instant that comes late has the wrong count.
    fn ends(&self) -> Duration {
        let (_, pid) = until("its last word", || self.last_word());
        until("its end", || has_ended(pid).then_some(()));
        self.run.begin(1000);
        self.last_word().expect("just seen").0
    }

    /// Its ending, once it was seen to be that of the victim and not of what was wrapped around it.
    fn ending(self, died: Duration, what: &str) -> Ending {
        let death = until("the death", || self.system.death());
        assert!(died <= death.at && death.at <= died + WITHIN, "{what}: died at {died:?}, and {death:?}");
        let ending = self.system.stop(LONG).ending;
        assert_eq!(ending.in_flight, self.in_flight, "{what}");
        ending
    }
}

/// With all of its threads: the first may have ended before the others, which hold its connections open.
fn has_ended(pid: u32) -> bool {
    let Ok(handle) = pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()) else { return true };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
}

/// In one step, so that nobody reads half of it.
fn write_at_once(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// How the system ended that was started through this wrapper and told to do this.
fn ending_of(command: &[&str], act: &str) -> Ending {
    let victim = Victim::start(command);
    victim.order(act);
    let died = victim.ends();
    // A victim that grows does not know its last instant, and gives all that it has back first: the kernel's word of its
    // end, which was just heard, is the truth to half of what the rig may be wrong by.
    let died = if act == "grow" { victim.run.epoch.elapsed().saturating_sub(WITHIN / 2) } else { died };
    victim.ending(died, &format!("{act} through {command:?}"))
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

/// Whether the kernel limits memory for this user.
fn may_confine() -> bool {
    let limits = Limits { memory: Some(MEMORY), cpu: None };
    !Confinement::make(limits, &format!("floodrig-test-may-{}", std::process::id())).dirs().is_empty()
}

#[test]
fn a_system_killed_for_its_memory_is_told_from_one_that_was_killed() {
    for (wrapper, command) in WRAPPERS {
        let ending = ending_of(command, "grow");
        let emulated = ending.note.as_deref().is_some_and(|note| note.contains("emulated cap"));
        // A cap of the rig's own is right where the kernel gives none, and only there.
        assert_eq!((ending.oom == Some(true), emulated), (may_confine(), !may_confine()), "{wrapper}: {ending:?}");
        assert_eq!(ending.signal.as_deref(), Some("SIGKILL"), "{wrapper}: {ending:?}");
    }
}

/// Stands in the place of the server: a bot that only polls.
const POLLS: &str = r#"
(async () => { for (;;) await (await fetch(process.env.STUB + "/bot1:a/getUpdates?timeout=20")).text(); })();
"#;

#[test]
#[expect(clippy::disallowed_methods, reason = "a stub needs an epoch")]
fn a_bot_that_listens_nowhere_died_when_it_did_and_not_with_its_wrapper() {
    let served = VICTIM.lines().find(|line| line.contains("createServer")).unwrap();
    let program = VICTIM.replace(served, POLLS);
    for (wrapper, command) in WRAPPERS {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stub =
            Arc::new(floodrig_stub::start(floodrig_stub::Limits::default(), listener, Instant::now(), 1).unwrap());
        let victim = Victim::start_program(command, &program, |mut launch| {
            launch.env.insert("STUB".to_owned(), stub.url());
            Launch { ready: Ready::Bot, stub: Some(Arc::clone(&stub)), ..launch }
        });
        victim.order("exit");
        let died = victim.ends();
        victim.ending(died, wrapper);
    }
}

#[test]
fn a_helper_that_ends_in_mid_run_is_no_death_and_no_part_of_one() {
    for (_, command) in WRAPPERS {
        let victim = Victim::start(command);
        victim.order("help");
        until("its helper's end", || victim.path("helped").exists().then_some(()));
        assert_eq!(victim.system.death(), None);
        victim.order("exit");
        let died = victim.ends();
        victim.ending(died, "after a helper");
    }
}

/// Whether this process, which stands in for the rig, holds a handle on that one.
fn is_held(pid: u32) -> bool {
    let handles = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let texts = handles.filter_map(|handle| fs::read_to_string(handle.path()).ok());
    texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .any(|line| line == format!("Pid:\t{pid}"))
}

#[test]
fn a_wrapper_that_starts_it_again_has_not_died_and_dies_with_the_last_of_them() {
    let script = "node victim.js; mv died first; node victim.js; sleep 0.5; exit 3";
    let victim = Victim::start(&["sh", "-c", script]);
    let below = || super::support::below(victim.system.root()).into_iter().find(|found| is_held(found.pid));
    let first = until("the first", below);
    victim.order("SIGSEGV");
    let second = until("the second", || below().filter(|found| *found != first));
    assert_eq!(victim.system.death(), None, "pid {} serves", second.pid);
    victim.order("SIGSEGV");
    let died = victim.ends();
    let ending = victim.ending(died, "the second, and not the wrapper half a second later");
    assert_eq!((ending.kind, ending.code), (EndingKind::Exit, Some(3)));
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
