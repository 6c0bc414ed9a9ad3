//! After any end, no process of the rig or of the system is left.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use crate::rig::{Rig, eventually, kill, process_named, processes_in};
use crate::terminal::Terminal;

fn long() -> Rig {
    Rig::small(&[("arrive.burst.over = \"2s\"", "arrive.burst.over = \"120s\"")])
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

/// Whoever runs the tests may be under `nohup`, and what it ignores its children ignore too.
const HEARS_HUP: &str = "--default-signal=HUP";

fn start_at_a_terminal(rig: &Rig) -> Child {
    rig.start_below(&["env", HEARS_HUP], |_| {})
}

#[test]
fn a_killed_rig_leaves_nothing_and_its_recording_is_still_readable() {
    let rig = long();
    let mut child = rig.start();
    rig.up();
    let heartbeat = std::path::PathBuf::from(format!("/dev/shm/floodrig-{}-0", child.id()));
    assert!(heartbeat.exists());
    child.kill().expect("the rig is killed");
    child.wait().expect("it is reaped");
    nothing_left(&rig);
    eventually("the heartbeat's folder is gone", || !heartbeat.exists());
    let report = rig.floodrig(&["report", "out"]).ended(130);
    assert!(report.stdout.contains("partial"), "{report:?}");
    let system = report.summary()["system"].clone();
    assert!(system["stalls"].is_null() && system["stall_max_ms"].is_null(), "nobody wrote them: {system}");
    assert!(system["rss_peak_bytes"].is_u64() && system["probe_delay_max_ms"].is_number(), "{system}");
}

#[test]
fn every_signal_to_end_keeps_the_recording_stops_the_system_and_leaves_nothing() {
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let rig = long();
        let child = start_at_a_terminal(&rig);
        rig.up();
        kill(child.id(), signal);
        is_partial(&rig, child);
    }
}

/// Sealed as interrupted, the system stopped by the rig, all reports rendered, nothing left.
fn is_partial(rig: &Rig, child: Child) {
    let left = rig.wait(child).ended(130).complete();
    nothing_left(rig);
    let summary = left.summary();
    assert_eq!((&summary["verdict"], &summary["exit_code"]), (&"partial".into(), &130.into()));
    assert_eq!(summary["system"]["ending"]["kind"], "stopped", "{}", summary["system"]["ending"]);
    assert!(["report.html", "report.md"].iter().all(|file| rig.path().join("out").join(file).exists()));
}

#[test]
fn a_signal_that_comes_twice_for_one_cause_as_from_timeout_ends_the_run_in_order() {
    for signal in ["-TERM", "-HUP"] {
        let rig = long();
        let child = start_at_a_terminal(&rig);
        rig.up();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid, &pid]).status().expect("kill runs").success());
        is_partial(&rig, child);
    }
}

#[test]
fn a_run_whose_terminal_is_closed_ends_in_order() {
    let rig = long();
    let terminal = Terminal::open();
    let child = rig.start_below(&["env", HEARS_HUP, "setsid", "--ctty"], |command| terminal.is_of(command));
    rig.up();
    drop(terminal);
    is_partial(&rig, child);
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let rig = Rig::small(&[]);
    let child = rig.start_below(&["nohup"], |_| {});
    rig.up();
    kill(child.id(), "HUP");
    rig.wait(child).ended(0).complete();
    nothing_left(&rig);
}

#[test]
fn a_reader_that_has_seen_enough_costs_nothing_but_the_text() {
    let rig = Rig::small(&[]);
    let mut child = rig.start();
    drop((child.stdout.take(), child.stderr.take()));
    rig.wait(child).ended(0).complete();
    nothing_left(&rig);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let rig = Rig::small(&[
        ("arrive.burst.over = \"2s\"", "arrive.burst.over = \"120s\""),
        ("ready = \"/healthz\"", "ready = \"/healthz\"\nstop_within = \"10m\""),
        ("CALIBRATE = \"1\"", "CALIBRATE = \"1\", IGNORE_SIGTERM = \"1\""),
    ]);
    let mut child = rig.start();
    rig.up();
    eventually("it has ended, however long its system may take", || {
        kill(child.id(), "INT");
        child.try_wait().expect("it can be waited for").is_some()
    });
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
