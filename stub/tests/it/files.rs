//! Files: sent, sent again by id, downloaded byte for byte.

use serde_json::json;

use crate::client::{Client, Response, TOKEN, free, stub};
use crate::pictures::png;

fn form(fields: &[(&str, &str)], file: (&str, &[u8])) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").into_bytes());
    }
    let (field, bytes) = file;
    let head = format!(
        "--b\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"board.png\"\r\nContent-Type: image/png\r\n\r\n"
    );
    body.extend(head.into_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--b--\r\n");
    body
}

pub(crate) fn send(client: &mut Client, method: &str, fields: &[(&str, &str)], file: (&str, &[u8])) -> Response {
    client.post(method, "multipart/form-data; boundary=b", form(fields, file))
}

fn download(client: &mut Client, path: &str) -> Vec<u8> {
    client.write(format!("GET /file/bot{TOKEN}/{path} HTTP/1.1\r\nHost: stub\r\n\r\n"));
    client.read().body
}

#[test]
fn a_file_comes_back_byte_for_byte_and_by_id_it_is_sent_again() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let sent = send(&mut client, "sendDocument", &[("chat_id", "5")], ("document", &bytes)).json();
    let id = &sent["result"]["document"]["file_id"];
    let found = client.result("getFile", &json!({ "file_id": id }));
    assert_eq!(found["file_size"], 3_000_000);
    assert!(download(&mut client, found["file_path"].as_str().unwrap()) == bytes);
    let again = client.result("sendDocument", &json!({ "chat_id": 6, "document": id }));
    assert_eq!((&again["document"]["file_id"], &again["document"]["file_name"]), (id, &json!("board.png")));
    assert_eq!(stub.take_interval().uploads, 1);
}

#[test]
fn a_photo_edited_to_the_same_bytes_is_not_modified() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent =
        send(&mut client, "sendPhoto", &[("chat_id", "-5"), ("caption", "v1")], ("photo", &png(640, 480))).json();
    let id = sent["result"]["message_id"].to_string();
    assert!(sent["result"]["photo"][0]["file_id"].is_string());
    let mut edit = |caption: &str, bytes: &[u8]| {
        let media = json!({ "type": "photo", "media": "attach://f", "caption": caption }).to_string();
        let fields = [("chat_id", "-5"), ("message_id", id.as_str()), ("media", media.as_str())];
        send(&mut client, "editMessageMedia", &fields, ("f", bytes))
    };
    assert!(edit("v1", &png(640, 480)).text().contains("message is not modified"));
    assert_eq!(edit("v2", &png(640, 480)).json()["result"]["caption"], "v2");
    assert_eq!(edit("v2", &png(640, 481)).status, 200);
}

#[test]
fn every_user_has_one_photo_in_three_sizes() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let photos = client.result("getUserProfilePhotos", &json!({ "user_id": 77 }));
    assert_eq!((&photos["total_count"], photos["photos"][0].as_array().unwrap().len()), (&json!(1), 3));
    let large = &photos["photos"][0][2];
    let found = client.result("getFile", &json!({ "file_id": large["file_id"] }));
    let bytes = download(&mut client, found["file_path"].as_str().unwrap());
    assert_eq!((large["file_size"].as_u64(), &bytes[..2]), (Some(bytes.len() as u64), &[0xFF, 0xD8][..]));
    let past = client.result("getUserProfilePhotos", &json!({ "user_id": 77, "offset": 1 }));
    assert_eq!(past["photos"], json!([]));
}

#[test]
fn files_that_are_not_there_are_refused_in_telegrams_words() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    assert_eq!(client.refusal("sendPhoto", &json!({ "chat_id": 5 })), "Bad Request: there is no photo in the request");
    assert_eq!(
        client.refusal("sendVideoNote", &json!({ "chat_id": 5 })),
        "Bad Request: there is no video note in the request"
    );
    let unknown = json!({ "chat_id": 5, "photo": "AgACxyz", "file_id": "AgACxyz" });
    assert_eq!(client.refusal("sendPhoto", &unknown), "Bad Request: wrong file identifier/HTTP URL specified");
    assert_eq!(client.refusal("getFile", &unknown), "Bad Request: invalid file_id");
    assert_eq!(client.refusal("getFile", &json!({})), "Bad Request: file_id not specified");
    let empty = send(&mut client, "sendPhoto", &[("chat_id", "5")], ("photo", b"")).json();
    assert_eq!(empty["description"], "Bad Request: file must be non-empty");
}

#[test]
fn a_photo_comes_in_every_size_below_its_own_and_each_may_be_sent_and_downloaded() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent = send(&mut client, "sendPhoto", &[("chat_id", "5")], ("photo", &png(1000, 500))).json();
    let sizes = sent["result"]["photo"].as_array().unwrap();
    let sides: Vec<_> = sizes.iter().map(|size| (size["width"].as_u64(), size["height"].as_u64())).collect();
    assert_eq!(sides, [(90, 45), (320, 160), (800, 400), (1000, 500)].map(|(w, h)| (Some(w), Some(h))));
    let again = client.result("sendPhoto", &json!({ "chat_id": 6, "photo": sizes[1]["file_id"] }));
    assert_eq!(again["photo"].as_array().unwrap().last().unwrap(), &sizes[1]);
    for size in sizes {
        let found = client.result("getFile", &json!({ "file_id": size["file_id"] }));
        assert_eq!(found["file_unique_id"], size["file_unique_id"]);
        let bytes = download(&mut client, found["file_path"].as_str().unwrap());
        assert_eq!(Some(bytes.len() as u64), size["file_size"].as_u64());
    }
    let small = send(&mut client, "sendPhoto", &[("chat_id", "5")], ("photo", &png(90, 60))).json();
    assert_eq!(small["result"]["photo"].as_array().map(Vec::len), Some(1));
}
