//! The instrument proved: an ordered fault is recorded as ordered, and nothing where nothing was ordered.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::rig::{Rig, eventually, kill, process_named};

fn steady() -> Rig {
    Rig::small(&[("arrive.burst.over = \"2s\"", "arrive.constant = { rate = 40, over = \"12s\" }")])
}

fn load_has_begun(rig: &Rig) {
    eventually("the load has begun", || {
        fs::read_to_string(rig.path().join("out/run.jsonl")).is_ok_and(|text| text.contains("\"row\":\"interval\""))
    });
}

fn system(rig: &Rig) -> u32 {
    process_named(rig.path(), "wordle").expect("the system runs")
}

/// The port that the rig chose for the system, as the system was told.
fn port(rig: &Rig) -> u16 {
    let environment = fs::read_to_string(format!("/proc/{}/environ", system(rig))).expect("the system is ours");
    let port = environment.split('\0').find_map(|variable| variable.strip_prefix("PORT="));
    port.and_then(|port| port.parse().ok()).expect("the rig sets PORT")
}

/// Talks to the system past the rig.
fn order(rig: &Rig, path: &str) {
    let mut to = TcpStream::connect(("127.0.0.1", port(rig))).expect("the system listens");
    write!(to, "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .expect("it is sent");
    let mut answer = String::new();
    to.read_to_string(&mut answer).expect("it is answered");
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
}

#[test]
fn an_ordered_stall_is_recorded_with_its_length() {
    let rig = steady();
    let child = rig.start();
    load_has_begun(&rig);
    let ordered = 300 + u64::from(std::process::id() % 400);
    order(&rig, &format!("/calibrate/stall?ms={ordered}"));
    let summary = rig.wait(child).ended(0).complete().summary();
    let recorded = summary["system"]["stall_max_ms"].as_f64().expect("a stall");
    assert!((recorded - ordered as f64).abs() <= 75.0, "ordered {ordered} ms, recorded {recorded} ms");
}

#[test]
fn nothing_ordered_is_nothing_recorded() {
    let summary = steady().run().ended(0).complete().summary();
    assert_eq!(summary["system"]["ending"]["kind"], "stopped");
    assert_eq!(summary["telegram"]["throttled"], 0);
    assert_eq!(summary["system"]["stderr_errors"], 0);
}

#[test]
fn an_ordered_leak_is_recorded_with_its_size() {
    let quiet = steady().run().ended(0).summary();
    let rig = steady();
    let child = rig.start();
    load_has_begun(&rig);
    let ordered = 100_000_000 + u64::from(std::process::id() % 100) * 1_000_000;
    order(&rig, &format!("/calibrate/leak?bytes={ordered}"));
    let leaked = rig.wait(child).ended(0).summary();
    let peak = |summary: &serde_json::Value| summary["system"]["rss_peak_bytes"].as_f64().expect("a peak");
    let grown = peak(&leaked) - peak(&quiet);
    let ordered = ordered as f64;
    assert!((grown - ordered).abs() < 0.2 * ordered, "ordered {ordered}, recorded {grown}");
}

#[test]
fn an_ordered_signal_is_recorded_by_its_name() {
    // Not SIGSEGV, whose first one from outside Rust's own handler swallows: it looks for a stack overflow.
    // `a_system_that_dies_exits_with_5_and_says_how` has a real one.
    for signal in ["KILL", "ABRT", "USR1"] {
        let rig = steady();
        let child = rig.start();
        load_has_begun(&rig);
        kill(system(&rig), signal);
        let summary = rig.wait(child).ended(5).complete().summary();
        assert_eq!(summary["system"]["ending"]["signal"], format!("SIG{signal}"));
    }
}

#[test]
fn a_stopped_rig_makes_the_run_invalid_in_words() {
    let rig = steady().judged();
    let child = rig.start();
    load_has_begun(&rig);
    kill(child.id(), "STOP");
    std::thread::sleep(Duration::from_secs(2));
    kill(child.id(), "CONT");
    let left = rig.wait(child).ended(4).complete();
    assert!(left.file("report.md").contains("calibrated right before: "), "what the rig can do is part of the report");
    let summary = left.summary();
    assert_eq!(summary["verdict"], "invalid");
    let why = summary["invalid_because"][0].as_str().expect("a reason");
    assert!(why.starts_with("the rig stood still"), "{why}");
}

#[test]
fn a_stopped_system_is_a_stall_of_that_length_and_no_fault_of_the_rig() {
    let rig = steady();
    let child = rig.start();
    load_has_begun(&rig);
    let system = system(&rig);
    kill(system, "STOP");
    std::thread::sleep(Duration::from_secs(5));
    kill(system, "CONT");
    let summary = rig.wait(child).ended(0).complete().summary();
    let recorded = summary["system"]["stall_max_ms"].as_f64().expect("a stall");
    assert!((4900.0..5500.0).contains(&recorded), "stopped for 5 s, recorded {recorded} ms");
    let slowest = ["open", "guess"].map(|act| summary["acts"][act]["response_us"]["max"].as_u64().expect("a maximum"));
    assert!(slowest.iter().any(|us| *us > 4_800_000), "responses count from the planned instant: {slowest:?} us");
}
