//! `floodrig bench` as a user meets it, against a server that counts for itself.

mod nothing;
mod secure;

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::rig::{eventually, kill};
use crate::server::counting;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_floodrig"));
    command.arg("bench").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn bench(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the rig starts")
}

/// The last line of standard output.
fn summary(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|cause| panic!("{cause}: {text}\n{}", said(output)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_closed_loop_records_every_request_that_the_server_received() {
    let (address, received) = counting();
    let url = format!("http://{address}/a?b");
    let output = bench(&[&url, "--connections", "4", "--duration", "300ms", "--json"]);
    let summary = summary(&output);
    let act = &summary["acts"]["bench"];
    let count = received.load(Ordering::SeqCst);
    assert!(count > 4, "{act}");
    assert_eq!((act["planned"].as_u64(), act["ok"].as_u64()), (Some(count), Some(count)), "{act}");
    assert_eq!(act["response_us"]["count"].as_u64(), Some(count));
    assert_eq!(output.status.code(), summary["exit_code"].as_i64().map(|code| code as i32));
}

#[test]
fn an_open_loop_sends_as_many_as_its_rate_says() {
    let (address, received) = counting();
    let output = bench(&[&format!("http://{address}"), "--rate", "200", "--duration", "500ms", "--json"]);
    let act = &summary(&output)["acts"]["bench"];
    assert_eq!((act["planned"].as_u64(), received.load(Ordering::SeqCst)), (Some(100), 100), "{act}");
}

#[test]
fn a_rig_that_is_stopped_makes_its_run_invalid_in_words() {
    let (address, received) = counting();
    let url = format!("http://{address}/");
    let rig = command(&[&url, "--rate", "50", "--duration", "4s"]).spawn().expect("the rig starts");
    eventually("the load has begun", || received.load(Ordering::SeqCst) > 5);
    kill(rig.id(), "STOP");
    thread::sleep(Duration::from_millis(1_500));
    kill(rig.id(), "CONT");
    let output = rig.wait_with_output().expect("the rig ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("the rig stood still"), "{text}");
}

#[test]
fn a_server_that_is_not_there_is_not_measured() {
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = held.local_addr().expect("an address");
    drop(held);
    let output = bench(&[&format!("http://{address}/")]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("no connection to 127.0.0.1:"), "{}", said(&output));
}

#[test]
fn what_cannot_be_a_bench_is_refused_before_anything_is_sent() {
    for (arguments, says) in [
        (&["http://192.0.2.1/"][..], "--allow-host"),
        (&["127.0.0.1:80"], "begins with http://"),
        (&["http://127.0.0.1:9/", "--rate", "5", "--connections", "2"], "cannot be used with"),
        (&["http://127.0.0.1:9/", "--connections", "0"], "0 is not in"),
    ] {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(says), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_to_do() {
    let (address, _) = counting();
    let url = format!("http://{address}");
    for (flag, value, help) in [
        ("--duration", "18446744073709551615s", "1day at most"),
        ("--timeout", "0s", "more than nothing"),
        ("--rate", "-5", "requests a second"),
        ("--rate", "nan", "requests a second"),
        ("--connections", "4294967295", "ulimit -n"),
    ] {
        let output = bench(&[&url, flag, value]);
        assert_eq!(output.status.code(), Some(2), "{flag} {value}: {}", said(&output));
        assert!(said(&output).contains(help), "{flag} {value}: {}", said(&output));
    }
}
