//! Mini Apps: the address that a user opens one at, checked as an app would check it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::client::{Client, TOKEN, control, free, stub};

/// As `stub/README.md` has it.
const PUBLIC_KEY: &str = "acd9234dc0b8b5ffed8af856c89d90107428a37341f6f98e95e5a15a76c91796";

type Fields = Vec<(String, String)>;

fn opened(body: &Value) -> (String, Fields) {
    let stub = stub(free());
    let opened = control(&mut Client::of(&stub), "POST", &format!("bot{TOKEN}/open_app"), body);
    let url = opened["result"]["url"].as_str().unwrap_or_else(|| panic!("{opened}"));
    let (address, fragment) = url.split_once('#').unwrap();
    let launch = form_urlencoded::parse(fragment.as_bytes()).into_owned().collect::<Fields>();
    let names: Vec<&str> = launch.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tgWebAppData", "tgWebAppVersion", "tgWebAppPlatform", "tgWebAppThemeParams"]);
    (address.to_owned(), form_urlencoded::parse(launch[0].1.as_bytes()).into_owned().collect())
}

fn names(fields: &Fields) -> Vec<&str> {
    fields.iter().map(|(name, _)| name.as_str()).collect()
}

fn lines(fields: &[(String, String)], without: &[&str]) -> String {
    let kept = fields.iter().filter(|(name, _)| !without.contains(&name.as_str()));
    let mut lines: Vec<String> = kept.map(|(name, value)| format!("{name}={value}")).collect();
    lines.sort();
    lines.join("\n")
}

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(message).finalize().into_bytes().to_vec()
}

#[test]
fn a_link_in_a_group_hands_over_where_it_was_opened_and_both_seals_hold() {
    let app = json!({ "url": "https://app.example/", "user_id": 77, "chat_id": -1_001_234_567_890_i64, "start_param": "g 1" });
    let (address, fields) = opened(&app);
    assert_eq!(address, "https://app.example/?tgWebAppStartParam=g%201");
    let expected = ["user", "chat_instance", "chat_type", "start_param", "auth_date", "signature", "hash"];
    assert_eq!(names(&fields), expected);
    assert_eq!((&*fields[2].1, &*fields[3].1), ("supergroup", "g 1"));
    assert_eq!(serde_json::from_str::<Value>(&fields[0].1).unwrap()["id"], 77);
    let hash = mac(&mac(b"WebAppData", TOKEN), &lines(&fields, &["hash"]));
    assert_eq!(fields[6].1, hex::encode(hash));
    let signed = format!("123456:WebAppData\n{}", lines(&fields, &["hash", "signature"]));
    let key = VerifyingKey::from_bytes(&hex::decode(PUBLIC_KEY).unwrap().try_into().unwrap()).unwrap();
    let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(&fields[5].1).unwrap()).unwrap();
    key.verify(signed.as_bytes(), &signature).unwrap();
    assert!(include_str!("../../README.md").contains(PUBLIC_KEY));
}

#[test]
fn a_button_in_a_private_chat_hands_over_a_query_to_answer() {
    let (address, fields) =
        opened(&json!({ "url": "https://app.example/?a=b", "user_id": 77, "auth_date": 1_790_000_000 }));
    assert_eq!(address, "https://app.example/?a=b");
    assert_eq!(names(&fields), ["query_id", "user", "auth_date", "signature", "hash"]);
    assert_eq!(fields[2].1, "1790000000");
}

#[test]
fn what_is_no_opening_is_refused() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let refused = control(&mut client, "POST", &format!("bot{TOKEN}/open_app"), &json!({ "user_id": 77 }));
    assert!(refused["description"].as_str().unwrap().contains("url"), "{refused}");
}
