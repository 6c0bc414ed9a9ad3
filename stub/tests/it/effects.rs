//! What is done by one call is seen by another, or by who reads what the bot answered.

use floodrig_stub::UserAction;
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, control, free, stub};
use crate::files::send;
use crate::pictures::png;

const GROUP: i64 = -1_001_234_567_890;

fn answered(client: &mut Client, id: &str) -> Value {
    control(client, "GET", &format!("bot{TOKEN}/answers/{id}"), &json!({}))["result"].clone()
}

#[test]
fn the_answer_to_an_inline_query_is_read_by_its_id() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    stub.act(TOKEN, &UserAction::Inline { user_id: 5, query: "cats".to_owned() }).unwrap();
    let id = client.result("getUpdates", &json!({}))[0]["inline_query"]["id"].as_str().unwrap().to_owned();
    let content = json!({ "message_text": "meow" });
    let article = json!({ "type": "article", "id": "1", "title": "Cat", "input_message_content": content });
    client.result("answerInlineQuery", &json!({ "inline_query_id": id, "results": [article] }));
    assert_eq!(answered(&mut client, &id)["results"], json!([article]));
    let sent = client.result("answerWebAppQuery", &json!({ "web_app_query_id": "q1", "result": article }));
    assert!(sent["inline_message_id"].is_string());
    assert_eq!(answered(&mut client, "q1")["result"], article);
    let prepared = client.result("savePreparedInlineMessage", &json!({ "user_id": 5, "result": article }));
    assert_eq!(answered(&mut client, prepared["id"].as_str().unwrap())["result"], article);
}

#[test]
fn what_nobody_asked_cannot_be_answered() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let too_old = "Bad Request: query is too old and response timeout expired or query ID is invalid";
    assert_eq!(client.refusal("answerCallbackQuery", &json!({ "callback_query_id": "1" })), too_old);
    assert_eq!(client.refusal("answerInlineQuery", &json!({ "inline_query_id": "1", "results": [] })), too_old);
    let query = json!({ "id": "1", "from": { "id": 5, "is_bot": false, "first_name": "A" }, "chat_instance": "7" });
    stub.push_update(TOKEN, "callback_query", &query).unwrap();
    client.result("answerCallbackQuery", &json!({ "callback_query_id": "1" }));
}

#[test]
fn deleted_messages_can_be_neither_edited_nor_deleted_again() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut text = || client.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }))["message_id"].clone();
    let (first, second) = (text(), text());
    assert_eq!(client.result("deleteMessages", &json!({ "chat_id": 5, "message_ids": [first, second, 999] })), true);
    for id in [first, second] {
        let edit = json!({ "chat_id": 5, "message_id": id, "text": "b" });
        assert_eq!(client.refusal("editMessageText", &edit), "Bad Request: message to edit not found");
        assert_eq!(client.refusal("deleteMessage", &edit), "Bad Request: message to delete not found");
    }
}

#[test]
fn a_new_keyboard_takes_the_place_of_the_old_and_of_its_buttons() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let keyboard = |label: &str| json!({ "inline_keyboard": [[{ "text": label, "callback_data": label }]] });
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a", "reply_markup": keyboard("old") }));
    let message_id = sent["message_id"].as_i64().unwrap();
    let change = json!({ "chat_id": 5, "message_id": message_id, "reply_markup": keyboard("new") });
    assert_eq!(client.result("editMessageReplyMarkup", &change)["reply_markup"], keyboard("new"));
    assert!(client.refusal("editMessageReplyMarkup", &change).contains("message is not modified"));
    let press = |label: &str| {
        let label = Some(label.to_owned());
        stub.act(TOKEN, &UserAction::Callback { chat_id: 5, user_id: 5, message_id, data: None, label })
    };
    assert!(press("old").is_err() && press("new").is_ok());
}

#[test]
fn commands_that_were_deleted_are_not_given_back() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let german = json!({ "commands": [{ "command": "a", "description": "b" }], "language_code": "de" });
    client.result("setMyCommands", &german);
    assert_eq!(client.result("getMyCommands", &german)[0]["command"], "a");
    client.result("deleteMyCommands", &german);
    assert_eq!(client.result("getMyCommands", &german), json!([]));
}

#[test]
fn a_command_is_a_word_with_a_description() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let commands =
        |command: &str, description: &str| json!({ "commands": [{ "command": command, "description": description }] });
    client.result("setMyCommands", &commands(&format!("/{}", "a".repeat(32)), &"b".repeat(256)));
    assert_eq!(client.result("getMyCommands", &json!({}))[0]["command"], "a".repeat(32));
    for (command, description, says) in [
        ("", "b", "command must be non-empty"),
        (&*"a".repeat(33), "b", "command length must not exceed 32"),
        ("Two words", "b", "BOT_COMMAND_INVALID"),
        ("a", "", "command description must be non-empty"),
        ("a", &*"b".repeat(257), "command description length must not exceed 256"),
    ] {
        let refusal = client.refusal("setMyCommands", &commands(command, description));
        assert_eq!(refusal, format!("Bad Request: {says}"), "{command} {description}");
    }
}

#[test]
fn a_chats_photo_is_shown_until_it_is_deleted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let group = json!({ "chat_id": GROUP });
    let set = send(&mut client, "setChatPhoto", &[("chat_id", &GROUP.to_string())], ("photo", &png(640, 640)));
    assert_eq!(set.status, 200, "{}", set.text());
    let photo = client.result("getChat", &group)["photo"].clone();
    assert!(client.result("getFile", &json!({ "file_id": photo["big_file_id"] }))["file_path"].is_string());
    client.result("deleteChatPhoto", &group);
    assert_eq!(client.result("getChat", &group).get("photo"), None);
}

#[test]
fn every_kind_of_file_is_shown_in_its_field_and_sent_again_by_its_id() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for (method, field) in [
        ("sendAnimation", "animation"),
        ("sendAudio", "audio"),
        ("sendSticker", "sticker"),
        ("sendVideo", "video"),
        ("sendVideoNote", "video_note"),
        ("sendVoice", "voice"),
    ] {
        let first = send(&mut client, method, &[("chat_id", "5")], (field, b"some bytes")).json();
        let file = &first["result"][field];
        assert_eq!(file["file_size"], 10, "{method}: {first}");
        let again = client.result(method, &json!({ "chat_id": 6, field: file["file_id"] }));
        assert_eq!(&again[field], file, "{method}");
    }
}

#[test]
fn an_uploaded_sticker_can_be_put_into_a_set() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let fields = [("user_id", "5"), ("sticker_format", "static")];
    let file = send(&mut client, "uploadStickerFile", &fields, ("sticker", &png(512, 512))).json()["result"].clone();
    let sticker = json!({ "sticker": file["file_id"], "emoji_list": ["😀"], "format": "static" });
    let set = json!({ "user_id": 5, "name": "cats", "title": "Cats", "stickers": [sticker] });
    client.result("createNewStickerSet", &set);
    let shown = client.result("getStickerSet", &set);
    assert_eq!(shown["stickers"][0]["file_unique_id"], file["file_unique_id"]);
}

#[test]
fn a_link_changes_its_name_and_keeps_its_address() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for kind in ["ChatInviteLink", "ChatSubscriptionInviteLink"] {
        let asked =
            json!({ "chat_id": GROUP, "name": "old", "subscription_period": 2_592_000, "subscription_price": 1 });
        let link = client.result(&format!("create{kind}"), &asked)["invite_link"].clone();
        let changed = json!({ "chat_id": GROUP, "invite_link": link, "name": "new" });
        let shown = client.result(&format!("edit{kind}"), &changed);
        assert_eq!((&shown["invite_link"], &shown["name"]), (&link, &json!("new")));
        let revoked = client.result("revokeChatInviteLink", &changed);
        assert_eq!((&revoked["name"], &revoked["is_revoked"]), (&json!("new"), &json!(true)));
    }
}

#[test]
fn a_bots_reaction_is_there_until_it_is_deleted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let message_id = client.result("sendMessage", &json!({ "chat_id": GROUP, "text": "a" }))["message_id"].clone();
    let react = |reaction: Value| json!({ "chat_id": GROUP, "message_id": message_id, "reaction": reaction });
    let (heart, bot) = (
        json!({ "type": "emoji", "emoji": "❤️" }),
        json!({ "chat_id": GROUP, "message_id": message_id, "user_id": 123_456 }),
    );
    client.result("setMessageReaction", &react(json!([heart])));
    assert_eq!(client.result("deleteMessageReaction", &bot), true);
    assert_eq!(client.refusal("deleteMessageReaction", &bot), "Bad Request: REACTION_NOT_FOUND");
    for taken_back in ["setMessageReaction", "deleteAllMessageReactions"] {
        client.result("setMessageReaction", &react(json!([heart])));
        client.result(taken_back, &json!({ "chat_id": GROUP, "message_id": message_id, "user_id": 123_456 }));
        assert_eq!(client.refusal("deleteMessageReaction", &bot), "Bad Request: REACTION_NOT_FOUND", "{taken_back}");
    }
    let refused = |client: &mut Client, reaction: Value| client.refusal("setMessageReaction", &react(reaction));
    assert_eq!(refused(&mut client, json!([{ "type": "emoji", "emoji": "x" }])), "Bad Request: REACTION_INVALID");
    assert_eq!(refused(&mut client, json!([heart, heart])), "Bad Request: REACTIONS_TOO_MANY");
    let nowhere = json!({ "chat_id": GROUP, "message_id": 999, "reaction": [heart] });
    assert_eq!(client.refusal("setMessageReaction", &nowhere), "Bad Request: message to react not found");
}

#[test]
fn a_protected_message_says_so_and_goes_nowhere() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut text = |protected: bool| {
        client.result("sendMessage", &json!({ "chat_id": 5, "text": "a", "protect_content": protected }))
    };
    let (protected, open) = (text(true), text(false));
    assert_eq!((&protected["has_protected_content"], open.get("has_protected_content")), (&json!(true), None));
    let one = json!({ "chat_id": 6, "from_chat_id": 5, "message_id": protected["message_id"] });
    for method in ["forwardMessage", "copyMessage"] {
        let says = "Bad Request: message has protected content and can't be forwarded";
        assert_eq!(client.refusal(method, &one), says, "{method}");
    }
    let both = [&protected["message_id"], &open["message_id"]];
    let several = json!({ "chat_id": 6, "from_chat_id": 5, "message_ids": both });
    assert_eq!(client.result("forwardMessages", &several).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_bot_writes_to_others_and_never_to_itself() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let itself = json!({ "chat_id": 123_456, "text": "a" });
    assert_eq!(client.refusal("sendMessage", &itself), "Forbidden: the bot can't send messages to the bot");
    let nowhere = json!({ "chat_id": 5, "message_id": 1 });
    assert_eq!(client.refusal("copyMessage", &nowhere), "Bad Request: chat_id is empty");
}

#[test]
fn documents_and_audios_make_no_album_with_photos() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let album = |kinds: [&str; 2]| {
        let media = kinds.map(|kind| json!({ "type": kind, "media": "https://example.org/a" }));
        json!({ "chat_id": 5, "media": media })
    };
    for together in [["photo", "video"], ["document", "document"], ["audio", "audio"]] {
        assert_eq!(client.call("sendMediaGroup", &album(together)).status, 200, "{together:?}");
    }
    for apart in [["photo", "document"], ["document", "photo"]] {
        let says = "Bad Request: document can't be mixed with other media types";
        assert_eq!(client.refusal("sendMediaGroup", &album(apart)), says);
    }
}

#[test]
fn the_general_topic_is_renamed_once_and_takes_nothing_while_it_is_hidden() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let name = json!({ "chat_id": GROUP, "name": "Lobby" });
    client.result("editGeneralForumTopic", &name);
    assert_eq!(client.refusal("editGeneralForumTopic", &name), "Bad Request: TOPIC_NOT_MODIFIED");
    let text = json!({ "chat_id": GROUP, "message_thread_id": 1, "text": "a" });
    client.result("hideGeneralForumTopic", &name);
    assert_eq!(client.refusal("sendMessage", &text), "Bad Request: TOPIC_CLOSED");
    client.result("unhideGeneralForumTopic", &name);
    client.result("sendMessage", &text);
}

#[test]
fn text_that_is_no_utf8_is_refused_in_every_encoding() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let form = b"--b\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n\xff\r\n--b--\r\n";
    for (kind, body) in [
        ("application/x-www-form-urlencoded", &b"text=%ff"[..]),
        ("application/json", b"{\"text\":\"\xff\"}"),
        ("multipart/form-data; boundary=b", form),
    ] {
        let answer = client.post("sendMessage?chat_id=5", kind, body).json();
        assert_eq!(answer["description"], "Bad Request: strings must be encoded in UTF-8", "{kind}");
    }
}
