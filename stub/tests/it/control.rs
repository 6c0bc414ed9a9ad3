//! The control room: users who act, bots that are read, faults on order.

use std::sync::mpsc::{RecvError, sync_channel};
use std::time::Duration;

use floodrig_stub::{CallRecord, Fault, Limits, UserAction};
use serde_json::json;

use crate::client::{Client, TOKEN, control, free, stub};

#[test]
fn a_user_writes_and_reads_what_the_bot_sent() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let said = json!({ "chat_id": -5, "user_id": 77, "text": "/start" });
    let update = control(&mut client, "POST", &format!("bot{TOKEN}/message"), &said)["result"]["update_id"].clone();
    let updates = client.result("getUpdates", &json!({}));
    assert_eq!(
        (&updates[0]["update_id"], &updates[0]["message"]["entities"][0]["type"]),
        (&update, &json!("bot_command"))
    );
    client.result("sendMessage", &json!({ "chat_id": -5, "text": "welcome" }));
    let sent = control(&mut client, "GET", &format!("bot{TOKEN}/sent?since=0"), &json!(null))["result"].clone();
    assert_eq!((&sent["messages"][0]["text"], &sent["cursor"]), (&json!("welcome"), &json!(1)));
    let nothing = control(&mut client, "GET", &format!("bot{TOKEN}/sent?since=1"), &json!(null));
    assert_eq!(nothing["result"], json!({ "cursor": 1, "messages": [] }));
}

#[test]
fn a_read_waits_for_what_is_sent_next() {
    let stub = stub(free());
    let (mut reader, mut bot) = (Client::of(&stub), Client::of(&stub));
    std::thread::scope(|scope| {
        let path = format!("bot{TOKEN}/sent?since=0&timeout=50");
        let read = scope.spawn(move || control(&mut reader, "GET", &path, &json!(null)));
        bot.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }));
        assert_eq!(read.join().unwrap()["result"]["messages"][0]["text"], "a");
    });
}

#[test]
fn a_button_is_pressed_by_its_label_and_the_answer_is_kept() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let keyboard = json!({ "inline_keyboard": [[{ "text": "Play", "callback_data": "p1" }]] });
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a", "reply_markup": keyboard }));
    let mut press = |label: &str| {
        let pressed = json!({ "chat_id": 5, "user_id": 5, "message_id": sent["message_id"], "label": label });
        control(&mut client, "POST", &format!("bot{TOKEN}/callback"), &pressed)
    };
    assert_eq!((&press("Stop")["ok"], &press("Play")["ok"]), (&json!(false), &json!(true)));
    let query = client.result("getUpdates", &json!({}))[0]["callback_query"].clone();
    assert_eq!((&query["data"], &query["message"]["text"]), (&json!("p1"), &json!("a")));
    client.result("answerCallbackQuery", &json!({ "callback_query_id": query["id"], "text": "go" }));
    let path = format!("bot{TOKEN}/answers/{}", query["id"].as_str().unwrap());
    assert_eq!(control(&mut client, "GET", &path, &json!(null))["result"]["text"], "go");
}

#[test]
fn users_join_leave_ask_and_pay() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let pay = UserAction::Payment {
        chat_id: 5,
        user_id: 5,
        currency: "XTR".to_owned(),
        total_amount: 9,
        payload: "p".to_owned(),
    };
    stub.act(TOKEN, &UserAction::Join { chat_id: -5, user_id: 77 }).unwrap();
    stub.act(TOKEN, &UserAction::Leave { chat_id: -5, user_id: 77 }).unwrap();
    stub.act(TOKEN, &UserAction::Inline { user_id: 77, query: "cats".to_owned() }).unwrap();
    stub.act(TOKEN, &pay).unwrap();
    let updates = client.result("getUpdates", &json!({}));
    assert_eq!(updates[0]["message"]["new_chat_members"][0]["id"], 77);
    assert_eq!(updates[1]["message"]["left_chat_member"]["id"], 77);
    assert_eq!(updates[2]["inline_query"]["query"], "cats");
    let query = &updates[3]["pre_checkout_query"]["id"];
    client.result("answerPreCheckoutQuery", &json!({ "pre_checkout_query_id": query, "ok": true }));
    let paid = client.result("getUpdates", &json!({ "offset": -1 }))[0]["message"]["successful_payment"].clone();
    let charge = &paid["telegram_payment_charge_id"];
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 9);
    let refund = json!({ "user_id": 5, "telegram_payment_charge_id": charge });
    client.result("refundStarPayment", &refund);
    assert_eq!(client.refusal("refundStarPayment", &refund), "Bad Request: CHARGE_ALREADY_REFUNDED");
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 0);
    assert_eq!(client.result("getStarTransactions", &json!({}))["transactions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_fault_is_answered_as_ordered_and_as_often() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let fault = json!({ "method": "sendmessage", "chat": 5, "code": 429, "retry_after": 7, "times": 1 });
    assert_eq!(control(&mut client, "POST", "faults", &fault)["ok"], true);
    let send = |chat: i64| json!({ "chat_id": chat, "text": "a" });
    client.result("sendMessage", &send(6));
    let struck = client.call("sendMessage", &send(5));
    assert_eq!((struck.status, &struck.json()["parameters"]["retry_after"]), (429, &json!(7)));
    assert!(struck.has_header("Retry-After: 7"));
    client.result("sendMessage", &send(5));
    let counts = control(&mut client, "GET", "counts", &json!(null));
    assert_eq!(counts["result"]["by_method"]["sendMessage"], json!({ "calls": 3, "throttled": 1, "errors": 0 }));
}

#[test]
fn an_outage_lasts_until_it_is_cleared() {
    let stub = stub(free());
    stub.order(Fault { code: Some(502), ..Fault::default() }).unwrap();
    let mut client = Client::of(&stub);
    for _ in 0..3 {
        assert_eq!(client.call("getMe", &json!({})).status, 502);
    }
    stub.clear_faults();
    client.result("getMe", &json!({}));
}

#[test]
fn a_reset_ends_the_connection_without_an_answer() {
    let stub = stub(free());
    stub.order(Fault { reset: true, times: Some(1), ..Fault::default() }).unwrap();
    let mut client = Client::of(&stub);
    client.write(format!("GET /bot{TOKEN}/getMe HTTP/1.1\r\nHost: stub\r\n\r\n"));
    assert!(client.is_closed());
    Client::of(&stub).result("getMe", &json!({}));
}

#[test]
fn a_late_answer_comes_and_one_that_hangs_does_not() {
    let stub = stub(free());
    stub.order(Fault { delay: Some(Duration::from_millis(1)), times: Some(1), ..Fault::default() }).unwrap();
    let mut client = Client::of(&stub);
    client.result("getMe", &json!({}));
    stub.order(Fault { hang: true, times: Some(1), ..Fault::default() }).unwrap();
    client.write(format!("GET /bot{TOKEN}/getMe HTTP/1.1\r\nHost: stub\r\n\r\n"));
    Client::of(&stub).result("getMe", &json!({}));
    stub.stop();
    assert!(client.is_closed(), "until the stub ends");
}

#[test]
fn every_call_is_recorded_without_its_token_or_its_text() {
    let stub = stub(Limits { group_sends_per_minute: 1, ..free() });
    let (sender, records) = sync_channel(10);
    assert!(stub.record(sender.clone()) && !stub.record(sender), "the first one stays");
    let mut client = Client::of(&stub);
    let answer = client.call("SENDMESSAGE", &json!({ "chat_id": -5, "text": "a" }));
    client.call("sendMessage", &json!({ "chat_id": -5, "text": "a" }));
    client.call(&"nonsense".repeat(20), &json!({}));
    let [sent, throttled, unknown] = [(); 3].map(|()| records.recv().unwrap());
    let of = |record: &CallRecord| (record.bot, record.method.to_string(), record.chat, record.status);
    assert_eq!(of(&sent), (123_456, "sendMessage".to_owned(), Some(-5), 200));
    assert_eq!((sent.answer_bytes, sent.retry_after), (answer.body.len() as u64, None));
    assert!(sent.begun <= sent.answered);
    assert_eq!((throttled.status, throttled.retry_after), (429, Some(60)));
    assert_eq!(throttled.rule.as_deref(), Some("group"));
    assert_eq!((unknown.status, unknown.method.len()), (404, 64));
    assert_eq!(stub.records_dropped(), 0);
}

#[test]
fn records_that_nobody_takes_are_counted() {
    let stub = stub(free());
    let (sender, records) = sync_channel(1);
    stub.record(sender);
    let mut client = Client::of(&stub);
    for _ in 0..3 {
        client.result("getMe", &json!({}));
    }
    assert_eq!((records.try_iter().count(), stub.records_dropped()), (1, 2));
    stub.stop();
    assert_eq!(records.recv(), Err(RecvError), "the channel ends when the stub does");
}

#[test]
fn metrics_are_text_that_prometheus_reads() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("getMe", &json!({}));
    client.write("GET /_stub/metrics HTTP/1.1\r\nHost: stub\r\n\r\n");
    let text = client.read().text();
    assert!(text.contains("floodrig_stub_calls_total{method=\"getMe\",answer=\"ok\"} 1\n"), "{text}");
}

#[test]
fn a_body_is_read_whatever_type_it_is_said_to_have_and_bad_ones_are_told_why() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut post = |path: &str, body: &str| {
        let length = body.len();
        let kind = "Content-Type: application/x-www-form-urlencoded";
        client.write(format!(
            "POST /_stub/{path} HTTP/1.1\r\nHost: stub\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        let response = client.read();
        (response.status, response.json())
    };
    let said = r#"{"chat_id":5,"user_id":5,"text":"hi"}"#;
    assert_eq!(post(&format!("bot{TOKEN}/message"), said).0, 200);
    for (path, body, says) in [
        (&*format!("bot{TOKEN}/message"), r#"{"chat_id":"#, "the body: EOF"),
        (&format!("bot{TOKEN}/message"), "", "missing field `chat_id`"),
        (&format!("bot{TOKEN}/dance"), "{}", "unknown variant `dance`"),
        ("bot/message", said, "\"bot\" is not `bot` and a token"),
        ("faults", r#"{"code":9999}"#, "the body: 9999 is no status of a refusal"),
    ] {
        let (status, answer) = post(path, body);
        let told = answer["description"].as_str().unwrap();
        assert!(status == 400 && told.starts_with(says), "{path} {body}: {status} {told}");
    }
    let long = format!(r#"{{"code":502,"description":"{}"}}"#, "x".repeat(64 << 10));
    assert_eq!(post("faults", &long).1["description"], "the body: longer than 64 KiB");
    for nth in 0..=1000 {
        let (status, answer) = post("faults", r#"{"method":"close","code":502}"#);
        let full = answer["description"].as_str().is_some_and(|says| says.starts_with("1000 faults are ordered"));
        assert_eq!((status == 400, full), (nth == 1000, nth == 1000), "{nth}: {answer}");
    }
    let (status, answer) = post("nowhere", "");
    assert_eq!((status, answer["ok"].as_bool()), (404, Some(false)));
    client.write(format!("GET /_stub/bot{TOKEN}/sent?since=x HTTP/1.1\r\nHost: stub\r\n\r\n"));
    assert_eq!(client.read().json()["ok"], false);
}

#[test]
fn an_outage_of_a_named_channel_is_listed_until_it_is_taken_back() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let channel = client.result("sendMessage", &json!({ "chat_id": "@puzzles", "text": "a" }))["chat"]["id"].clone();
    let outage = json!({ "chat": channel, "code": 502, "lasts": "10m" });
    assert_eq!(control(&mut client, "POST", "faults", &outage)["ok"], true);
    let listed = control(&mut client, "GET", "faults", &json!(null))["result"].clone();
    assert_eq!((&listed[0]["chat"], &listed[0]["lasts"], &listed[1]), (&channel, &json!("10m"), &json!(null)));
    assert_eq!(client.call("sendMessage", &json!({ "chat_id": "@Puzzles", "text": "a" })).status, 502);
    assert_eq!(client.call("sendMessage", &json!({ "chat_id": "@riddles", "text": "a" })).status, 200);
    control(&mut client, "DELETE", "faults", &json!(null));
    assert_eq!(control(&mut client, "GET", "faults", &json!(null))["result"], json!([]));
    assert_eq!(client.call("sendMessage", &json!({ "chat_id": "@puzzles", "text": "a" })).status, 200);
}

#[test]
fn the_state_of_a_bot_is_read_without_disturbing_it() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let state =
        |client: &mut Client| control(client, "GET", &format!("bot{TOKEN}/state"), &json!(null))["result"].clone();
    let unknown = state(&mut client);
    assert_eq!((&unknown["webhook"], &unknown["pending_updates"]), (&json!(null), &json!(0)));
    stub.write(TOKEN, 5, 5, "hi").unwrap();
    client.result("setWebhook", &json!({ "url": "http://127.0.0.1:1/hook", "allowed_updates": ["message"] }));
    let known = state(&mut client);
    assert_eq!((&known["webhook"], &known["pending_updates"]), (&json!("http://127.0.0.1:1/hook"), &json!(1)));
    assert_eq!((&known["allowed_updates"], &known["polls"]), (&json!(["message"]), &json!(false)));
}

#[test]
fn after_a_reset_nothing_has_happened_and_cursors_and_update_ids_go_on() {
    let stub = stub(Limits { group_sends_per_minute: 1, ..free() });
    let mut client = Client::of(&stub);
    let text = json!({ "chat_id": -5, "text": "a" });
    client.result("sendMessage", &text);
    let first = stub.write(TOKEN, -5, 77, "hi").unwrap();
    stub.order(Fault { method: Some("getMe".to_owned()), code: Some(502), ..Fault::default() }).unwrap();
    assert_eq!(client.call("sendMessage", &text).status, 429);
    assert_eq!(control(&mut client, "POST", "reset", &json!(null))["ok"], true);
    client.result("getMe", &json!({}));
    assert_eq!(client.result("sendMessage", &text)["message_id"], 1, "the group is new, and its ceiling has room");
    assert_eq!(client.result("getUpdates", &json!({})), json!([]));
    assert!(stub.write(TOKEN, -5, 77, "hi").unwrap() > first);
    let sent = control(&mut client, "GET", &format!("bot{TOKEN}/sent?since=1"), &json!(null))["result"].clone();
    assert_eq!((&sent["cursor"], sent["messages"].as_array().map(Vec::len)), (&json!(2), Some(1)));
    let counts = control(&mut client, "GET", "counts", &json!(null))["result"].clone();
    assert_eq!(counts["by_method"]["sendMessage"], json!({ "calls": 1, "throttled": 0, "errors": 0 }));
}

#[test]
fn what_is_not_modelled_is_named_where_calls_are_counted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("getMe", &json!({}));
    client.result("sendGift", &json!({ "user_id": 5, "gift_id": "g" }));
    let counts = control(&mut client, "GET", "counts", &json!(null));
    assert_eq!(counts["result"]["unmodelled"], json!({ "sendGift": 1 }));
}
