//! After any end, no process of the rig or of the system is left.

use crate::rig::{Rig, eventually, kill, process_named, processes_in};

fn long() -> Rig {
    Rig::small(&[("arrive.burst.over = \"1s\"", "arrive.burst.over = \"60s\"")])
}

fn up(rig: &Rig) -> u32 {
    let mut system = None;
    eventually("the load has begun", || {
        system = process_named(rig.path(), "wordle");
        let recording = std::fs::read_to_string(rig.path().join("out/run.jsonl")).unwrap_or_default();
        system.is_some() && recording.contains("load_started")
    });
    system.expect("just seen")
}

fn nothing_left(rig: &Rig) {
    eventually("nothing is left", || processes_in(rig.path()).is_empty());
}

#[test]
fn a_killed_rig_leaves_nothing_and_its_recording_is_still_readable() {
    let rig = long();
    let mut child = rig.start();
    up(&rig);
    child.kill().expect("the rig is killed");
    child.wait().expect("it is reaped");
    nothing_left(&rig);
    let report = std::process::Command::new(env!("CARGO_BIN_EXE_floodrig"))
        .args(["report", "out"])
        .current_dir(rig.path())
        .output()
        .expect("the rig starts");
    assert_eq!(report.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&report.stdout).contains("partial"), "{report:?}");
}

#[test]
fn ctrl_c_keeps_the_recording_and_leaves_nothing() {
    let rig = long();
    let child = rig.start();
    up(&rig);
    kill(child.id(), "INT");
    let left = rig.wait(child).ended(130).complete();
    nothing_left(&rig);
    assert_eq!(left.summary()["verdict"], "partial");
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let rig = Rig::small(&[
        ("arrive.burst.over = \"1s\"", "arrive.burst.over = \"60s\""),
        ("CALIBRATE = \"1\"", "CALIBRATE = \"1\", IGNORE_SIGTERM = \"1\""),
    ]);
    let child = rig.start();
    up(&rig);
    kill(child.id(), "INT");
    kill(child.id(), "INT");
    assert_eq!(rig.wait(child).status, Some(130));
    nothing_left(&rig);
}

#[test]
fn a_system_that_ignores_sigterm_is_killed_after_its_grace() {
    let rig = Rig::small(&[
        ("CALIBRATE = \"1\"", "CALIBRATE = \"1\", IGNORE_SIGTERM = \"1\""),
        ("ready = \"/healthz\"", "ready = \"/healthz\"\nstop_within = \"500ms\""),
    ]);
    let left = rig.run().ended(0).complete();
    nothing_left(&rig);
    let ending = left.summary()["system"]["ending"].clone();
    assert_eq!(ending["kind"], "stopped");
    assert!(ending["note"].as_str().is_some_and(|note| note.contains("SIGKILL")), "{ending}");
}

#[test]
fn a_child_that_outlives_its_parent_is_ended_too() {
    let rig = Rig::small(&[("command = [\"WORDLE\"]", "command = [\"sh\", \"-c\", \"sleep 1000 & exec WORDLE\"]")]);
    rig.run().ended(0).complete();
    nothing_left(&rig);
}
