//! Ceilings through HTTP: who is refused, in which words, and what is counted.

use std::time::Duration;

use floodrig_stub::{AlbumWeight, Family, Limits, Profile, ThrottleScope, UnknownChats};
use serde_json::json;

use crate::client::{Client, TOKEN, quick, stub};

#[test]
fn the_31st_send_in_one_second_is_refused() {
    let stub = stub(quick());
    let mut client = Client::of(&stub);
    let sends: Vec<_> = (1..=31).map(|user| json!({ "chat_id": user, "text": "a" })).collect();
    let statuses: Vec<u16> = client.burst("sendMessage", &sends).iter().map(|response| response.status).collect();
    assert_eq!(statuses[..30], [200; 30]);
    assert_eq!(statuses[30], 429);
}

#[test]
fn the_21st_send_to_one_group_is_told_how_many_seconds_are_left() {
    let stub = stub(quick());
    let mut client = Client::of(&stub);
    for _ in 0..20 {
        client.result("sendMessage", &json!({ "chat_id": -5, "text": "a" }));
    }
    let refused = client.call("sendMessage", &json!({ "chat_id": -5, "text": "a" }));
    let told = refused.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert!((58..=60).contains(&told), "{told}");
    assert_eq!(refused.status, 429);
    assert!(refused.has_header(&format!("Retry-After: {told}")), "{}", refused.head);
    assert_eq!(refused.json()["description"], format!("Too Many Requests: retry after {told}"));
    assert_eq!(refused.json()["error_code"], 429);
    assert!(refused.text().starts_with(r#"{"ok":false,"error_code":429,"description":"#));
}

#[test]
fn edits_draw_on_the_budget_of_sends_and_answers_to_buttons_do_not() {
    let stub = stub(quick());
    let mut client = Client::of(&stub);
    let id = client.result("sendMessage", &json!({ "chat_id": -5, "text": "0" }))["message_id"].clone();
    for nth in 1..20 {
        client.result("editMessageText", &json!({ "chat_id": -5, "message_id": id, "text": nth.to_string() }));
    }
    let edit = json!({ "chat_id": -5, "message_id": id, "text": "20" });
    assert_eq!(client.call("editMessageText", &edit).status, 429);
    let user = json!({ "id": 5, "is_bot": false, "first_name": "A" });
    stub.push_update(TOKEN, "callback_query", &json!({ "id": "1", "from": user, "chat_instance": "7" })).unwrap();
    for _ in 0..50 {
        client.result("answerCallbackQuery", &json!({ "callback_query_id": "1" }));
    }
    assert_eq!(client.result("getMe", &json!({}))["is_bot"], true);
}

#[test]
fn a_429_closes_the_chat_or_the_whole_bot() {
    for (throttle_scope, elsewhere) in [(ThrottleScope::Chat, 200), (ThrottleScope::Bot, 429)] {
        let stub = stub(Limits { throttle_scope, sends_per_second: 0, ..quick() });
        let mut client = Client::of(&stub);
        let answers = client.burst("sendMessage", &vec![json!({ "chat_id": -5, "text": "a" }); 21]);
        assert_eq!(answers[20].status, 429);
        assert_eq!(client.call("sendMessage", &json!({ "chat_id": 7, "text": "a" })).status, elsewhere);
    }
}

#[test]
fn a_429_that_is_ignored_grows_when_it_is_told_to() {
    let hour = Duration::from_hours(1);
    for (penalty_growth, grows) in [(Duration::ZERO, false), (hour, true)] {
        let stub = stub(Limits { penalty_growth, ..quick() });
        let mut client = Client::of(&stub);
        let send = json!({ "chat_id": -5, "text": "a" });
        client.burst("sendMessage", &vec![send.clone(); 21]);
        let waits = client.burst("sendMessage", &vec![send; 2]);
        let [first, second] = [0, 1].map(|nth| waits[nth].json()["parameters"]["retry_after"].as_u64().unwrap());
        assert_eq!(second > first, grows, "{first} and then {second}");
        assert_eq!(stub.take_interval().throttled_by["group"], 3);
    }
}

#[test]
fn a_refused_call_leaves_nothing_behind() {
    let stub = stub(quick());
    let mut client = Client::of(&stub);
    let burst = client.burst("sendMessage", &vec![json!({ "chat_id": 5, "text": "a" }); 10]);
    let accepted = burst.iter().filter(|response| response.status == 200).count();
    assert!((3..10).contains(&accepted), "{accepted}");
    let next = client.result("sendMessage", &json!({ "chat_id": 6, "text": "a" }))["message_id"].clone();
    assert_eq!(next, json!(accepted + 1));
}

#[test]
fn what_was_sent_is_counted_by_method_and_by_window() {
    let stub = stub(quick());
    let mut client = Client::of(&stub);
    client.burst("sendMessage", &vec![json!({ "chat_id": -5, "text": "a" }); 25]);
    client.call("sendMessage", &json!({ "chat_id": -5, "text": "" }));
    let counts = stub.take_interval();
    let sends = counts.by_method["sendMessage"];
    assert_eq!((sends.calls, sends.throttled, sends.errors), (26, 5, 1));
    assert_eq!((counts.worst_minute_group_sends, counts.worst_minute_group_accepted), (25, 20));
    assert_eq!((counts.worst_second_sends, counts.worst_second_accepted), (25, 20));
    assert_eq!(counts.calls_while_throttled, 4, "all that came after the first refusal");
    assert!(counts.first_throttled.is_some());
    let next = stub.take_interval();
    assert!(next.by_method.is_empty());
    assert_eq!((next.calls_while_throttled, next.worst_minute_group_sends), (0, 25));
}

#[test]
fn the_ceilings_are_told_in_words() {
    assert_eq!(stub(quick()).ceilings()[0], "30 sends and edits of one bot in any second (core.telegram.org/bots/faq)");
}

#[test]
fn a_profile_without_ceilings_refuses_nothing() {
    let stub = stub(Limits { answer_time: quick().answer_time, ..Profile::Off.limits() });
    let burst = Client::of(&stub).burst("sendMessage", &vec![json!({ "chat_id": -5, "text": "a" }); 100]);
    assert!(burst.iter().all(|response| response.status == 200));
}

#[test]
fn other_families_count_when_they_are_told_to() {
    let counts = vec![Family::Deletes];
    let stub = stub(Limits { group_sends_per_minute: 1, counts, ..quick() });
    let mut client = Client::of(&stub);
    for _ in 0..3 {
        client.result("sendMessage", &json!({ "chat_id": -5, "text": "a" }));
    }
    client.result("deleteMessage", &json!({ "chat_id": -5, "message_id": 1 }));
    assert_eq!(client.call("deleteMessage", &json!({ "chat_id": -5, "message_id": 2 })).status, 429);
    assert_eq!(stub.take_interval().throttled_by["group"], 1);
}

#[test]
fn a_broadcast_that_is_paid_for_goes_beyond_thirty_a_second() {
    let stub = stub(Limits { paid_sends_per_second: 1000, ..quick() });
    let send = |user| json!({ "chat_id": user, "text": "a", "allow_paid_broadcast": true });
    let sends: Vec<_> = (1..=100).map(send).collect();
    assert!(Client::of(&stub).burst("sendMessage", &sends).iter().all(|response| response.status == 200));
}

#[test]
fn an_album_may_count_as_one_message() {
    let stub = stub(Limits { album: AlbumWeight::One, ..quick() });
    let mut client = Client::of(&stub);
    let media = vec![json!({ "type": "photo", "media": "https://example.org/a.png" }); 10];
    for _ in 0..20 {
        client.result("sendMediaGroup", &json!({ "chat_id": -5, "media": media }));
    }
    assert_eq!(client.call("sendMediaGroup", &json!({ "chat_id": -5, "media": media })).status, 429);
}

#[test]
fn a_chat_that_nobody_wrote_in_may_be_refused() {
    let stub = stub(Limits { unknown_chats: UnknownChats::Refuse, ..quick() });
    let mut client = Client::of(&stub);
    let send = json!({ "chat_id": 5, "text": "a" });
    assert_eq!(client.refusal("sendMessage", &send), "Bad Request: chat not found");
    stub.write(TOKEN, 5, 5, "/start").unwrap();
    client.result("sendMessage", &send);
}

#[test]
fn a_score_of_a_game_counts_like_the_edit_that_it_is() {
    let stub = stub(Limits { group_sends_per_minute: 2, ..quick() });
    let mut client = Client::of(&stub);
    let game = client.result("sendGame", &json!({ "chat_id": -5, "game_short_name": "a" }))["message_id"].clone();
    let score = |score| json!({ "chat_id": -5, "message_id": game, "user_id": 1, "score": score });
    client.result("setGameScore", &score(1));
    assert_eq!(client.call("setGameScore", &score(2)).status, 429);
}
