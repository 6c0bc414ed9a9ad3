//! Waits that the server keeps to itself: short ones absorbed, and calls that its gateway sheds or paces.

use std::time::Duration;

use floodrig_stub::{Family, Limits, Rule, Scope, Sighting, Stub};
use serde_json::{Value, json};

use crate::client::{Client, quick, stub};

fn absorbing() -> Limits {
    Limits { absorb_short_waits: true, ..quick() }
}

fn text(chat: i64, text: &str) -> Value {
    json!({ "chat_id": chat, "text": text })
}

/// Every call on a connection of its own, so that none waits for the answer to another.
fn at_once(stub: &Stub, calls: &[Value]) -> Vec<Client> {
    let call = |body: &Value| {
        let mut client = Client::of(stub);
        client.begin("sendMessage", "application/json", body.to_string().as_bytes());
        client
    };
    calls.iter().map(call).collect()
}

#[test]
fn a_short_wait_is_a_slow_answer() {
    let stub = stub(absorbing());
    let (sender, sightings) = std::sync::mpsc::sync_channel(10);
    stub.watch(sender);
    let mut client = Client::of(&stub);
    for _ in 0..4 {
        client.result("sendMessage", &text(7, "a"));
    }
    let sightings: Vec<Sighting> = sightings.try_iter().collect();
    assert!(sightings[3].at >= sightings[0].at + Duration::from_secs(1), "{sightings:?}");
    let counts = stub.take_interval();
    let sends = counts.by_method["sendMessage"];
    assert_eq!((sends.calls, sends.throttled, counts.calls_while_throttled), (4, 0, 0));
}

#[test]
fn a_burst_into_one_chat_is_slow_for_eight_seconds_and_then_fails_together() {
    let stub = stub(absorbing());
    let mut clients = at_once(&stub, &vec![text(7, "a"); 20]);
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.read().status).collect();
    let accepted = statuses.iter().filter(|status| **status == 200).count();
    // Three at once and one a second for eight; more only if this machine stood still meanwhile.
    assert!((11..20).contains(&accepted), "{statuses:?}");
    let counts = stub.take_interval();
    assert_eq!(counts.throttled_by["chat"], 1, "one was told by the ceiling");
    assert_eq!(counts.throttled_by["the calls before it"] as usize, 19 - accepted, "and the rest by it");
}

#[test]
fn a_long_wait_is_told_at_once() {
    let stub = stub(absorbing());
    let mut client = Client::of(&stub);
    client.burst("sendMessage", &vec![text(-5, "a"); 20]);
    let refused = client.call("sendMessage", &text(-5, "a")).json();
    assert!(refused["parameters"]["retry_after"].as_u64().unwrap() > 50, "{refused}");
}

#[test]
fn a_call_that_waits_is_made_though_its_caller_hangs_up() {
    let stub = stub(absorbing());
    let (sender, sightings) = std::sync::mpsc::sync_channel(10);
    stub.watch(sender);
    let mut client = Client::of(&stub);
    client.burst("sendMessage", &vec![text(7, "a"); 3]);
    drop(at_once(&stub, &[text(7, "impatient")]));
    let patience = Duration::from_secs(30);
    let shown: Vec<String> = (0..4).map(|_| sightings.recv_timeout(patience).unwrap().text).collect();
    assert_eq!(shown[3], "impatient");
}

#[test]
fn a_stub_that_stops_tells_those_who_wait_nothing_and_ends() {
    let stub = stub(absorbing());
    let _waiting = at_once(&stub, &vec![text(7, "a"); 20]);
    stub.stop();
}

#[test]
fn a_rule_of_the_scenario_is_held() {
    let rule = Rule {
        id: "actions".into(),
        scope: Scope::Bot,
        families: vec![Family::ChatActions],
        limit: 1,
        window: Duration::from_secs(30),
        burst: 0,
        paid_limit: 0,
        evidence: "",
    };
    let stub = stub(Limits { rules: vec![rule], ..absorbing() });
    let mut client = Client::of(&stub);
    let action = json!({ "chat_id": 7, "action": "typing" });
    assert_eq!(client.result("sendChatAction", &action), true);
    assert_eq!(client.call("sendChatAction", &action).status, 429, "30 s is longer than 2 s");
}
