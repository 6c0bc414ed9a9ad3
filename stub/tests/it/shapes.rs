//! Every answer and every update has the shape that the catalogue declares.

use floodrig_stub::UserAction;
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};
use crate::shape::faults;

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
    let faults: Vec<String> = calls()
        .into_iter()
        .flat_map(|(method, mut body)| {
            body.as_object_mut().unwrap().entry("chat_id").or_insert(json!(5));
            faults(method, &client.result(method, &body))
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
    let faults = faults("getUpdates", &updates);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_shape_is_held_to_its_fields_both_ways() {
    assert_eq!(faults("getMyName", &json!({ "name": "a" })), Vec::<String>::new());
    assert_eq!(faults("getMyName", &json!({})), ["getMyName.name is missing in BotName"]);
    let more = json!({ "name": 1, "more": 1 });
    assert_eq!(faults("getMyName", &more), ["getMyName.more is no field of BotName", "getMyName.name: 1 is no String"]);
}
