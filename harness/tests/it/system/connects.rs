//! Bare connects against what was ordered, alone and beside the probe's requests: in servers without a heartbeat, some
//! of which never answer what the probe asks.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use floodrig::system::System;
use floodrig::system::port::servers;
use floodrig::vitals::{Observed, Observer, Subject};
use floodrig_reports::recording::{Apart, Observations, Stall, StallKind, Vital};
use rustix::process::Signal;

use super::drawn::Drawn;
use super::loops::{Done, Language, Look, Loop};
use super::support::{LONG, Run, below, shell, signal, subject, until};
use crate::tools;

/// How often a measurement of real time is tried on a machine that others use too.
const TRIES: usize = 5;
/// A stall is known to the 50 ms between two connects.
const WITHIN: Duration = Duration::from_millis(60);
const MADE: &str = "active: made 20 times a second, which takes about 1 % of a core of a small server";
/// Each computes for 2 ms, on a connection of its own.
const PLAYERS: usize = 25;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// One that answers nothing that the probe asks.
fn mute(language: Language) -> Loop {
    let script = format!("exec {} {}", language.program(), language.server());
    let of = Loop::of(&script, &[("MUTE", "1")], Look::OutsideOnly);
    assert_eq!(of.observations.black_box, "inactive: no answer to GET / within 2 s");
    assert_eq!(of.observations.bare_connects, MADE);
    of
}

fn is_seen(done: &Done, observed: &Observed) -> bool {
    observed.stalls.iter().any(|stall| done.off(stall) <= WITHIN)
}

/// In one of a few tries, which are printed for what was drawn.
#[expect(clippy::print_stdout, reason = "what was drawn, and what was made of it")]
fn in_one_of_a_few(mut one: impl FnMut() -> (Vec<Done>, Observed), right: impl Fn(&[Done], &Observed) -> bool) {
    let found = (0..TRIES).any(|_| {
        let (done, observed) = one();
        println!("{done:?}: {observed:?}");
        right(&done, &observed)
    });
    assert!(found, "not in any of {TRIES} tries");
}

/// Stops a process and lets it go on; what it did meanwhile is nothing.
fn stopped(run: &Run, pid: u32, length: Duration) -> Done {
    let sent = |which| {
        signal(pid, which);
        run.epoch.elapsed()
    };
    let from = sent(Signal::STOP);
    std::thread::sleep(length);
    Done { from, len: sent(Signal::CONT).saturating_sub(from), cpu: Duration::ZERO }
}

/// Whether these stalls, and none of a length that another user of the machine does not cause, are there.
fn alone(done: &[Done], observed: &Observed) -> bool {
    let long = |stall: &&Stall| stall.len_us > 150_000;
    done.iter().all(|done| is_seen(done, observed)) && observed.stalls.iter().filter(long).count() == done.len()
}

#[test]
fn where_nothing_is_answered_an_ordered_stall_is_seen_within_60_ms_and_alone() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let one = || {
            let of = mute(language);
            let done = [(StallKind::Computing, 200), (StallKind::Blocked, 500)].map(|(kind, least)| {
                std::thread::sleep(ms(300 + drawn.below(300)));
                of.stall(kind, least + drawn.below(least))
            });
            std::thread::sleep(ms(300));
            (done.to_vec(), of.end().1)
        };
        in_one_of_a_few(one, alone);
    }
}

#[test]
fn where_nothing_is_ordered_nothing_is_seen_of_a_system_that_answers_nothing() {
    for language in Language::here() {
        let one = || {
            let of = mute(language);
            std::thread::sleep(ms(3000));
            (Vec::new(), of.end().1)
        };
        in_one_of_a_few(one, |_, observed| observed.stalls.is_empty() && observed.longest_accept.is_some());
    }
}

#[test]
fn a_server_that_a_signal_has_stopped_accepts_nobody() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let one = || {
            let of = mute(language);
            std::thread::sleep(ms(500 + drawn.below(300)));
            let done = stopped(&of.run, of.system.pid(), ms(300 + drawn.below(700)));
            std::thread::sleep(ms(300));
            (vec![done], of.end().1)
        };
        in_one_of_a_few(one, alone);
    }
}

#[test]
fn a_queue_of_new_connections_that_is_served_in_turn_is_no_stall_and_one_in_it_is_seen() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let one = || {
            let of = mute(language);
            std::thread::sleep(ms(3000));
            let load = of.load_anew(PLAYERS, "/work");
            std::thread::sleep(ms(1500));
            let done = of.stall(StallKind::Computing, 300 + drawn.below(700));
            std::thread::sleep(ms(1000));
            load.end();
            (vec![done], of.end().1)
        };
        in_one_of_a_few(one, alone);
    }
}

/// A Node server of two processes: the first accepts and hands on, the second answers.
fn pair() -> Option<Loop> {
    let script = format!("exec node {}", Language::Node.server());
    tools::here(&["node"]).then(|| Loop::of(&script, &[("CLUSTER", "1")], Look::OutsideOnly))
}

fn all_apart(apart: Apart) -> impl Fn(&[Done], &Observed) -> bool {
    move |done, observed| {
        let long = || observed.stalls.iter().filter(|stall| stall.len_us > 150_000);
        alone(done, observed) && long().all(|stall| stall.apart == Some(apart))
    }
}

/// One of the two stalls for a drawn length, and the other does not.
fn one_of_a_pair_stalls(apart: Apart, stall: impl Fn(&Loop, u64) -> Done) {
    let mut drawn = Drawn::new();
    let Some(first) = pair() else { return };
    first.end();
    let one = || {
        let of = pair().unwrap();
        std::thread::sleep(ms(500));
        let done = stall(&of, 400 + drawn.below(600));
        std::thread::sleep(ms(300));
        (vec![done], of.end().1)
    };
    in_one_of_a_few(one, all_apart(apart));
}

#[test]
fn a_process_that_answers_stalls_alone_where_another_accepts() {
    one_of_a_pair_stalls(Apart::Requests, |of, length| of.stall(StallKind::Blocked, length));
}

#[test]
fn a_process_that_accepts_stalls_alone_where_another_answers() {
    one_of_a_pair_stalls(Apart::Connects, |of, length| stopped(&of.run, of.system.pid(), ms(length)));
}

/// Whether this stall, and no other long one, is there. It is known once a connection has come to who stalls.
fn in_its_time(done: &[Done], observed: &Observed) -> bool {
    let Done { from, len, .. } = done[0];
    let long: Vec<&Stall> = observed.stalls.iter().filter(|stall| stall.len_us > 150_000).collect();
    let [stall] = long[..] else { return false };
    let (begun, ended) = (Duration::from_micros(stall.from_us), Duration::from_micros(stall.from_us + stall.len_us));
    from <= begun + WITHIN && begun <= from + ms(400) && ended.abs_diff(from + len) <= WITHIN
}

#[test]
fn one_of_two_servers_that_share_a_port_stalls_and_is_seen() {
    if !tools::here(&["python3"]) {
        return;
    }
    let mut drawn = Drawn::new();
    let one = || {
        // The kernel gives each of them every other connection by chance (SO_REUSEPORT).
        let server = Language::Python.server();
        let of = Loop::of(&format!("python3 {server} & exec python3 {server}"), &[], Look::OutsideOnly);
        until("both listen", || (servers(&of.pids(), of.port()).len() == 2).then_some(()));
        std::thread::sleep(ms(500));
        let done = stopped(&of.run, of.system.pid(), ms(800 + drawn.below(700)));
        std::thread::sleep(ms(300));
        (vec![done], of.end().1)
    };
    in_one_of_a_few(one, in_its_time);
}

#[test]
fn connects_are_not_among_the_systems_handles_nor_in_its_queue_when_it_is_looked_at() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let seen = || {
            let of = mute(language);
            let vitals: Vec<Vital> = (0..20).map(|_| of.next_vital()).collect();
            of.end();
            vitals.iter().map(|vital| (vital.pids[0].handles, vital.listen_queue)).collect::<BTreeSet<_>>()
        };
        let found: Vec<_> = (0..TRIES).map(|_| seen()).take_while(|seen| seen.len() > 1).collect();
        assert!(found.len() < TRIES, "{found:?}");
        // Nobody else comes, and the one connection that waits meanwhile is the rig's.
        let of = mute(language);
        of.stall_alone(500 + drawn.below(500));
        let deepest = (0..5).filter_map(|_| of.next_vital().listen_queue).max();
        assert_eq!(deepest, Some(0));
        of.end();
    }
}

/// What is said of the connects to a system that runs this Python script, which finds its port in `port`.
fn said_of(script: &str, change: impl FnOnce(&mut Subject)) -> String {
    let (run, dir) = (Run::new(), tempfile::tempdir().unwrap());
    std::fs::write(
        dir.path().join("server.py"),
        format!("import os, socket, time\nport = int(os.environ['PORT'])\n{script}"),
    )
    .unwrap();
    let mut launch = shell(&format!("exec python3 {}", dir.path().join("server.py").display()));
    launch.env = BTreeMap::from([("PORT".to_owned(), launch.port.to_string())]);
    let system = System::start(&launch, run.watch(), &mut |_| {}).unwrap();
    assert!(!below(system.root()).is_empty());
    let mut subject = Subject {
        command: Some(system.pid()),
        path: Err("the test has none".to_owned()),
        ..subject(system.root(), launch.port)
    };
    change(&mut subject);
    let observer = Observer::start(subject, run.epoch, run.to_rows());
    let mut observations = Observations::default();
    observer.describe(&mut observations);
    observer.finish();
    system.stop(LONG);
    observations.bare_connects
}

const ACCEPTS: &str =
    "listener = socket.create_server(('127.0.0.1', port))\nwhile True: listener.accept()[0].close()\n";

#[test]
fn what_cannot_be_seen_is_said_with_its_reason() {
    if !tools::here(&["python3"]) {
        return;
    }
    assert_eq!(said_of(ACCEPTS, |_| {}), MADE);
    let deferred = "listener = socket.socket()\nlistener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)\n\
                    listener.bind(('127.0.0.1', port))\nlistener.listen()\nwhile True: listener.accept()[0].close()\n";
    let said = said_of(deferred, |_| {});
    assert!(said.starts_with("inactive: the listener leaves connections to the kernel"), "{said}");
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 80));
    let said = said_of(ACCEPTS, |subject| subject.address = Ok(elsewhere));
    assert_eq!(said, "inactive: the system is on another machine");
    let said = said_of(ACCEPTS, |subject| subject.connects = Err("it logs them".to_owned()));
    assert_eq!(said, "inactive: it logs them");
}
