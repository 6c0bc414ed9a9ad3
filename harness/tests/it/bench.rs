//! `floodrig bench` as a user meets it, against a server that counts for itself.

mod nothing;
mod secure;

use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use floodrig::system::cores::{machine, pin_this_thread};
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
fn a_rig_that_is_stopped_makes_its_run_invalid_in_words_and_no_storm_of_what_came_due_meanwhile() {
    let (address, received) = counting();
    let url = format!("http://{address}/");
    let rig = command(&[&url, "--rate", "400", "--duration", "6s", "--json"]).spawn().expect("the rig starts");
    eventually("the load has begun", || received.load(Ordering::SeqCst) > 5);
    kill(rig.id(), "STOP");
    thread::sleep(Duration::from_secs(3));
    kill(rig.id(), "CONT");
    let output = rig.wait_with_output().expect("the rig ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("the rig stood still"), "{text}");
    // Of the 1,200 that came due meanwhile only those of the last second are sent.
    let act = &summary(&output)["acts"]["bench"];
    let never_sent = act["outcomes"]["abandoned"].as_u64().expect("a count");
    assert!(never_sent >= 790, "{act}");
    assert_eq!(act["planned"].as_u64(), Some(received.load(Ordering::SeqCst) + never_sent), "{act}");
}

/// [`counting`] beside the first core, which is the rig's, where there is another.
fn counting_apart() -> (SocketAddr, Arc<AtomicU64>) {
    let start = || {
        let machine = machine().expect("the machine's cores");
        pin_this_thread(if machine.len() > 1 { &machine[1..] } else { &machine }).expect("they are to be had");
        counting()
    };
    thread::spawn(start).join().expect("the server starts")
}

#[test]
fn a_rate_that_no_rig_can_keep_makes_the_run_invalid_and_the_rig_says_that_it_was_the_limit_itself() {
    let (address, _) = counting_apart();
    // Few handles bound the threads of the server, which are the test's own; a second holds ten looks at the cores.
    let arguments = format!("bench http://{address}/ --rate 500000 --duration 1s --timeout 1s --json");
    let shell = format!("ulimit -n 256; exec \"$0\" {arguments}");
    let output =
        Command::new("sh").args(["-c", &shell, env!("CARGO_BIN_EXE_floodrig")]).output().expect("the rig starts");
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    let summary = summary(&output);
    let reasons = summary["invalid_because"].to_string();
    // On a machine that others use at the same time it is they, or the host, who are on its core, and it says that.
    let share = |of: &str| summary["rig"][of].as_f64().expect("it was measured");
    let cause = match (share("steal"), share("own_busy"), share("core_busy")) {
        (stolen, _, _) if stolen > 0.1 => "the host stole",
        (_, own, _) if own > 0.9 => "the rig itself used",
        (_, _, core) if core > 0.9 => "others were on the rig's cores",
        (_, _, _) => "something else on this machine",
    };
    assert!(reasons.contains(cause), "{reasons}: {}", summary["rig"]);
    assert_eq!(summary["acts"]["bench"]["outcomes"]["rig_fault"], 0, "the load holds the connections, not the crowd");
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
