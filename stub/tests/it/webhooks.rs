//! Webhooks: delivered with their secret, again when they failed, one after the other in a chat.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};

/// A system that receives updates.
struct Receiver(TcpListener);

struct Delivered {
    stream: BufReader<TcpStream>,
    head: String,
    update: Value,
}

impl Receiver {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn url(&self) -> String {
        format!("http://{}/hook?a=b", self.0.local_addr().unwrap())
    }

    fn accept(&self) -> BufReader<TcpStream> {
        BufReader::new(self.0.accept().unwrap().0)
    }
}

fn receive(mut stream: BufReader<TcpStream>) -> Delivered {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(stream.read_line(&mut head).unwrap() > 0);
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    Delivered { stream, head, update: serde_json::from_slice(&body).unwrap() }
}

impl Delivered {
    fn answer(mut self, status: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        self.stream.get_mut().write_all(answer.as_bytes()).unwrap();
        self.stream
    }
}

#[test]
fn an_update_is_posted_with_the_secret_and_counts_as_pending_until_it_is_answered() {
    let stub = stub(free());
    let receiver = Receiver::new();
    let mut client = Client::of(&stub);
    let set = client.call("setWebhook", &json!({ "url": receiver.url(), "secret_token": "s3cret" }));
    assert_eq!(set.text(), r#"{"ok":true,"result":true,"description":"Webhook was set"}"#);
    let id = stub.write(TOKEN, 5, 5, "hello").unwrap();
    let delivered = receive(receiver.accept());
    assert!(delivered.head.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{}", delivered.head);
    assert!(delivered.head.contains("X-Telegram-Bot-Api-Secret-Token: s3cret\r\n"), "{}", delivered.head);
    assert_eq!((&delivered.update["update_id"], &delivered.update["message"]["text"]), (&json!(id), &json!("hello")));
    assert_eq!(client.result("getWebhookInfo", &json!({}))["pending_update_count"], 1);
    delivered.answer("200 OK", "", "");
    while client.result("getWebhookInfo", &json!({}))["pending_update_count"] != 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_failed_update_is_posted_again_before_the_next_of_its_chat() {
    let stub = stub(free());
    let receiver = Receiver::new();
    let mut client = Client::of(&stub);
    client.result("setWebhook", &json!({ "url": receiver.url() }));
    let first = stub.write(TOKEN, 5, 5, "first").unwrap();
    stub.write(TOKEN, 5, 5, "second").unwrap();
    let stream = receive(receiver.accept()).answer("500 Internal Server Error", "", "");
    let again = receive(stream);
    assert_eq!(again.update["update_id"], first);
    let info = client.result("getWebhookInfo", &json!({}));
    assert_eq!(info["last_error_message"], "Wrong response from the webhook: 500 Internal Server Error");
    let next = receive(again.answer("200 OK", "", ""));
    assert_eq!(next.update["message"]["text"], "second");
}

#[test]
fn other_chats_do_not_wait_for_a_slow_one() {
    let stub = stub(free());
    let receiver = Receiver::new();
    Client::of(&stub).result("setWebhook", &json!({ "url": receiver.url() }));
    for chat in [5, 5, 6, 7] {
        stub.write(TOKEN, chat, chat, "a").unwrap();
    }
    let mut chats: Vec<_> =
        (0..3).map(|_| receive(receiver.accept()).update["message"]["chat"]["id"].as_i64().unwrap()).collect();
    chats.sort_unstable();
    assert_eq!(chats, [5, 6, 7]);
}

#[test]
fn a_call_in_the_answer_to_a_webhook_is_made() {
    let stub = stub(free());
    let receiver = Receiver::new();
    Client::of(&stub).result("setWebhook", &json!({ "url": receiver.url() }));
    let (sender, sightings) = std::sync::mpsc::sync_channel(1);
    stub.watch(sender);
    stub.write(TOKEN, 5, 5, "hello").unwrap();
    let call = json!({ "method": "sendMessage", "chat_id": 5, "text": "hi" }).to_string();
    receive(receiver.accept()).answer("200 OK", "Content-Type: application/json\r\n", &call);
    assert_eq!(sightings.recv().unwrap().text, "hi");
}

#[test]
fn a_user_in_the_url_becomes_a_header() {
    let stub = stub(free());
    let receiver = Receiver::new();
    let url = receiver.url().replace("http://", "http://ada:s%3Acret@");
    Client::of(&stub).result("setWebhook", &json!({ "url": url }));
    stub.write(TOKEN, 5, 5, "hello").unwrap();
    let head = receive(receiver.accept()).head;
    assert!(head.contains("Authorization: Basic YWRhOnM6Y3JldA==\r\n"), "{head}");
}

#[test]
fn polling_and_a_webhook_exclude_each_other() {
    let stub = stub(free());
    let receiver = Receiver::new();
    let mut client = Client::of(&stub);
    client.result("setWebhook", &json!({ "url": receiver.url() }));
    assert_eq!(
        client.refusal("getUpdates", &json!({})),
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
    );
    assert!(client.call("deleteWebhook", &json!({})).text().contains("Webhook was deleted"));
    assert!(client.call("deleteWebhook", &json!({})).text().contains("Webhook is already deleted"));
    assert_eq!(client.result("getUpdates", &json!({})), json!([]));
    assert_eq!(client.result("getWebhookInfo", &json!({}))["url"], "");
}

#[test]
fn a_second_webhook_within_a_second_is_refused_for_a_second() {
    let stub = stub(free());
    let receiver = Receiver::new();
    let url = json!({ "url": receiver.url() });
    let mut client = Client::of(&stub);
    let answers = client.burst("setWebhook", &[url.clone(), url]);
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 429]);
    assert!(answers[1].has_header("Retry-After: 1"), "{:?}", answers[1]);
    client.result("deleteWebhook", &json!({}));
}

#[test]
fn a_webhook_stays_on_this_machine() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut refused = |url: &str| client.refusal("setWebhook", &json!({ "url": url }));
    assert_eq!(refused("http://example.org/"), "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
    for elsewhere in ["https://example.org/", "https://127.example.org/", "https://10.0.0.1/", "https://[::2]/"] {
        let says = refused(elsewhere);
        assert!(says.starts_with("Bad Request: bad webhook: this stub keeps all traffic on this machine"), "{says}");
    }
    assert!(refused("http://127.example.org/").contains("An HTTPS URL must be provided"));
    assert_eq!(refused("nonsense"), "Bad Request: invalid webhook URL specified");
}
