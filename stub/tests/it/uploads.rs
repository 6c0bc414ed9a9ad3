//! Uploads: slots, and a rate that the sender feels.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use bytesize::ByteSize;
use floodrig_stub::Limits;
use serde_json::json;

use crate::client::{Client, TOKEN, free, stub};

const HEAD: &str = "--b\r\nContent-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n";
const TAIL: &str = "\r\n--b--\r\n";

fn begin(client: &mut Client, size: usize) {
    let length = HEAD.len() + size + TAIL.len();
    client.write(format!(
        "POST /bot{TOKEN}/sendDocument?chat_id=5&caption=c HTTP/1.1\r\nHost: stub\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n{HEAD}"
    ));
}

#[test]
fn the_senders_writes_block_while_a_slow_upload_is_read() {
    let limits = Limits { upload_bytes_per_second: Some(ByteSize::kib(64)), ..free() };
    let stub = stub(limits);
    let mut client = Client::of(&stub);
    let size = 5 << 20;
    begin(&mut client, size);
    client.stream.get_ref().set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let blocks = vec![0; 1 << 16];
    let stopped = (0..size / blocks.len()).find_map(|_| client.stream.get_mut().write_all(&blocks).err());
    assert_eq!(stopped.map(|error| error.kind()), Some(ErrorKind::WouldBlock), "5 MiB went through at once");
}

#[test]
fn an_upload_takes_its_size_over_the_rate() {
    let stub = stub(Limits { upload_bytes_per_second: Some(ByteSize::mib(1)), ..free() });
    let (sender, sightings) = std::sync::mpsc::sync_channel(1);
    stub.watch(sender);
    let mut client = Client::of(&stub);
    let size = 1 << 20;
    begin(&mut client, size);
    client.write(vec![0; size]);
    client.write(TAIL);
    assert_eq!(client.read().status, 200);
    let sighting = sightings.recv().unwrap();
    assert!(sighting.at >= sighting.begun + Duration::from_secs(1), "{sighting:?}");
    assert!(stub.take_interval().upload_bytes >= size as u64);
}

#[test]
fn the_upload_that_finds_no_slot_is_told_to_come_back() {
    let seconds = Duration::from_secs(30)..=Duration::from_secs(60);
    let stub = stub(Limits { uploads_at_once: 1, upload_retry_after: seconds, ..free() });
    let mut first = Client::of(&stub);
    begin(&mut first, 10);
    first.write("12345");
    let mut second = Client::of(&stub);
    loop {
        begin(&mut second, 5);
        second.write(format!("12345{TAIL}"));
        let response = second.read();
        // Until the stub has read the first one's head, the slot is free.
        if response.status == 429 {
            let told = response.json()["parameters"]["retry_after"].as_u64().unwrap();
            assert!((30..=60).contains(&told), "{told}");
            break;
        }
    }
    first.write(format!("12345{TAIL}"));
    assert_eq!(first.read().status, 200);
    begin(&mut second, 5);
    second.write(format!("12345{TAIL}"));
    assert_eq!(second.read().status, 200, "the slot is free again");
    assert_eq!(stub.take_interval().uploads_at_once, 1);
}

#[test]
fn a_text_needs_no_slot() {
    let stub = stub(Limits { uploads_at_once: 1, ..free() });
    let mut uploading = Client::of(&stub);
    begin(&mut uploading, 10);
    Client::of(&stub).result("sendMessage", &json!({ "chat_id": 5, "text": "a" }));
}

#[test]
fn an_upload_takes_its_latency_and_a_file_by_id_does_not() {
    let takes = Duration::from_millis(300);
    let stub = stub(Limits { upload_time: takes..=takes, ..free() });
    let (sender, sightings) = std::sync::mpsc::sync_channel(2);
    stub.watch(sender);
    let mut client = Client::of(&stub);
    begin(&mut client, 5);
    client.write(format!("12345{TAIL}"));
    let id = client.read().json()["result"]["document"]["file_id"].clone();
    client.result("sendDocument", &json!({ "chat_id": 5, "document": id, "caption": "again" }));
    let seen: Vec<_> = sightings.try_iter().collect();
    assert!(seen[1].begun >= seen[0].at + takes, "the first answer came late: {seen:?}");
    let counts = stub.take_interval();
    assert_eq!((counts.uploads, counts.by_method["sendDocument"].calls), (1, 2));
}

#[test]
fn a_photo_over_ten_mebibytes_is_refused_in_telegrams_words() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let size = (10 << 20) + 1;
    let head = HEAD.replace("document", "photo");
    let length = head.len() + size + TAIL.len();
    client.write(format!(
        "POST /bot{TOKEN}/sendPhoto?chat_id=5 HTTP/1.1\r\nHost: stub\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n{head}"
    ));
    client.write(vec![0; size]);
    client.write(TAIL);
    let says = "Bad Request: file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes";
    assert_eq!(client.read().json()["description"], says);
}

#[test]
fn a_file_over_fifty_mebibytes_is_too_large_in_json() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    begin(&mut client, 53 << 20);
    let refused = client.read();
    assert_eq!(refused.text(), r#"{"ok":false,"error_code":413,"description":"Request Entity Too Large"}"#);
    assert_eq!(refused.status, 413);
    assert!(client.is_closed());
}

#[test]
fn a_file_over_twenty_mebibytes_is_sent_and_cannot_be_fetched() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let size = (20 << 20) + 1;
    begin(&mut client, size);
    client.write(vec![7; size]);
    client.write(TAIL);
    let id = client.read().json()["result"]["document"]["file_id"].clone();
    assert_eq!(client.refusal("getFile", &json!({ "file_id": id })), "Bad Request: file is too big");
}

#[test]
fn two_bots_share_the_rate_in_all() {
    let stub = stub(Limits { upload_bytes_per_second_in_all: Some(ByteSize::mib(1)), ..free() });
    let (sender, sightings) = std::sync::mpsc::sync_channel(2);
    stub.watch(sender);
    let size = 1 << 20;
    let mut clients = ["1:a", "2:a"].map(|token| {
        let mut client = Client::of(&stub);
        let length = HEAD.len() + size + TAIL.len();
        client.write(format!(
            "POST /bot{token}/sendDocument?chat_id=5&caption=c HTTP/1.1\r\nHost: stub\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n{HEAD}"
        ));
        client
    });
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || {
                client.write(vec![0; size]);
                client.write(TAIL);
                assert_eq!(client.read().status, 200);
            });
        }
    });
    let seen: Vec<_> = sightings.try_iter().collect();
    let from = seen.iter().map(|sighting| sighting.begun).min().unwrap();
    let until = seen.iter().map(|sighting| sighting.at).max().unwrap();
    assert!(until >= from + Duration::from_secs(2), "{seen:?}");
}
