//! Messages: sent, edited, deleted, and seen by who watches.

use std::sync::mpsc;

use serde_json::json;

use crate::client::{Client, free, stub};

const NOT_MODIFIED: &str = "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

#[test]
fn a_message_is_answered_with_its_bot_chat_and_text() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent = client.result("sendMessage", &json!({ "chat_id": -1_000_000_000_007_i64, "text": " é😀 " }));
    assert_eq!((&sent["text"], &sent["message_id"]), (&json!("é😀"), &json!(2)));
    assert_eq!((&sent["chat"]["type"], &sent["from"]["id"]), (&json!("supergroup"), &json!(123_456)));
    let private = client.result("sendMessage", &json!({ "chat_id": "77", "text": "b" }));
    assert_eq!((&private["chat"]["type"], &private["chat"]["first_name"]), (&json!("private"), &json!("User 77")));
}

#[test]
fn an_edit_that_changes_nothing_is_refused_in_the_known_words() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let keyboard = json!({ "inline_keyboard": [[{ "text": "a", "callback_data": "1" }]] });
    let id =
        client.result("sendMessage", &json!({ "chat_id": 5, "text": "a", "reply_markup": keyboard }))["message_id"]
            .clone();
    let same = json!({ "chat_id": 5, "message_id": id, "text": "a", "reply_markup": keyboard });
    assert_eq!(client.refusal("editMessageText", &same), NOT_MODIFIED);
    let without = client.result("editMessageText", &json!({ "chat_id": 5, "message_id": id, "text": "a" }));
    assert_eq!(without.get("reply_markup"), None, "an edit without a keyboard takes it away");
    assert!(without["edit_date"].is_i64());
}

#[test]
fn an_edit_of_the_wrong_kind_or_of_nothing_is_refused() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let id = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }))["message_id"].clone();
    let edit = |id: &serde_json::Value| json!({ "chat_id": 5, "message_id": id, "caption": "b", "text": "b" });
    assert_eq!(
        client.refusal("editMessageCaption", &edit(&id)),
        "Bad Request: there is no caption in the message to edit"
    );
    assert_eq!(client.refusal("editMessageText", &edit(&json!(99))), "Bad Request: message to edit not found");
    assert_eq!(
        client.refusal("editMessageText", &edit(&json!(null))),
        "Bad Request: message identifier is not specified"
    );
    client.result("deleteMessage", &edit(&id));
    assert_eq!(client.refusal("editMessageText", &edit(&id)), "Bad Request: message to edit not found");
    assert_eq!(client.refusal("deleteMessage", &edit(&id)), "Bad Request: message to delete not found");
}

#[test]
fn texts_are_held_to_4096_characters_and_must_not_be_empty() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut send =
        |text: String| client.call("sendMessage", &json!({ "chat_id": 5, "text": text })).json()["description"].clone();
    assert_eq!(send("é".repeat(4096)), json!(null));
    assert_eq!(send("é".repeat(4097)), "Bad Request: message is too long");
    assert_eq!(send("a".repeat(32_769)), "Bad Request: text is too long");
    assert_eq!(send(" \n ".to_owned()), "Bad Request: message text is empty");
    assert_eq!(client.refusal("sendMessage", &json!({ "text": "a" })), "Bad Request: chat_id is empty");
    assert_eq!(client.refusal("sendMessage", &json!({ "chat_id": "x", "text": "a" })), "Bad Request: chat not found");
}

#[test]
fn who_watches_sees_every_accepted_text_and_a_full_channel_counts_what_it_missed() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let (sender, sightings) = mpsc::sync_channel(2);
    stub.watch(sender);
    let id = client.result("sendMessage", &json!({ "chat_id": -5, "text": "v1" }))["message_id"].as_i64().unwrap();
    client.result("editMessageText", &json!({ "chat_id": -5, "message_id": id, "text": "v2" }));
    client.call("editMessageText", &json!({ "chat_id": -5, "message_id": id, "text": "v2" }));
    client.result("sendMessage", &json!({ "chat_id": -5, "text": "v3" }));
    let seen: Vec<_> = sightings.try_iter().map(|seen| (seen.bot, seen.chat, seen.message_id, seen.text)).collect();
    assert_eq!(seen, [(123_456, -5, id, "v1".to_owned()), (123_456, -5, id, "v2".to_owned())]);
    assert_eq!(stub.take_interval().sightings_dropped, 1);
}

#[test]
fn a_reply_shows_what_it_replies_to() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let first = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }))["message_id"].clone();
    let reply = json!({ "chat_id": 5, "text": "b", "reply_parameters": { "message_id": first } });
    assert_eq!(client.result("sendMessage", &reply)["reply_to_message"]["text"], "a");
}

#[test]
fn commands_and_the_menu_button_are_given_back_as_they_were_set() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let commands = json!([{ "command": "start", "description": "Start" }]);
    client.result("setMyCommands", &json!({ "commands": commands, "language_code": "de" }));
    assert_eq!(client.result("getMyCommands", &json!({ "language_code": "de" })), commands);
    assert_eq!(client.result("getMyCommands", &json!({})), json!([]));
    let button = json!({ "type": "web_app", "text": "Play", "web_app": { "url": "https://example.org" } });
    client.result("setChatMenuButton", &json!({ "menu_button": button }));
    assert_eq!(client.result("getChatMenuButton", &json!({})), button);
}

#[test]
fn formatting_becomes_entities_and_its_faults_are_told() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "<b>😀</b> /go", "parse_mode": "HTML" }));
    assert_eq!(sent["text"], "😀 /go");
    let expected =
        json!([{ "offset": 0, "length": 2, "type": "bold" }, { "offset": 3, "length": 3, "type": "bot_command" }]);
    assert_eq!(sent["entities"], expected);
    let broken = json!({ "chat_id": 5, "text": "a.", "parse_mode": "MarkdownV2" });
    assert_eq!(
        client.refusal("sendMessage", &broken),
        "Bad Request: can't parse entities: Character '.' is reserved and must be escaped with the preceding '\\'"
    );
}

#[test]
fn a_message_says_of_itself_what_its_call_said_beside_the_content() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let said = json!({ "link_preview_options": { "is_disabled": true }, "message_effect_id": "7", "has_spoiler": true,
        "show_caption_above_media": true, "text": "a", "photo": "https://example.org/a", "chat_id": 5 });
    let text = client.result("sendMessage", &said);
    assert_eq!((&text["link_preview_options"]["is_disabled"], &text["effect_id"]), (&json!(true), &json!("7")));
    assert_eq!(text.get("has_media_spoiler"), None);
    let photo = client.result("sendPhoto", &said);
    let shown = (&photo["has_media_spoiler"], &photo["show_caption_above_media"], photo.get("link_preview_options"));
    assert_eq!(shown, (&json!(true), &json!(true), None));
    let edit = json!({ "chat_id": 5, "message_id": text["message_id"], "text": "b" });
    assert_eq!(client.result("editMessageText", &edit)["effect_id"], "7", "and keeps it");
    let group = client.result("sendMessage", &json!({ "chat_id": -5, "text": "a", "message_effect_id": "7" }));
    assert_eq!(group.get("effect_id"), None);
}
