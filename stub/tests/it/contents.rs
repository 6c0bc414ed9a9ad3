//! Messages of every content, forwarded, copied and put together into albums.

use serde_json::{Value, json};

use crate::client::{Client, free, stub};

fn to(chat: i64, more: &Value) -> Value {
    let mut body = json!({ "chat_id": chat });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn a_forwarded_message_tells_where_it_comes_from_and_a_copy_does_not() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let id = client.result("sendMessage", &to(5, &json!({ "text": "a" })))["message_id"].clone();
    let from = json!({ "from_chat_id": 5, "message_id": id, "message_ids": [id, 99] });
    let forwarded = client.result("forwardMessage", &to(-6, &from));
    assert_eq!(
        (&forwarded["text"], &forwarded["forward_origin"]["sender_user"]["is_bot"]),
        (&json!("a"), &json!(true))
    );
    assert_eq!(client.result("forwardMessages", &to(-6, &from)).as_array().unwrap().len(), 1);
    let copied = client.result("copyMessage", &to(-6, &from))["message_id"].clone();
    let reply =
        client.result("sendMessage", &to(-6, &json!({ "text": "b", "reply_parameters": { "message_id": copied } })));
    assert_eq!(reply["reply_to_message"]["text"], "a");
    assert_eq!(reply["reply_to_message"].get("forward_origin"), None);
    assert_eq!(client.result("copyMessages", &to(-6, &from)).as_array().unwrap().len(), 1);
    let gone = json!({ "from_chat_id": 5, "message_id": 99, "message_ids": [99] });
    assert_eq!(client.refusal("forwardMessage", &to(-6, &gone)), "Bad Request: message to forward not found");
    assert_eq!(client.refusal("copyMessages", &to(-6, &gone)), "Bad Request: message to copy not found");
}

#[test]
fn an_album_is_one_and_counts_as_its_items() {
    let stub = stub(crate::client::quick());
    let mut client = Client::of(&stub);
    let photo =
        |nth: usize| json!({ "type": "photo", "media": format!("https://example.org/{nth}.png"), "caption": "c" });
    let album = |n: usize| to(-5, &json!({ "media": (0..n).map(photo).collect::<Vec<_>>() }));
    let sent = client.result("sendMediaGroup", &album(10));
    let albums: Vec<&Value> = sent.as_array().unwrap().iter().map(|message| &message["media_group_id"]).collect();
    assert!(albums.iter().all(|id| id.is_string() && *id == albums[0]), "{albums:?}");
    assert_eq!(client.call("sendMediaGroup", &album(10)).status, 200);
    assert_eq!(client.call("sendMessage", &to(-5, &json!({ "text": "a" }))).status, 429, "20 are out");
    assert_eq!(client.refusal("sendMediaGroup", &album(11)), "Bad Request: too many messages to send as an album");
    assert_eq!(client.refusal("sendMediaGroup", &album(0)), "Bad Request: there are no messages to send");
}

#[test]
fn a_poll_is_stopped_once() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent = client.result("sendPoll", &to(-5, &json!({ "question": "?", "options": ["a", { "text": "b" }] })));
    assert_eq!((&sent["poll"]["options"][1]["text"], &sent["poll"]["is_closed"]), (&json!("b"), &json!(false)));
    let stop = to(-5, &json!({ "message_id": sent["message_id"] }));
    assert_eq!(client.result("stopPoll", &stop)["is_closed"], true);
    assert_eq!(client.refusal("stopPoll", &stop), "Bad Request: poll has already been closed");
}

#[test]
fn places_people_dice_and_lists_are_shown_as_they_were_given() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let place = json!({ "latitude": 1.5, "longitude": 2, "live_period": 60, "title": "t", "address": "a" });
    let located = client.result("sendLocation", &to(5, &place));
    assert_eq!(located["location"], json!({ "latitude": 1.5, "longitude": 2, "live_period": 60 }));
    let id = &located["message_id"];
    let moved = json!({ "message_id": id, "latitude": 3.5, "longitude": 2 });
    assert_eq!(client.result("editMessageLiveLocation", &to(5, &moved))["location"]["latitude"], 3.5);
    assert_eq!(client.result("stopMessageLiveLocation", &to(5, &moved))["location"]["live_period"], 0);
    assert_eq!(client.result("sendVenue", &to(5, &place))["venue"]["location"]["latitude"], 1.5);
    let contact = client.result("sendContact", &to(5, &json!({ "phone_number": "123", "first_name": "A" })));
    assert_eq!(contact["contact"], json!({ "phone_number": "123", "first_name": "A" }));
    let dice = client.result("sendDice", &to(5, &json!({ "emoji": "🎰" })));
    assert!((1..=64).contains(&dice["dice"]["value"].as_i64().unwrap()));
    let missing = client.refusal("sendLocation", &to(5, &json!({ "latitude": 1.5 })));
    assert_eq!(missing, "Bad Request: parameter \"longitude\" is required");
    let list = json!({ "checklist": { "title": "t", "tasks": [] } });
    let id = client.result("sendChecklist", &to(5, &list))["message_id"].clone();
    let other = json!({ "message_id": id, "checklist": { "title": "u", "tasks": [] } });
    assert_eq!(client.result("editMessageChecklist", &to(5, &other))["checklist"]["title"], "u");
}

#[test]
fn an_invoice_shows_its_total_and_a_game_its_scores() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let invoice = json!({ "title": "t", "description": "d", "payload": "p", "currency": "XTR",
        "prices": [{ "label": "a", "amount": 3 }, { "label": "b", "amount": 4 }] });
    assert_eq!(client.result("sendInvoice", &to(5, &invoice))["invoice"]["total_amount"], 7);
    let game = client.result("sendGame", &to(5, &json!({ "game_short_name": "g" })))["message_id"].clone();
    let score = |user: i64, score: i64| to(5, &json!({ "message_id": game, "user_id": user, "score": score }));
    client.result("setGameScore", &score(1, 10));
    client.result("setGameScore", &score(2, 20));
    assert_eq!(client.refusal("setGameScore", &score(1, 9)), "Bad Request: BOT_SCORE_NOT_MODIFIED");
    let table = client.result("getGameHighScores", &score(1, 0));
    assert_eq!((&table[0]["user"]["id"], &table[1]["score"]), (&json!(2), &json!(10)));
}

#[test]
fn a_set_of_stickers_is_filled_ordered_and_emptied() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sticker = |nth: usize| json!({ "sticker": format!("https://example.org/{nth}.webp"), "emoji_list": ["😀"], "format": "static" });
    let set = |more: Value| {
        let mut body = json!({ "user_id": 5, "name": "cats", "title": "Cats" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    client.result("createNewStickerSet", &set(json!({ "stickers": [sticker(0)] })));
    let occupied = client.refusal("createNewStickerSet", &set(json!({ "stickers": [] })));
    assert_eq!(occupied, "Bad Request: sticker set name is already occupied");
    client.result("addStickerToSet", &set(json!({ "sticker": sticker(1) })));
    client.result("setStickerSetTitle", &set(json!({ "title": "Kittens" })));
    let shown = client.result("getStickerSet", &set(json!({})));
    assert_eq!((&shown["title"], shown["stickers"].as_array().unwrap().len()), (&json!("Kittens"), 2));
    let second = shown["stickers"][1]["file_id"].clone();
    let change = |more: Value| {
        let mut body = json!({ "sticker": second });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    client.result("setStickerPositionInSet", &change(json!({ "position": 0 })));
    client.result("setStickerEmojiList", &change(json!({ "emoji_list": ["🐱"] })));
    client.result(
        "setStickerMaskPosition",
        &change(json!({ "mask_position": { "point": "eyes", "x_shift": 0.5, "y_shift": 0, "scale": 2 } })),
    );
    let shown = client.result("getStickerSet", &set(json!({})));
    assert_eq!((&shown["stickers"][0]["file_id"], &shown["stickers"][0]["emoji"]), (&second, &json!("🐱")));
    assert_eq!(shown["stickers"][0]["mask_position"]["point"], "eyes");
    client.result("deleteStickerFromSet", &change(json!({})));
    assert_eq!(client.result("getStickerSet", &set(json!({})))["stickers"].as_array().unwrap().len(), 1);
    client.result("deleteStickerSet", &set(json!({})));
    assert_eq!(client.refusal("getStickerSet", &set(json!({}))), "Bad Request: STICKERSET_INVALID");
}

#[test]
fn what_a_bot_says_of_itself_is_kept_for_each_language() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for (method, field) in
        [("MyName", "name"), ("MyDescription", "description"), ("MyShortDescription", "short_description")]
    {
        client.result(&format!("set{method}"), &json!({ field: "a" }));
        client.result(&format!("set{method}"), &json!({ field: "b", "language_code": "de" }));
        let mut get = |language: &str| client.result(&format!("get{method}"), &json!({ "language_code": language }));
        assert_eq!([get(""), get("de"), get("fr")].map(|shown| shown[field].clone()), ["a", "b", "a"], "{method}");
    }
    client.result("setMyDefaultAdministratorRights", &json!({ "rights": { "can_pin_messages": true } }));
    let rights = client.result("getMyDefaultAdministratorRights", &json!({}));
    assert_eq!((&rights["can_pin_messages"], &rights["can_manage_chat"]), (&json!(true), &json!(false)));
    assert_eq!(client.refusal("setMyName", &json!({ "name": "a".repeat(65) })), "Bad Request: name is too long");
}

#[test]
fn paid_live_and_rich_messages_show_what_they_hold() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let photo = json!({ "type": "photo", "media": "https://example.org/a.png" });
    let paid = client.result("sendPaidMedia", &to(5, &json!({ "star_count": 3, "media": [photo] })));
    assert_eq!(
        (&paid["paid_media"]["star_count"], &paid["paid_media"]["paid_media"][0]["type"]),
        (&json!(3), &json!("photo"))
    );
    let live = json!({ "live_photo": "https://example.org/a.mp4", "caption": "c" });
    let live = client.result("sendLivePhoto", &to(5, &live));
    assert!(live["live_photo"]["file_id"].is_string() && live["caption"] == "c");
    let rich = client.result("sendRichMessage", &to(5, &json!({ "rich_message": { "html": "a" } })));
    assert_eq!(rich["rich_message"]["blocks"][0]["text"], "a");
}

#[test]
fn stars_that_were_never_paid_are_not_given_back() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    assert_eq!(client.result("getMyStarBalance", &json!({})), json!({ "amount": 0 }));
    assert_eq!(client.result("getStarTransactions", &json!({})), json!({ "transactions": [] }));
    let refund = json!({ "user_id": 5, "telegram_payment_charge_id": "x" });
    assert_eq!(client.refusal("refundStarPayment", &refund), "Bad Request: CHARGE_NOT_FOUND");
}

#[test]
fn a_story_is_there_until_it_is_deleted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for method in ["postStory", "repostStory"] {
        let id = client.result(method, &json!({ "business_connection_id": "b" }))["id"].clone();
        let story = json!({ "business_connection_id": "b", "story_id": id });
        assert_eq!(client.result("editStory", &story)["id"], id);
        client.result("deleteStory", &story);
        assert_eq!(client.refusal("editStory", &story), "Bad Request: STORY_NOT_FOUND");
    }
}

#[test]
fn a_managed_bot_keeps_its_token_until_it_is_replaced() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let bot = json!({ "user_id": 9, "is_access_restricted": true, "added_user_ids": [5] });
    let token = client.result("getManagedBotToken", &bot);
    assert_eq!(client.result("getManagedBotToken", &bot), token);
    assert_ne!(client.result("replaceManagedBotToken", &bot), token);
    client.result("setManagedBotAccessSettings", &bot);
    let access = client.result("getManagedBotAccessSettings", &bot);
    assert_eq!((&access["is_access_restricted"], &access["added_users"][0]["id"]), (&json!(true), &json!(5)));
}

#[test]
fn a_bots_own_photo_a_tag_and_a_replaced_sticker_are_shown() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let photo = json!({ "photo": { "type": "static", "photo": "https://example.org/a.png" } });
    client.result("setMyProfilePhoto", &photo);
    let bot = json!({ "user_id": 123_456 });
    assert_eq!(client.result("getUserProfilePhotos", &bot)["photos"][0].as_array().unwrap().len(), 1);
    client.result("removeMyProfilePhoto", &json!({}));
    assert_eq!(client.result("getUserProfilePhotos", &bot)["photos"][0].as_array().unwrap().len(), 3);
    client.result("setChatMemberTag", &to(-5, &json!({ "user_id": 5, "tag": "judge" })));
    assert_eq!(client.result("getChatMember", &to(-5, &json!({ "user_id": 5 })))["tag"], "judge");
    let sticker = |name: &str| json!({ "sticker": format!("https://example.org/{name}.webp"), "emoji_list": ["😀"] });
    let set = json!({ "user_id": 5, "name": "s", "title": "S", "stickers": [sticker("a")] });
    client.result("createNewStickerSet", &set);
    let old = client.result("getStickerSet", &set)["stickers"][0]["file_id"].clone();
    client.result(
        "replaceStickerInSet",
        &json!({ "user_id": 5, "name": "s", "old_sticker": old, "sticker": sticker("b") }),
    );
    client.result(
        "setStickerSetThumbnail",
        &json!({ "user_id": 5, "name": "s", "thumbnail": "https://example.org/t.webp" }),
    );
    let shown = client.result("getStickerSet", &set);
    assert_ne!(shown["stickers"][0]["file_id"], old);
    assert!(shown["thumbnail"]["file_id"].is_string());
    let emoji = client.result("getCustomEmojiStickers", &json!({ "custom_emoji_ids": ["5"] }));
    assert_eq!(emoji[0]["custom_emoji_id"], "5");
}

#[test]
fn unpinning_a_topic_leaves_the_pins_of_others() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let group = -1_000_000_000_009;
    let topic = client.result("createForumTopic", &to(group, &json!({ "name": "t" })))["message_thread_id"].clone();
    let general = client.result("sendMessage", &to(group, &json!({ "text": "general" })))["message_id"].clone();
    let inside = json!({ "text": "inside", "message_thread_id": topic });
    let inside = client.result("sendMessage", &to(group, &inside))["message_id"].clone();
    for id in [general, inside] {
        client.result("pinChatMessage", &to(group, &json!({ "message_id": id })));
    }
    client.result("unpinAllForumTopicMessages", &to(group, &json!({ "message_thread_id": topic })));
    assert_eq!(client.result("getChat", &to(group, &json!({})))["pinned_message"]["text"], "general");
    client.result("unpinAllGeneralForumTopicMessages", &to(group, &json!({})));
    assert_eq!(client.result("getChat", &to(group, &json!({}))).get("pinned_message"), None);
}
