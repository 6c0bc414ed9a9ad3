//! getUpdates: parked, woken, confirmed, replaced.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};

fn ids(updates: &Value) -> Vec<i64> {
    updates.as_array().unwrap().iter().map(|update| update["update_id"].as_i64().unwrap()).collect()
}

#[test]
fn a_parked_poll_is_woken_by_an_update() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    std::thread::scope(|scope| {
        let poll = scope.spawn(|| client.result("getUpdates", &json!({ "timeout": 50 })));
        let id = stub.write(TOKEN, -5, 77, "hello").unwrap();
        let updates = poll.join().unwrap();
        assert_eq!(ids(&updates), [id]);
        assert_eq!(updates[0]["message"]["text"], "hello");
        assert_eq!(updates[0]["message"]["from"]["id"], 77);
    });
}

#[test]
fn an_offset_confirms_what_lies_below_it() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let first = stub.write(TOKEN, 5, 5, "a").unwrap();
    stub.write(TOKEN, 5, 5, "b").unwrap();
    stub.write(TOKEN, 5, 5, "c").unwrap();
    assert!((2_000_001..=1_000_000_000).contains(&first));
    assert_eq!(ids(&client.result("getUpdates", &json!({}))), [first, first + 1, first + 2]);
    assert_eq!(ids(&client.result("getUpdates", &json!({ "offset": first + 1, "limit": 1 }))), [first + 1]);
    assert_eq!(ids(&client.result("getUpdates", &json!({ "offset": -1 }))), [first + 2]);
    assert_eq!(client.result("getWebhookInfo", &json!({}))["pending_update_count"], 1);
}

#[test]
fn the_older_of_two_polls_is_told_that_it_was_replaced() {
    let stub = stub(free());
    std::thread::scope(|scope| {
        let older = scope.spawn(|| Client::of(&stub).call("getUpdates", &json!({ "timeout": 50, "offset": 1 })));
        let mut newer = Client::of(&stub);
        // Whichever comes second replaces the first; both end, one of them with the conflict.
        let newer = scope.spawn(move || newer.call("getUpdates", &json!({ "timeout": 50, "offset": 2 })));
        let conflict =
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
        while !(older.is_finished() || newer.is_finished()) {
            std::thread::yield_now();
        }
        stub.write(TOKEN, 5, 5, "a").unwrap();
        let mut answers = [older.join().unwrap(), newer.join().unwrap()];
        answers.sort_by_key(|answer| answer.status);
        assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 409]);
        assert_eq!(answers[1].json()["description"], conflict);
    });
}

#[test]
fn a_limit_is_brought_into_its_range() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let first = stub.write(TOKEN, 5, 5, "0").unwrap();
    for nth in 1..=100 {
        stub.write(TOKEN, 5, 5, &nth.to_string()).unwrap();
    }
    let mut count =
        |offset: i64, limit: i64| ids(&client.result("getUpdates", &json!({ "offset": offset, "limit": limit }))).len();
    assert_eq!((count(0, 1000), count(first, -5)), (100, 1));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long an answer is held back")]
fn a_poll_that_spins_is_made_to_wait_for_three_seconds() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let begun = Instant::now();
    for _ in 0..2 {
        assert_eq!(client.result("getUpdates", &json!({})), json!([]));
    }
    assert!(begun.elapsed() >= Duration::from_secs(3));
}

#[test]
fn kinds_that_the_bot_did_not_ask_for_do_not_come() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    stub.write(TOKEN, 5, 5, "a").unwrap();
    client.result("getUpdates", &json!({ "allowed_updates": ["callback_query"] }));
    assert!(stub.write(TOKEN, 5, 5, "b").is_err());
    let user = json!({ "id": 5, "is_bot": false, "first_name": "A" });
    let query = json!({ "id": "1", "from": user, "chat_instance": "7", "data": "x" });
    let pressed = stub.push_update(TOKEN, "callback_query", &query).unwrap();
    let updates = client.result("getUpdates", &json!({ "offset": pressed }));
    assert_eq!(updates, json!([{ "update_id": pressed, "callback_query": query }]));
}

#[test]
fn what_is_no_token_or_no_kind_of_update_is_not_pushed() {
    let stub = stub(free());
    assert!(stub.push_update("nonsense", "message", &json!({})).unwrap_err().to_string().contains("no bot token"));
    assert!(stub.push_update(TOKEN, "gossip", &json!({})).unwrap_err().to_string().contains("no kind of update"));
}

#[test]
fn a_stop_ends_parked_polls() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(format!("GET /bot{TOKEN}/getUpdates?timeout=50 HTTP/1.1\r\nHost: stub\r\n\r\n"));
    Client::of(&stub).result("getMe", &json!({}));
    stub.stop();
    assert!(client.is_closed());
}
