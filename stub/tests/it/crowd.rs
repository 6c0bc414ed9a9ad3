//! A crowd played from outside: what users did and what their bot called, in the order in which it happened.

use floodrig_stub::{BotCall, Crowd, Done, Gesture, Heard, Order};
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, quick, stub};

const GROUP: i64 = -1_001_100_000_001;

fn order(crowd: &Crowd, ticket: u32, chat: i64, gesture: Gesture) {
    crowd.orders.try_send(Order { ticket, chat, user: 77, gesture }).unwrap();
}

fn says(text: &str) -> Gesture {
    Gesture::Says(text.to_owned())
}

fn taps(label: &str) -> Gesture {
    Gesture::Taps(label.to_owned())
}

/// What is heard next, but for what the bot was handed.
fn heard(crowd: &mut Crowd) -> Option<Heard> {
    loop {
        match crowd.heard.blocking_recv() {
            Some(Heard::Taken { .. }) => {}
            other => return other,
        }
    }
}

fn done(crowd: &mut Crowd) -> Done {
    match heard(crowd) {
        Some(Heard::Done(done)) => done,
        other => panic!("not done: {other:?}"),
    }
}

fn called(crowd: &mut Crowd) -> BotCall {
    match heard(crowd) {
        Some(Heard::Called(call)) => call,
        other => panic!("no call: {other:?}"),
    }
}

fn keyboard() -> Value {
    json!({ "inline_keyboard": [[{ "text": "Play", "callback_data": "p1" }, { "text": "Site", "url": "https://a.b" }]] })
}

#[test]
fn a_user_writes_and_the_bots_reply_is_told_with_what_it_replies_to() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    order(&crowd, 5, GROUP, says("/start"));
    let wrote = done(&mut crowd);
    assert_eq!((wrote.ticket, wrote.callback_query_id, wrote.update_id.is_some()), (5, None, true));
    let update = bot.result("getUpdates", &json!({}))[0]["message"].clone();
    assert_eq!((&update["text"], &update["message_id"]), (&json!("/start"), &json!(wrote.message_id)));
    let reply = json!({ "chat_id": GROUP, "text": "hi", "reply_parameters": { "message_id": wrote.message_id } });
    bot.result("sendMessage", &reply);
    let call = called(&mut crowd);
    assert_eq!((call.chat, call.reply_to, call.edits), (Some(GROUP), Some(wrote.message_id), None));
    assert!(wrote.at <= call.begun && call.begun <= call.at, "{wrote:?} {call:?}");
}

#[test]
fn what_a_bot_is_handed_is_told_once_and_before_any_call_of_its_own() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    for ticket in [1, 2] {
        order(&crowd, ticket, 77, says("/start"));
    }
    let updates = [done(&mut crowd), done(&mut crowd)].map(|done| done.update_id.unwrap());
    // The offset confirms nothing, and the second poll is handed the first update again.
    bot.result("getUpdates", &json!({ "limit": 1 }));
    bot.result("getUpdates", &json!({ "limit": 2, "offset": updates[0] }));
    bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a" }));
    let mut before = std::time::Duration::ZERO;
    for update in updates {
        let Some(Heard::Taken { update_id, at }) = crowd.heard.blocking_recv() else {
            panic!("{update} was handed over")
        };
        assert!(update_id == update && before <= at, "{update_id}");
        before = at;
    }
    let Some(Heard::Called(call)) = crowd.heard.blocking_recv() else { panic!("the bot called") };
    assert!(before <= call.begun, "{before:?} {call:?}");
}

#[test]
fn a_tap_finds_its_button_by_label_or_data_on_the_last_keyboard_of_the_chat() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    let sent = bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a", "reply_markup": keyboard() }));
    bot.result("sendMessage", &json!({ "chat_id": 77, "text": "no keyboard" }));
    bot.result("sendMessage", &json!({ "chat_id": 78, "text": "elsewhere", "reply_markup": keyboard() }));
    for chat in [77, 77, 78] {
        assert_eq!(called(&mut crowd).chat, Some(chat));
    }
    for label in ["Play", "p1"] {
        order(&crowd, 1, 77, taps(label));
        let tapped = done(&mut crowd);
        assert_eq!(json!(tapped.message_id), sent["message_id"], "{label}");
        let id = tapped.callback_query_id.unwrap();
        bot.result("answerCallbackQuery", &json!({ "callback_query_id": id.to_string() }));
        assert_eq!(called(&mut crowd).callback_query_id, Some(id));
    }
}

#[test]
fn a_button_of_a_reply_keyboard_writes_its_label() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    let keys = json!({ "keyboard": [["Play", { "text": "Stop" }]] });
    bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a", "reply_markup": keys }));
    called(&mut crowd);
    for label in ["Play", "Stop"] {
        order(&crowd, 1, 77, taps(label));
        assert_eq!(done(&mut crowd).callback_query_id, None);
    }
    let updates = bot.result("getUpdates", &json!({}));
    let texts = [0, 1].map(|nth: usize| updates[nth]["message"]["text"].clone());
    assert_eq!(texts, ["Play", "Stop"]);
}

#[test]
fn a_button_that_is_not_there_is_told_and_no_update_comes_of_it() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    order(&crowd, 1, 77, taps("Play"));
    assert!(matches!(crowd.heard.blocking_recv(), Some(Heard::NoButton { ticket: 1, .. })));
    bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a", "reply_markup": keyboard() }));
    called(&mut crowd);
    for label in ["Stop", "Site"] {
        order(&crowd, 2, 77, taps(label));
        assert!(matches!(crowd.heard.blocking_recv(), Some(Heard::NoButton { ticket: 2, .. })), "{label}");
    }
    assert_eq!(bot.result("getUpdates", &json!({})), json!([]));
}

#[test]
fn only_accepted_calls_that_users_see_are_told() {
    let stub = stub(quick());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    bot.result("getMe", &json!({}));
    bot.result("sendChatAction", &json!({ "chat_id": 77, "action": "typing" }));
    assert_eq!(bot.call("sendMessage", &json!({ "chat_id": 77 })).status, 400);
    let sent = bot.result("sendMessage", &json!({ "chat_id": 77, "text": "1" }));
    called(&mut crowd);
    bot.result("editMessageText", &json!({ "chat_id": 77, "message_id": sent["message_id"], "text": "2" }));
    assert_eq!(called(&mut crowd).edits, sent["message_id"].as_i64());
    bot.result("deleteMessage", &json!({ "chat_id": 77, "message_id": sent["message_id"] }));
    let burst: Vec<u16> =
        (0..3).map(|_| bot.call("sendMessage", &json!({ "chat_id": 77, "text": "3" })).status).collect();
    assert_eq!(burst, [200, 429, 429], "two of the burst of three are gone");
    called(&mut crowd);
    drop(stub);
    assert_eq!(crowd.heard.blocking_recv(), None);
}

#[test]
fn what_finds_no_room_is_counted_and_holds_nobody_up() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 1, 1).unwrap(), Client::of(&stub));
    for _ in 0..5 {
        bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a" }));
    }
    assert_eq!(crowd.dropped.load(std::sync::atomic::Ordering::Relaxed), 4);
    called(&mut crowd);
}

#[test]
fn a_bot_that_does_not_take_taps_gets_none_and_it_is_said() {
    let stub = stub(free());
    let (mut crowd, mut bot) = (stub.crowd(TOKEN, 9, 9).unwrap(), Client::of(&stub));
    bot.result("getUpdates", &json!({ "allowed_updates": ["message"] }));
    bot.result("sendMessage", &json!({ "chat_id": 77, "text": "a", "reply_markup": keyboard() }));
    called(&mut crowd);
    order(&crowd, 1, 77, taps("Play"));
    assert!(done(&mut crowd).update_id.is_none());
}

#[test]
fn a_bot_has_come_for_its_updates_once_it_polls() {
    let stub = stub(free());
    assert_eq!((stub.attendance().calls, stub.attendance().asked_for_updates), (0, false));
    let mut bot = Client::of(&stub);
    bot.result("getMe", &json!({}));
    assert_eq!((stub.attendance().calls, stub.attendance().asked_for_updates), (1, false));
    bot.result("getUpdates", &json!({}));
    assert!(stub.attendance().asked_for_updates);
}
