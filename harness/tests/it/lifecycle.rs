//! After any end, no process of the rig or of the system is left.

use std::fs;
use std::path::Path;

use crate::rig::{Rig, eventually, kill, process_named, processes_in};

fn long() -> Rig {
    Rig::small(&[("arrive.burst.over = \"2s\"", "arrive.burst.over = \"120s\"")])
}

fn up(rig: &Rig) -> u32 {
    let mut system = None;
    eventually("the load has begun", || {
        system = process_named(rig.path(), "wordle");
        let recording = std::fs::read_to_string(rig.path().join("out/run.jsonl")).unwrap_or_default();
        system.is_some() && recording.contains("\"row\":\"interval\"")
    });
    system.expect("just seen")
}

/// Whether the recording of a run in this folder, or in one of its own below it, tells of such an event.
fn recorded(folder: &Path, kind: &str) -> bool {
    let below = fs::read_dir(folder.join("out")).into_iter().flatten().flatten().map(|entry| entry.path());
    below.map(|path| if path.is_dir() { path.join("run.jsonl") } else { path }).any(|path| {
        fs::read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&format!("\"kind\":\"{kind}\"")))
    })
}

fn nothing_left(rig: &Rig) {
    eventually("nothing is left", || processes_in(rig.path()).is_empty());
}

#[test]
fn a_killed_rig_leaves_nothing_and_its_recording_is_still_readable() {
    let rig = long();
    let mut child = rig.start();
    up(&rig);
    let heartbeat = std::path::PathBuf::from(format!("/dev/shm/floodrig-{}-0", child.id()));
    assert!(heartbeat.exists());
    child.kill().expect("the rig is killed");
    child.wait().expect("it is reaped");
    nothing_left(&rig);
    eventually("the heartbeat's folder is gone", || !heartbeat.exists());
    let report = rig.floodrig(&["report", "out"]).ended(130);
    assert!(report.stdout.contains("partial"), "{report:?}");
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
        ("arrive.burst.over = \"2s\"", "arrive.burst.over = \"120s\""),
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
fn ctrl_c_while_deliveries_settle_makes_the_run_partial() {
    let never_shown = ("version = \"/version\"", "marker = \"never shown\"");
    let rig = Rig::small(&[("settle = \"5s\"", "settle = \"60s\""), never_shown]);
    let child = rig.start();
    eventually("the load has ended", || recorded(rig.path(), "load_ended"));
    kill(child.id(), "INT");
    let left = rig.wait(child).ended(130).complete();
    nothing_left(&rig);
    assert_eq!(left.summary()["verdict"], "partial");
}

#[test]
fn ctrl_c_while_the_system_is_left_alone_makes_the_run_partial_and_still_reports_the_load() {
    let rig = Rig::small(&[("settle = \"5s\"", "settle = \"5s\"\nidle = \"240s\"")]);
    let child = rig.start();
    eventually("the load has settled", || recorded(rig.path(), "settled"));
    kill(child.id(), "INT");
    let left = rig.wait(child).ended(130).complete();
    nothing_left(&rig);
    let summary = left.summary();
    assert_eq!((&summary["verdict"], &summary["exit_code"]), (&"partial".into(), &130.into()));
    assert!(summary["acts"]["open"]["ok"].as_u64() > Some(0), "{}", summary["acts"]);
    assert!(summary["recovery"].is_null(), "nobody came once more: {}", summary["recovery"]);
    assert_eq!(summary["system"]["ending"]["kind"], "stopped");
    let files = ["run.jsonl", "report.html", "summary.json", "report.md"];
    assert!(files.iter().all(|file| rig.path().join("out").join(file).exists()));
}

#[test]
fn runs_that_ctrl_c_kept_from_being_made_are_no_pass() {
    let stubborn = ("CALIBRATE = \"1\"", "CALIBRATE = \"1\", IGNORE_SIGTERM = \"1\"");
    let slow_stop = ("ready = \"/healthz\"", "ready = \"/healthz\"\nstop_within = \"3s\"");
    let rig = Rig::small(&[stubborn, slow_stop]).and("\n[variants.first]\n[variants.second]\n");
    let child = rig.start();
    eventually("the first run is complete", || recorded(rig.path(), "settled"));
    kill(child.id(), "INT");
    let left = rig.wait(child).ended(130);
    nothing_left(&rig);
    assert!(left.stderr.contains("1 of 2 runs were not made"), "{}", left.stderr);
}

#[test]
fn a_rig_killed_before_its_load_leaves_nothing_to_report_and_the_report_says_so() {
    let rig = Rig::small(&[("[\"WORDLE\"]", "[\"sleep\", \"1000\"]")]);
    let mut child = rig.start();
    eventually("the system runs", || process_named(rig.path(), "sleep").is_some());
    child.kill().expect("the rig is killed");
    child.wait().expect("it is reaped");
    nothing_left(&rig);
    let report = rig.floodrig(&["report", "out"]).ended(2);
    assert!(report.stderr.contains("before the load began"), "{}", report.stderr);
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
