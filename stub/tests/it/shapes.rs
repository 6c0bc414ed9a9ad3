//! Every answer held against the catalogue: all that its type requires, nothing that it does not have, each of its
//! type. Strict clients fail the whole call for one field.

use floodrig_stub::UserAction;
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};

/// The types of the Bot API, as the stub's own catalogue names them.
struct Shapes(Value);

impl Shapes {
    fn new() -> Self {
        Self(serde_json::from_str(include_str!("../../src/catalogue/bot-api-10.3.json")).unwrap())
    }

    /// What is wrong with `result` as the answer of `method`.
    fn faults(&self, method: &str, result: &Value) -> Vec<String> {
        self.held(self.0["methods"][method]["returns"].as_str().unwrap(), result, method)
    }

    fn held(&self, named: &str, value: &Value, at: &str) -> Vec<String> {
        if let Some(union) = self.0["unions"][named].as_str() {
            return self.held(union, value, at);
        }
        let any = alternatives(named);
        if any.len() > 1 {
            let mut faults = any.into_iter().map(|one| self.held(one, value, at));
            return faults.by_ref().reduce(|best, next| if next.len() < best.len() { next } else { best }).unwrap();
        }
        if let Some(item) = named.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
            let Some(items) = value.as_array() else { return vec![format!("{at}: {value} is no {named}")] };
            return items.iter().flat_map(|value| self.held(item, value, &format!("{at}[]"))).collect();
        }
        if self.0["types"][named].is_object() {
            return self.object(named, value, at);
        }
        let holds = match named {
            "Integer" => value.is_i64(),
            "Float" => value.is_number(),
            "String" => value.is_string(),
            "Boolean" | "True" => value.is_boolean(),
            literal => {
                literal.strip_prefix('=').is_some_and(|json| json.parse::<Value>().is_ok_and(|one| one == *value))
            }
        };
        if holds { Vec::new() } else { vec![format!("{at}: {value} is no {named}")] }
    }

    fn object(&self, named: &str, value: &Value, at: &str) -> Vec<String> {
        let Some(found) = value.as_object() else { return vec![format!("{at}: {value} is no {named}")] };
        let fields = self.0["types"][named].as_object().unwrap();
        let missing = fields.iter().filter(|(name, field)| field["required"] == true && !found.contains_key(*name));
        let missing = missing.map(|(name, _)| format!("{at}.{name} is missing in {named}"));
        let wrong = found.iter().flat_map(|(name, value)| match fields.get(name) {
            Some(field) => self.held(field["type"].as_str().unwrap(), value, &format!("{at}.{name}")),
            None => vec![format!("{at}.{name} is no field of {named}")],
        });
        missing.chain(wrong).collect()
    }
}

/// `A|Array<B|C>` is `A` or `Array<B|C>`.
fn alternatives(named: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0, false);
    let split = move |c: char| {
        match c {
            '"' => quoted = !quoted,
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        c == '|' && depth == 0 && !quoted
    };
    named.split(split).collect()
}

fn calls() -> Vec<(&'static str, Value)> {
    let file = "https://example.org/a";
    let photo = json!({ "type": "photo", "media": file, "caption": "c" });
    let options = json!([{ "text": "a" }, { "text": "b" }]);
    let group = json!({ "chat_id": -1_001_234_567_890_i64, "user_id": 5 });
    vec![
        ("getMe", json!({})),
        ("sendMessage", json!({ "text": "<b>a</b> /start #b", "parse_mode": "HTML" })),
        ("sendPhoto", json!({ "photo": file, "caption": "c" })),
        ("sendDocument", json!({ "document": file })),
        ("sendVideo", json!({ "video": file })),
        ("sendAnimation", json!({ "animation": file })),
        ("sendAudio", json!({ "audio": file })),
        ("sendVoice", json!({ "voice": file })),
        ("sendVideoNote", json!({ "video_note": file })),
        ("sendSticker", json!({ "sticker": file })),
        ("sendLivePhoto", json!({ "live_photo": file, "photo": file })),
        ("sendMediaGroup", json!({ "media": [photo, photo] })),
        ("sendLocation", json!({ "latitude": 1.5, "longitude": 2.5 })),
        ("sendVenue", json!({ "latitude": 1.5, "longitude": 2.5, "title": "t", "address": "a" })),
        ("sendContact", json!({ "phone_number": "+1", "first_name": "f" })),
        ("sendPoll", json!({ "question": "q", "options": options })),
        ("sendDice", json!({})),
        ("sendGame", json!({ "game_short_name": "g" })),
        ("getChat", json!({})),
        ("getChat", group.clone()),
        ("getChatAdministrators", group.clone()),
        ("getChatMember", group.clone()),
        ("createChatInviteLink", group.clone()),
        ("getUserProfilePhotos", json!({ "user_id": 5 })),
        ("getWebhookInfo", json!({})),
        ("getMyCommands", json!({})),
        ("getChatMenuButton", json!({})),
        ("getMyDefaultAdministratorRights", json!({})),
    ]
}

#[test]
fn every_answer_has_the_shape_that_its_method_declares() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let shapes = Shapes::new();
    let faults: Vec<String> = calls()
        .into_iter()
        .flat_map(|(method, mut body)| {
            body.as_object_mut().unwrap().entry("chat_id").or_insert(json!(5));
            shapes.faults(method, &client.result(method, &body))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_update_has_the_shape_of_its_kind() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let keyboard = json!({ "inline_keyboard": [[{ "text": "Play", "callback_data": "p" }]] });
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a", "reply_markup": keyboard }));
    let (message_id, data) = (sent["message_id"].as_i64().unwrap(), Some("p".to_owned()));
    let (button_text, text) = ("b".to_owned(), "/start a@example.org".to_owned());
    let (currency, payload) = ("XTR".to_owned(), "p".to_owned());
    let actions = [
        UserAction::Message { chat_id: 5, user_id: 5, text: text.clone() },
        UserAction::Message { chat_id: -1_001_234_567_890, user_id: 5, text },
        UserAction::Callback { chat_id: 5, user_id: 5, message_id, data, label: None },
        UserAction::Inline { user_id: 5, query: "cats".to_owned() },
        UserAction::WebAppData { user_id: 5, button_text, data: "d".to_owned() },
        UserAction::Join { chat_id: -5, user_id: 6 },
        UserAction::Leave { chat_id: -5, user_id: 6 },
        UserAction::Payment { chat_id: 5, user_id: 5, currency, total_amount: 9, payload },
    ];
    for action in &actions {
        stub.act(TOKEN, action).unwrap();
    }
    let updates = client.result("getUpdates", &json!({}));
    assert_eq!(updates.as_array().map(Vec::len), Some(actions.len()));
    let faults = Shapes::new().faults("getUpdates", &updates);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_shape_is_held_to_its_fields_both_ways() {
    let shapes = Shapes::new();
    assert_eq!(shapes.faults("getMyName", &json!({ "name": "a" })), Vec::<String>::new());
    assert_eq!(shapes.faults("getMyName", &json!({})), ["getMyName.name is missing in BotName"]);
    let more = json!({ "name": 1, "more": 1 });
    assert_eq!(
        shapes.faults("getMyName", &more),
        ["getMyName.more is no field of BotName", "getMyName.name: 1 is no String"]
    );
}
