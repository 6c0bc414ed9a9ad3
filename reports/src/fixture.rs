//! A small run for tests: ten seconds of load from 2 s after the epoch, ten opens and twenty guesses a second, everything well.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::recording::{
    ActInterval, CallInterval, Cores, DeliveryInterval, Ending, EndingKind, Event, EventKind, FORMAT, Header, How,
    Interval, Logs, Machine, Message, MethodCounts, Network, NetworkCounts, Observations, Outcome, PidVital, Probed,
    Row, Sample, Seal, Stack, Stall, Versions, Vital,
};
use crate::summary::{Summary, summarise};
use crate::{Budgets, Latency, Timeline};

/// When the load begins.
pub(crate) const LOAD_FROM_US: u64 = 2_000_000;
const SECONDS: u64 = 10;
const OPENS_A_SECOND: u64 = 10;
const GUESSES_A_SECOND: u64 = 20;
const MIB: u64 = 1 << 20;

pub(crate) fn header() -> Header {
    Header {
        format: FORMAT,
        scenario: "rollover".to_owned(),
        about: "10 groups x 10 players open the app in the minute the puzzle changes".to_owned(),
        scenario_text: "name = \"rollover\"\n".to_owned(),
        scenario_path: "scenarios/rollover.toml".to_owned(),
        variant: Some("after".to_owned()),
        seed: 7,
        plan_digest: "c0ffee".to_owned(),
        acts: vec!["open".to_owned(), "guess".to_owned()],
        planned: [("open".to_owned(), SECONDS * OPENS_A_SECOND), ("guess".to_owned(), SECONDS * GUESSES_A_SECOND)]
            .into(),
        must_refuse: BTreeMap::new(),
        load_us: (LOAD_FROM_US, LOAD_FROM_US + SECONDS * 1_000_000),
        epoch_unix_us: 1_790_000_000_000_000,
        interval_us: 1_000_000,
        machine: machine(),
        cores: Cores { system: vec![1], rig: vec![0], shared: false, note: None },
        versions: Versions { floodrig: "0.1.0".to_owned() },
        how: how(),
        observations: observations(),
        budgets: budgets(),
        judge_latency: true,
        not_judged: None,
        repeat_with: "floodrig run scenarios/rollover.toml --variant after --seed 7".to_owned(),
        ready_after_ms: Some(120),
        calibration: None,
        shard: None,
        parts: Vec::new(),
    }
}

fn machine() -> Machine {
    let [cpu, kernel, os] = ["Some CPU @ 2.50GHz", "6.8.0", "Linux"].map(str::to_owned);
    Machine {
        cpu,
        cpus: 2,
        memory_bytes: 8 << 30,
        kernel,
        os,
        network: BTreeMap::from([("net.core.somaxconn".to_owned(), "4096".to_owned())]),
    }
}

fn how() -> How {
    How {
        connect_timeout_ms: 10_000,
        timeout_ms: 30_000,
        settle_ms: 30_000,
        connections: "one kept-alive connection per player".to_owned(),
        network: Some(Network::default()),
        ceilings: vec!["30 sends in any second per bot".to_owned()],
        quick: false,
    }
}

fn observations() -> Observations {
    let active = || "active".to_owned();
    let inactive = || "inactive: not part of this run".to_owned();
    Observations {
        heartbeat: inactive(),
        black_box: active(),
        bare_connects: active(),
        proc: active(),
        listen_queue: active(),
        tcp_info: inactive(),
        cgroup: inactive(),
        outbound: inactive(),
        deliveries: active(),
        redirect: active(),
        lookout: active(),
        isolate: inactive(),
        calls: active(),
    }
}

fn budgets() -> Budgets {
    let guess = Latency { p99: Some(Duration::from_millis(200)), ..Latency::default() };
    Budgets {
        unserved: Some(0),
        stall: Some(Duration::from_millis(250)),
        memory: Some(bytesize::ByteSize::mib(400)),
        throttled: Some(0),
        staleness: Some(Duration::from_secs(20)),
        latency: [("guess".to_owned(), guess)].into(),
        ..Budgets::default()
    }
}

pub(crate) fn header_row() -> Row {
    Row::Header(Box::new(header()))
}

pub(crate) fn note(text: &str) -> Row {
    Row::Event(Event { at_us: 3_000_000, kind: EventKind::Note, text: text.to_owned() })
}

/// An act that was due at the given second of the load, sent 100 us later and took this long.
pub(crate) fn sample(second: u64, took: Duration, outcome: Outcome) -> Sample {
    let scheduled = Duration::from_micros(LOAD_FROM_US + second * 1_000_000);
    let started = scheduled + Duration::from_micros(100);
    let (free, ended) = (Duration::ZERO, started + took);
    Sample { act: 1, player: 4, scheduled, free, started, ended, outcome, tries: 1, late_connect: false }
}

fn act(second: u64, count: u64) -> ActInterval {
    let mut act = ActInterval { offered: count, ..ActInterval::default() };
    for nth in 1..=count {
        act.count(&sample(second, Duration::from_millis(nth), Outcome::Ok));
    }
    act
}

pub(crate) fn interval(second: u64) -> Interval {
    let acts = [("open".to_owned(), act(second, OPENS_A_SECOND)), ("guess".to_owned(), act(second, GUESSES_A_SECOND))];
    Interval {
        from_us: LOAD_FROM_US + second * 1_000_000,
        len_us: 1_000_000,
        acts: acts.into(),
        in_flight: 3,
        unmatched: None,
    }
}

fn vital(tick: u64) -> Vital {
    let pid = PidVital {
        pid: 42,
        name: "wordle".to_owned(),
        rss_bytes: (20 + tick / 10) * MIB,
        hwm_bytes: (21 + tick / 10) * MIB,
        cpu_us: tick * 30_000,
        threads: 3,
        handles: Some(25),
        ..PidVital::default()
    };
    Vital {
        at_us: LOAD_FROM_US + tick * 100_000,
        pids: vec![pid],
        listen_queue: Some(tick % 3),
        listen_backlog: Some(128),
        network: Some(NetworkCounts::default()),
        probe_delay_us: Some(1_500),
        accept_delay_us: Some(1_100),
        stalling_us: None,
        rig_core_busy: Some(0.25),
        steal: Some(0.01),
        pressure: Some(0.2),
        rig_cpu_us: Some(tick * 10_000),
        stub_cpu_us: Some(tick * 4_000),
        ..Vital::default()
    }
}

fn calls(second: u64) -> CallInterval {
    let edits = MethodCounts { calls: 5, throttled: 0, errors: 0 };
    let photos = MethodCounts { calls: 2, throttled: 0, errors: 1 };
    CallInterval {
        from_us: LOAD_FROM_US + second * 1_000_000,
        len_us: 1_000_000,
        by_method: [("editMessageMedia".to_owned(), edits), ("sendPhoto".to_owned(), photos)].into(),
        uploads: 7,
        upload_bytes: 7 * 100_000,
        uploads_at_once: 2,
        worst_second_sends: 7,
        worst_second_accepted: 6,
        worst_minute_group_sends: 6,
        worst_minute_group_accepted: 6,
        ..CallInterval::default()
    }
}

fn deliveries(second: u64) -> DeliveryInterval {
    let mut row = DeliveryInterval {
        from_us: LOAD_FROM_US + second * 1_000_000,
        len_us: 1_000_000,
        expected: GUESSES_A_SECOND,
        delivered: GUESSES_A_SECOND,
        ..DeliveryInterval::default()
    };
    row.latency.record(Duration::from_secs(4));
    row.staleness.record(Duration::from_secs(8));
    row
}

fn logs() -> Logs {
    let top_messages = vec![Message { text: "error: render took # ms".to_owned(), count: 2 }];
    Logs { stderr_lines: 12, stderr_errors: 2, top_messages }
}

pub(crate) fn ending(kind: EndingKind, signal: Option<&str>, at_ms: i64) -> Ending {
    Ending {
        kind,
        code: None,
        signal: signal.map(str::to_owned),
        at_ms,
        in_flight: if kind == EndingKind::Stopped { 0 } else { 312 },
        stderr_tail: vec!["drawing 41 boards".to_owned()],
        oom: None,
        stop_took_ms: None,
        note: None,
    }
}

fn seal() -> Seal {
    let samples = SECONDS * (OPENS_A_SECOND + GUESSES_A_SECOND);
    Seal { samples, ..Seal::default() }
}

/// The whole run.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = vec![header_row()];
    for second in 0..SECONDS {
        rows.extend((0..10).map(|tick| Row::Vital(vital(second * 10 + tick))));
        rows.push(Row::Interval(interval(second)));
        rows.push(Row::Calls(calls(second)));
        rows.push(Row::Deliveries(deliveries(second)));
    }
    rows.push(Row::Probed(Probed::default()));
    rows.push(Row::Logs(logs()));
    rows.push(Row::Ending(ending(EndingKind::Stopped, Some("SIGTERM"), 14_000)));
    rows.push(Row::Seal(seal()));
    rows
}

pub(crate) fn one_row_of_each_kind() -> Vec<Row> {
    vec![
        header_row(),
        Row::Interval(interval(0)),
        Row::Exemplar(sample(1, Duration::from_millis(700), Outcome::Status(503))),
        Row::Vital(vital(1)),
        Row::Stack(Stack { at_us: 1, pid: 7, frames: vec!["draw (board.js:12)".to_owned()] }),
        Row::Stall(Stall { from_us: 1, len_us: 60_000, ..Stall::default() }),
        Row::Probed(Probed {
            longest_delay_us: Some(45_000),
            longest_accept_us: Some(1_300),
            pss_bytes: None,
            unseen: false,
        }),
        Row::Calls(calls(1)),
        Row::Deliveries(deliveries(1)),
        note("the first of many"),
        Row::Logs(logs()),
        Row::Ending(ending(EndingKind::Signal, Some("SIGSEGV"), -5)),
        Row::Seal(seal()),
    ]
}

pub(crate) fn summarised(rows: Vec<Row>) -> (Summary, Timeline) {
    summarise(rows.into_iter().map(Ok)).unwrap()
}

pub(crate) fn summary() -> Summary {
    summarised(rows()).0
}
