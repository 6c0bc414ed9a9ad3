//! Whose end it was: the system's, the rig's own, or that of somebody who ended the run.

use std::fs;

use crate::rig::{Left, Rig, eventually, kill, process_named, processes_in};
use crate::tools;

const LONG: (&str, &str) = ("arrive.burst.over = \"2s\"", "arrive.burst.over = \"120s\"");

fn long(command: &str) -> Rig {
    Rig::small(&[LONG, ("[\"WORDLE\"]", command)])
}

fn parent(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("everyone has a parent");
    line.trim().parse().expect("a number")
}

fn ending(left: &Left, rig: &Rig) -> serde_json::Value {
    eventually("nothing is left", || processes_in(rig.path()).is_empty());
    left.summary()["system"]["ending"].clone()
}

/// Nothing was sent: each planned act was abandoned.
fn spared(left: &Left) {
    for (name, act) in left.summary()["acts"].as_object().expect("acts") {
        assert_eq!((&act["ok"], &act["outcomes"]["abandoned"]), (&0.into(), &act["planned"]), "{name}: {act}");
    }
}

#[test]
fn a_keeper_that_is_ended_alone_is_the_rigs_failure_and_no_death_of_the_system() {
    for (signal, says) in [("KILL", "was killed by somebody else"), ("TERM", "told to end by somebody else's SIGTERM")]
    {
        let rig = long("[\"WORDLE\"]");
        let child = rig.start();
        kill(parent(rig.up()), signal);
        let left = rig.wait(child).ended(6).complete();
        let ending = ending(&left, &rig);
        assert_eq!((&left.summary()["verdict"], &ending["kind"]), (&"failed".into(), &"stopped".into()), "{ending}");
        assert!(left.stdout.contains(says) && left.stdout.contains("Run it again"), "{}", left.stdout);
    }
}

#[test]
fn whoever_ends_the_rig_with_its_keeper_and_system_has_interrupted_the_run() {
    let rig = long("[\"WORDLE\"]");
    let child = rig.start();
    let system = rig.up();
    let all = [system, parent(system), child.id()].map(|pid| pid.to_string());
    assert!(std::process::Command::new("kill").arg("-TERM").args(all).status().expect("kill runs").success());
    let left = rig.wait(child).ended(130).complete();
    let ending = ending(&left, &rig);
    assert_eq!((&left.summary()["verdict"], &ending["kind"]), (&"partial".into(), &"stopped".into()), "{ending}");
}

#[test]
fn a_system_that_ends_while_its_load_is_waited_for_died_at_once_and_is_sent_nothing() {
    let tomorrow = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(20);
    let rig = Rig::small(&[]).with(&["--start-at", &tomorrow.to_string()]);
    let child = rig.start();
    let mut system = None;
    eventually("the load is waited for", || {
        system = process_named(rig.path(), "wordle");
        rig.recorded().contains("load_started")
    });
    kill(system.expect("just seen"), "ABRT");
    let left = rig.wait(child).ended(5).complete();
    let ending = ending(&left, &rig);
    assert_eq!((&left.summary()["verdict"], &ending["signal"]), (&"died".into(), &"SIGABRT".into()), "{ending}");
    assert!(left.stdout.contains("SIGABRT before the load"), "{}", left.stdout);
    spared(&left);
}

/// Is ready, and leaves when it is asked for anything else.
const LEAVES: &str = r#"
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Leaves(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-length", "0"); self.end_headers()
    def do_POST(self):
        os._exit(3)
HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Leaves).serve_forever()
"#;

#[test]
fn a_system_that_ends_in_the_pre_flight_died_before_the_load_and_is_sent_nothing() {
    if !tools::here(&["python3"]) {
        return;
    }
    let rig = Rig::small(&[("[\"WORDLE\"]", "[\"python3\", \"leaves.py\"]")]).holding("leaves.py", LEAVES);
    let left = rig.run().ended(5).complete();
    assert_eq!(ending(&left, &rig)["code"], 3);
    assert!(left.stdout.contains("exit code 3 before the load"), "{}", left.stdout);
    spared(&left);
}

#[test]
fn a_server_that_its_command_puts_into_the_background_is_watched_and_stopped_in_its_place() {
    let rig = Rig::small(&[("[\"WORDLE\"]", "[\"sh\", \"-c\", \"WORDLE & exit 0\"]")]);
    let left = rig.run().ended(0).complete();
    let ending = ending(&left, &rig);
    let note = ending["note"].as_str().unwrap_or_default();
    assert_eq!(ending["kind"], "stopped", "{ending}");
    assert!(
        note.contains("the command of the system ended with 0") && note.contains("(wordle) listens on port"),
        "{note}"
    );
    assert!(left.stderr.contains("note: the command of the system ended with 0"), "{}", left.stderr);
}

#[test]
fn the_death_of_a_server_in_the_background_is_that_of_the_system() {
    let rig = long("[\"sh\", \"-c\", \"WORDLE & exit 0\"]");
    let child = rig.start();
    kill(rig.up(), "ABRT");
    // The rest of the load is sent to nobody, which takes its time.
    kill_when_recorded(&rig, child.id());
    let left = rig.wait(child);
    let ending = ending(&left, &rig);
    assert_eq!((&ending["kind"], &ending["signal"]), (&"signal".into(), &"SIGABRT".into()), "{ending}");
}

#[test]
fn a_command_that_fails_is_the_systems_death_and_who_serves_on_is_named() {
    let rig = long("[\"sh\", \"-c\", \"WORDLE & until [ -e now ]; do sleep 0.02; done; exit 4\"]");
    let child = rig.start();
    rig.up();
    fs::write(rig.path().join("now"), "").expect("the order is written");
    kill_when_recorded(&rig, child.id());
    let left = rig.wait(child);
    let ending = ending(&left, &rig);
    assert_eq!((&ending["kind"], &ending["code"]), (&"exit".into(), &4.into()), "{ending}");
    assert!(ending["note"].as_str().is_some_and(|note| note.contains("(wordle) listens on port")), "{ending}");
}

/// Interrupts a run once the death of its system is in the recording.
fn kill_when_recorded(rig: &Rig, pid: u32) {
    eventually("the death is recorded", || rig.recorded().contains("\"kind\":\"died\""));
    kill(pid, "INT");
}
