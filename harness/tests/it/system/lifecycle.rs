//! Nothing outlives the rig, however rig, keeper or system end.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use floodrig::keeper::{Identity, Kept, Report, Spec};
use floodrig::stop::Cut;
use floodrig::system::System;
use floodrig_reports::recording::EndingKind;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::support::{LONG, Run, all_ended, below, dies_by, program, shell, signal, until};

/// A system of three generations: a shell, a child, and a grandchild whose parent has gone.
const FAMILY: &str = "sleep 1000 & (sleep 1000 & exit) ; wait";

fn family(root: u32, size: usize) -> Vec<Identity> {
    until("the whole family", || Some(below(root)).filter(|found| found.len() == size))
}

/// A keeper with the test in the rig's place.
struct Bare {
    keeper: Child,
    rig: BufReader<UnixStream>,
}

impl Bare {
    fn start(script: &str) -> Self {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_read_timeout(Some(LONG)).unwrap();
        let mut command = Command::new(program().0);
        command.arg("__keeper").stdin(Stdio::from(OwnedFd::from(far))).stdout(Stdio::null()).process_group(0);
        let keeper = command.spawn().unwrap();
        drop(command);
        let spec = Spec {
            command: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            dir: "/".into(),
            ..Spec::default()
        };
        writeln!(&near, "{}", serde_json::to_string(&spec).unwrap()).unwrap();
        let mut bare = Self { keeper, rig: BufReader::new(near) };
        assert!(matches!(bare.report(), Report::Spawned { .. }));
        bare
    }

    fn report(&mut self) -> Report {
        let mut line = String::new();
        self.rig.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|cause| panic!("{cause}: {line:?}"))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.keeper), signal).unwrap();
    }
}

#[test]
fn the_end_of_the_rig_ends_the_whole_tree() {
    let mut bare = Bare::start(FAMILY);
    let family = family(bare.keeper.id(), 3);
    drop(bare.rig);
    assert!(bare.keeper.wait().unwrap().success());
    assert!(all_ended(&family));
}

#[test]
fn the_end_of_the_rig_ends_a_tree_that_ignores_every_polite_signal() {
    let mut bare = Bare::start("trap '' TERM INT HUP; sleep 1000 & wait; while :; do sleep 1; done");
    let family = family(bare.keeper.id(), 2);
    drop(bare.rig);
    assert!(bare.keeper.wait().unwrap().success());
    assert!(all_ended(&family));
}

#[test]
fn a_keeper_told_to_end_tells_the_rig_and_takes_the_tree_with_it_though_that_does_nothing() {
    let mut bare = Bare::start(FAMILY);
    let family = family(bare.keeper.id(), 3);
    bare.signal(Signal::TERM);
    assert_eq!(bare.report(), Report::Told { signal: 15 });
    assert!(bare.keeper.wait().unwrap().success());
    assert!(all_ended(&family));
}

#[test]
fn an_order_to_stop_reports_every_end_and_then_that_nothing_is_left() {
    let mut bare = Bare::start(FAMILY);
    family(bare.keeper.id(), 3);
    writeln!(bare.rig.get_ref(), r#"{{"stop":{{"grace_ms":30000}}}}"#).unwrap();
    let mut orphans = Vec::new();
    loop {
        match bare.report() {
            Report::Ended { orphan, .. } => orphans.push(orphan),
            Report::Empty {} => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(orphans.iter().filter(|orphan| !**orphan).count(), 1, "the command itself once: {orphans:?}");
    assert!(bare.keeper.wait().unwrap().success());
}

#[test]
fn the_terminals_ctrl_c_reaches_neither_keeper_nor_system() {
    let run = Run::new();
    let system = run.start(&shell("sleep 1000; :")).unwrap();
    let own = rustix::process::getpgid(Pid::from_raw(system.root() as i32)).unwrap();
    assert_ne!(own, rustix::process::getpgrp());
    assert_eq!(rustix::process::getpgid(Pid::from_raw(system.pid() as i32)).unwrap(), own);
    assert_eq!(system.stop(LONG).ending.kind, EndingKind::Stopped);
}

#[test]
fn a_killed_keeper_is_the_rigs_failure_and_no_death_and_its_tree_is_ended() {
    let run = Run::new();
    let system = run.start(&shell(FAMILY)).unwrap();
    let family = family(system.root(), 3);
    signal(system.root(), Signal::KILL);
    let Cut::RigFailed(why) = until("the failure", || run.stop().why_cut().cloned()) else { panic!("no failure") };
    assert!(why.contains("was killed by somebody else"), "{why}");
    until("the end of what it left", || all_ended(&family).then_some(()));
    let ending = system.stop(LONG).ending;
    assert_eq!((ending.kind, ending.note), (EndingKind::Stopped, Some(why)));
}

#[test]
fn a_keeper_told_to_end_is_the_rigs_failure_and_its_system_is_still_stopped_in_order() {
    let run = Run::new();
    let system = run.start(&shell("trap 'exit 7' TERM; echo up >&2; while :; do sleep 0.01; done")).unwrap();
    until("its trap", || (system.logs().stderr_lines == 1).then_some(()));
    signal(system.root(), Signal::TERM);
    let Cut::RigFailed(why) = until("the failure", || run.stop().why_cut().cloned()) else { panic!("no failure") };
    assert!(why.contains("was told to end by somebody else's SIGTERM"), "{why}");
    let ending = system.stop(LONG).ending;
    assert_eq!((ending.kind, ending.code), (EndingKind::Stopped, Some(7)), "{ending:?}");
}

#[test]
fn whoever_ends_rig_and_keeper_or_system_together_has_stopped_the_run_whichever_is_heard_of_first() {
    for how in [Signal::KILL, Signal::TERM] {
        for target in [System::root, System::pid] {
            let run = Run::new();
            let system = run.start(&shell("exec sleep 1000")).unwrap();
            let tree = family(system.root(), 1);
            signal(target(&system), how);
            run.stop().ask();
            let ending = system.stop(LONG).ending;
            assert_eq!(ending.kind, EndingKind::Stopped, "{how:?}: {ending:?}");
            assert_eq!(run.stop().why_cut(), None, "{how:?}");
            assert!(all_ended(&tree));
        }
    }
}

#[test]
fn a_stop_is_polite_first() {
    let run = Run::new();
    let system =
        run.start(&shell("trap 'echo closing >&2; exit 7' TERM; echo up >&2; while :; do sleep 0.01; done")).unwrap();
    until("its trap", || (system.logs().stderr_lines == 1).then_some(()));
    let ending = system.stop(LONG).ending;
    assert_eq!((ending.kind, ending.code, ending.signal, ending.note), (EndingKind::Stopped, Some(7), None, None));
    assert_eq!(ending.stderr_tail.last().map(String::as_str), Some("closing"));
}

#[test]
fn a_system_that_ignores_sigterm_is_killed_after_its_grace() {
    let run = Run::new();
    let system = run.start(&shell("trap '' TERM; while :; do sleep 1; done")).unwrap();
    let tree = until("the loop", || Some(below(system.root())).filter(|found| found.len() == 2));
    let ending = system.stop(Duration::from_millis(300)).ending;
    assert_eq!((ending.kind, ending.signal.as_deref()), (EndingKind::Stopped, Some("SIGKILL")));
    assert_eq!(ending.note.as_deref(), Some("needed SIGKILL after 0.3 s"));
    assert!(all_ended(&tree));
}

#[test]
fn a_child_that_outlives_its_parent_is_ended_with_it() {
    let (dir, script) = dies_by("setsid sleep 1000 & exit 0");
    let run = Run::new();
    let system = run.start(&shell(&script)).unwrap();
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("the death", || system.death());
    let orphans = below(system.root());
    assert_eq!(orphans.len(), 1);
    let ending = system.stop(LONG).ending;
    assert_eq!((ending.kind, ending.code), (EndingKind::Exit, Some(0)));
    assert!(all_ended(&orphans));
}

#[test]
fn a_panic_of_the_rig_ends_the_system() {
    let run = Run::new();
    let system = run.start(&shell(FAMILY)).unwrap();
    let family = family(system.root(), 3);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _held = system;
        panic!("ordered");
    }));
    assert!(panicked.is_err());
    assert!(all_ended(&family));
}

#[test]
fn a_rig_killed_with_its_whole_process_group_leaves_nothing() {
    // `sleep` stands in for the rig: it holds the one end of the keeper's socket and dies with its group.
    let (near, far) = UnixStream::pair().unwrap();
    let mut holder = Command::new("sleep")
        .arg("1000")
        .stdin(Stdio::from(OwnedFd::from(near.try_clone().unwrap())))
        .process_group(0)
        .spawn()
        .unwrap();
    let mut command = Command::new(program().0);
    command.arg("__keeper").stdin(Stdio::from(OwnedFd::from(far))).process_group(0);
    let mut keeper = command.spawn().unwrap();
    drop(command);
    let spec = Spec { command: vec!["sleep".to_owned(), "1000".to_owned()], dir: "/".into(), ..Spec::default() };
    writeln!(&near, "{}", serde_json::to_string(&spec).unwrap()).unwrap();
    let tree = family(keeper.id(), 1);
    drop(near);
    kill_process_group(Pid::from_child(&holder), Signal::KILL).unwrap();
    holder.wait().unwrap();
    assert!(keeper.wait().unwrap().success());
    assert!(all_ended(&tree));
}

#[test]
fn variables_are_added_and_taken_out() {
    let env = ["ADDED", "TAKEN"].map(|name| (name.to_owned(), "set".to_owned())).into();
    let spec = Spec {
        command: vec![
            "sh".to_owned(),
            "-c".to_owned(),
            "echo \"${ADDED-unset} ${TAKEN-unset} ${PATH:+inherited}\"".to_owned(),
        ],
        dir: "/".into(),
        env,
        without: vec!["TAKEN".to_owned()],
        ..Spec::default()
    };
    let mut started = Kept::start(&program(), &spec).unwrap();
    let mut said = String::new();
    started.stdout.read_to_string(&mut said).unwrap();
    assert_eq!(said.trim(), "set unset inherited");
}

#[test]
fn a_process_forked_while_its_parent_is_asked_to_end_is_asked_too() {
    let run = Run::new();
    let system =
        run.start(&shell("trap 'sleep 1000 & exit 0' TERM; echo up >&2; while :; do sleep 0.01; done")).unwrap();
    until("its trap", || (system.logs().stderr_lines == 1).then_some(()));
    let before = run.epoch.elapsed();
    assert_eq!(system.stop(LONG).ending.code, Some(0));
    assert!(run.epoch.elapsed() < before + LONG, "nothing had to be killed");
}
