//! Clients that are slow, silent or gone: nobody waits for them.

use std::io::Write;
use std::net::Shutdown;
use std::time::{Duration, Instant};

use floodrig_stub::Stub;
use serde_json::json;

use crate::client::{Client, TOKEN, free, stub};

/// Of each kind; both ends of each are in this process, whose handles are few.
const MANY: usize = 20;

fn begun(stub: &Stub, request: &str) -> Vec<Client> {
    let begin = |_| {
        let mut client = Client::of(stub);
        client.write(request);
        client
    };
    (0..MANY).map(begin).collect()
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /bot{TOKEN}/sendMessage?chat_id=5 HTTP/1.1\r\nHost: stub\r\n{headers}\r\n{body}")
}

#[test]
fn clients_that_say_nothing_or_half_of_it_keep_nobody_waiting() {
    let stub = stub(free());
    let half_a_form = post("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 900\r\n", "--b\r\nCont");
    let half_a_file =
        format!("{half_a_form}ent-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n12345");
    let half_a_chunk = post("Transfer-Encoding: chunked\r\n", "f\r\ntext=");
    let slow = ["", "POST /bot", "GET /bot1:a/getMe HTTP/1.1\r\nHos", &half_a_file, &half_a_chunk];
    let crowd: Vec<Vec<Client>> = slow.iter().map(|request| begun(&stub, request)).collect();
    let mut client = Client::of(&stub);
    for nth in 0..50 {
        let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": format!("{nth}") }));
        assert_eq!(sent["text"], nth.to_string());
    }
    assert_eq!(stub.take_interval().by_method["sendMessage"].calls, 50);
    drop(crowd);
}

#[test]
fn a_request_that_comes_byte_by_byte_is_answered_while_others_are() {
    let stub = stub(free());
    let (mut slow, mut quick) = (Client::of(&stub), Client::of(&stub));
    for byte in post("Content-Length: 9\r\nContent-Type: application/x-www-form-urlencoded\r\n", "text=slow").bytes() {
        slow.write([byte]);
        quick.result("getMe", &json!({}));
    }
    assert_eq!(slow.read().json()["result"]["text"], "slow");
}

#[test]
fn clients_that_half_close_in_the_middle_are_let_go() {
    let stub = stub(free());
    let half = post("Content-Length: 90\r\nContent-Type: application/json\r\n", "{\"text\":");
    let mut crowd = begun(&stub, &half);
    for client in &mut crowd {
        client.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    }
    for client in &mut crowd {
        assert_eq!(client.read().status, 400);
        assert!(client.is_closed());
    }
    assert_eq!(stub.take_interval().by_method.len(), 0);
}

#[test]
fn who_hangs_up_without_reading_the_answer_leaves_nothing_behind() {
    let stub = stub(free());
    for _ in 0..MANY {
        let mut client = Client::of(&stub);
        client.begin("sendMessage", "application/json", json!({ "chat_id": 5, "text": "a" }).to_string().as_bytes());
        client.stream.get_mut().flush().unwrap();
    }
    Client::of(&stub).result("getMe", &json!({}));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long an answer is held back")]
fn a_conflict_right_after_another_is_held_for_three_seconds() {
    let stub = stub(free());
    let webhook = json!({ "url": "http://127.0.0.1:9/" });
    Client::of(&stub).result("setWebhook", &webhook);
    let (mut first, mut second) = (Client::of(&stub), Client::of(&stub));
    let begun = Instant::now();
    first.begin("getUpdates", "application/json", b"{}");
    assert_eq!(first.read().status, 409);
    second.begin("getUpdates", "application/json", b"{}");
    first.result("getMe", &json!({}));
    second.stream.get_ref().set_nonblocking(true).unwrap();
    let silent = second.stream.get_ref().peek(&mut [0]).is_err();
    // Had this machine stood still for as long as a conflict is held, silence would prove nothing.
    assert!(silent || begun.elapsed() >= Duration::from_secs(3));
    second.stream.get_ref().set_nonblocking(false).unwrap();
    let held = second.read();
    assert!(begun.elapsed() >= Duration::from_secs(3));
    let says =
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
    assert_eq!((held.status, held.json()["description"].as_str()), (409, Some(says)));
}
