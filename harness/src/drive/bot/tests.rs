//! Loads of acts towards a bot, through a real stub whose bot is a few lines of raw HTTP, or nobody.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use floodrig_reports::recording::{ActInterval, Row};
use floodrig_stub::{Limits, Profile, Stub};

use super::super::{Driven, End, Job, Pace, Seat, Target, drive};
use super::*;
use crate::init_data::Signed;
use crate::plan::by_hand::{SECOND, journey, scenario, step};
use crate::plan::{ActSpec, Arrival, Plan, Visit, crowd};
use crate::record::Intervals;
use crate::scenario::{self, Arrive, Does, Piece, Step, Template, ToBot, Where};
use crate::stop::Stop;

const TOKEN: &str = "1:A";
const MILLISECOND: Duration = Duration::from_millis(1);
/// Far beyond what anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// Somebody writes at the start and again, 10 ms later by default: one player twice, or two once each.
struct Load {
    players: u32,
    apart: Duration,
    stub: Stub,
    epoch: Instant,
    timeout: Duration,
    heard: usize,
    stop: Stop,
}

#[expect(clippy::disallowed_methods, reason = "a load needs an epoch")]
fn load(timeout: Duration) -> Load {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let epoch = Instant::now();
    let limits = Limits { answer_time: Duration::ZERO..=Duration::ZERO, ..Profile::Off.limits() };
    let stub = floodrig_stub::start(limits, listener, epoch, 7).unwrap();
    Load { players: 1, apart: 10 * MILLISECOND, stub, epoch, timeout, heard: 99, stop: Stop::default() }
}

fn says() -> Step {
    let text = Template { pieces: vec![Piece::Text("/start".to_owned())] };
    let does = Does::Bot(ToBot { chat: Where::Private, gesture: scenario::Gesture::Says(text) });
    Step { does, ..step("start", 1, Duration::ZERO..=Duration::ZERO) }
}

fn plan(players: u32, apart: Duration) -> Plan {
    let arrival = |at, player| Arrival { at, player, visit: player, act: 0, nth: 0 };
    Plan {
        acts: vec![ActSpec { name: "start".to_owned(), journey: 0, step: 0, fault: None }],
        players: crowd(7, 1, players),
        visits: (0..players).map(|player| Visit { at: Duration::ZERO, player, journey: 0, fault: None }).collect(),
        arrivals: vec![arrival(Duration::ZERO, 0), arrival(apart, players - 1)],
        digest: [0; 32],
    }
}

impl Load {
    fn driven(&self, crowd: Crowd) -> (Driven, ActInterval, Option<u64>) {
        let mut scenario = scenario(vec![journey(Arrive::Burst { over: SECOND }, vec![says()])]);
        scenario.crowd.timeout = self.timeout;
        let (scenario, plan) = (Arc::new(scenario), Arc::new(plan(self.players, self.apart)));
        let (rows, queue) = sync_channel(10_000);
        let load_from = self.epoch.elapsed() + 20 * MILLISECOND;
        let names = vec!["start".to_owned()];
        let driven = drive(Job {
            signed: Arc::new(Signed::start(&scenario, &plan, TOKEN, Duration::ZERO).unwrap()),
            scenario,
            plan,
            pace: Pace::Planned,
            seat: Seat::default(),
            target: Target { address: (Ipv4Addr::LOCALHOST, 1).into(), host: "nobody".to_owned() },
            bot_token: TOKEN.to_owned(),
            epoch: self.epoch,
            load_from,
            stop: self.stop.clone(),
            crowd: Some(crowd),
            expected: None,
            unfit: None,
            sink: Intervals::new(names, load_from, 100 * MILLISECOND, rows, Arc::default()),
        })
        .unwrap();
        let (mut total, mut unmatched) = (ActInterval::default(), None);
        for row in &queue {
            let Row::Interval(interval) = row else { continue };
            interval.acts.values().for_each(|act| total.merge(act));
            unmatched =
                unmatched.map_or(interval.unmatched, |so_far: u64| Some(so_far + interval.unmatched.unwrap_or(0)));
        }
        assert_eq!(driven.samples, 2);
        (driven, total, unmatched)
    }

    fn crowd(&self) -> Crowd {
        self.stub.crowd(TOKEN, 2, self.heard).unwrap()
    }
}

/// A bot that answers each `/start` of its one user after so many messages to others, two times, and ends.
fn bot(stub: &Stub, to_others: usize) -> impl FnOnce() + Send + 'static {
    let address = stub.url().trim_start_matches("http://").to_owned();
    move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut offset = 0;
        for _ in 0..2 {
            let updates = call(&mut stream, &format!("getUpdates?timeout=20&offset={offset}"));
            let update = &updates["result"][0];
            offset = update["update_id"].as_i64().unwrap() + 1;
            let chat = &update["message"]["chat"]["id"];
            for chat in (0..to_others).map(|_| "5").chain([chat.to_string().as_str()]) {
                assert_eq!(call(&mut stream, &format!("sendMessage?chat_id={chat}&text=hi"))["ok"], true);
            }
        }
    }
}

fn call(stream: &mut TcpStream, what: &str) -> serde_json::Value {
    write!(stream, "GET /bot{TOKEN}/{what} HTTP/1.1\r\nHost: stub\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    loop {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "the stub closed");
        answer.extend_from_slice(&bytes[..read]);
        let text = String::from_utf8_lossy(&answer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        if body.len().to_string() == length {
            return serde_json::from_str(body).unwrap();
        }
    }
}

#[test]
fn an_act_ends_at_the_call_that_answers_it_and_the_players_next_waits_for_that() {
    let load = load(LONG);
    let answering = std::thread::spawn(bot(&load.stub, 0));
    let (driven, total, unmatched) = load.driven(load.crowd());
    answering.join().unwrap();
    assert_eq!((driven.end, total.ok, total.requests, unmatched), (End::Complete, 2, 2, Some(0)));
    assert_eq!(driven.open_peak, 0, "no connection of the rig's is open");
}

/// A bot that answers the first of two updates only once the second waits for it, and the second never.
fn late_bot(stub: &Stub) -> impl FnOnce() + Send + 'static {
    let address = stub.url().trim_start_matches("http://").to_owned();
    move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let updates = call(&mut stream, "getUpdates?timeout=20&limit=1");
        let chat = &updates["result"][0]["message"]["chat"]["id"];
        while call(&mut stream, "getWebhookInfo")["result"]["pending_update_count"] != 2 {}
        assert_eq!(call(&mut stream, &format!("sendMessage?chat_id={chat}&text=hi"))["ok"], true);
    }
}

#[test]
fn a_late_answer_to_what_was_given_up_does_not_answer_what_the_bot_has_not_been_handed() {
    // The second is written when the first is given up, and has nearly as long before the load ends.
    let load = Load { apart: 1400 * MILLISECOND, ..load(1500 * MILLISECOND) };
    let answering = std::thread::spawn(late_bot(&load.stub));
    let (_, total, unmatched) = load.driven(load.crowd());
    answering.join().unwrap();
    assert_eq!((total.outcomes.unanswered, total.ok, unmatched), (2, 0, Some(1)));
}

#[test]
fn what_the_bot_says_where_nobody_waits_is_unmatched() {
    let load = load(LONG);
    let answering = std::thread::spawn(bot(&load.stub, 3));
    let (_, total, unmatched) = load.driven(load.crowd());
    answering.join().unwrap();
    assert_eq!((total.ok, unmatched), (2, Some(6)));
}

#[test]
fn without_a_bot_every_act_is_unanswered() {
    let load = Load { players: 2, ..load(500 * MILLISECOND) };
    let (_, total, unmatched) = load.driven(load.crowd());
    assert_eq!((total.outcomes.unanswered, total.ok, unmatched), (2, 0, Some(0)));
}

#[test]
fn an_answer_that_may_have_been_lost_on_the_way_is_the_rigs_own_fault() {
    let load = Load { players: 2, heard: 1, ..load(500 * MILLISECOND) };
    let crowd = load.crowd();
    let mut stream = TcpStream::connect(load.stub.url().trim_start_matches("http://")).unwrap();
    for _ in 0..2 {
        call(&mut stream, "sendMessage?chat_id=5&text=hi");
    }
    let (driven, total, _) = load.driven(crowd);
    assert_eq!((total.outcomes.unanswered, total.outcomes.rig_fault, driven.bot.dropped), (0, 2, 1));
}

#[test]
fn a_load_that_is_stopped_abandons_what_waits() {
    let load = load(LONG);
    load.stop.ask();
    let (driven, total, _) = load.driven(load.crowd());
    assert_eq!((driven.end, total.outcomes.abandoned), (End::Stopped, 2));
}

#[test]
fn a_stub_that_is_gone_is_the_rigs_own_fault() {
    let mut load = load(LONG);
    let crowd = load.crowd();
    load.stub = self::load(LONG).stub;
    let (_, total, _) = load.driven(crowd);
    assert_eq!(total.outcomes.rig_fault, 2);
}
