//! Every method of the catalogue, called as a bot would call it, answers 200 with a value of its declared type, in every
//! part of it.

use floodrig_stub::{Stub, UserAction};
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};
use crate::files::send;
use crate::pictures::png;
use crate::shape::{faults, methods};

const GROUP: i64 = -1_001_234_567_890;
const USER: i64 = 77;
const FILE: &str = "https://example.org/a";

/// What every call is given: a method takes what it knows and leaves the rest.
fn everything() -> Value {
    [messages(), things(), settings(), business()].iter().fold(json!({}), |all, more| with(&all, more))
}

fn messages() -> Value {
    let photo = json!({ "type": "photo", "media": FILE, "caption": "<b>c</b>", "parse_mode": "HTML" });
    json!({
        "chat_id": GROUP, "user_id": USER, "from_chat_id": GROUP, "message_id": 0, "message_thread_id": 1,
        "text": "*a* /start #b @cats a@example.org", "parse_mode": "Markdown", "caption": "c",
        "animation": FILE, "audio": FILE, "document": FILE, "photo": FILE, "live_photo": FILE, "sticker": FILE,
        "video": FILE, "video_note": FILE, "voice": FILE, "media": photo, "duration": 9, "performer": "p",
        "width": 640, "height": 360, "rich_message": { "html": "<b>a</b>" },
        "checklist": { "title": "t", "tasks": [{ "id": 1, "text": "do" }] },
    })
}

fn things() -> Value {
    json!({
        "latitude": 1.5, "longitude": 2.5, "live_period": 60, "horizontal_accuracy": 1,
        "address": "a", "title": "t", "phone_number": "+1", "first_name": "f", "last_name": "l", "vcard": "v",
        "emoji": "🎯", "question": "q", "options": [{ "text": "a" }, { "text": "b" }], "explanation": "e",
        "game_short_name": "g", "score": 5, "description": "d", "payload": "p", "currency": "XTR",
        "prices": [{ "label": "a", "amount": 3 }], "star_count": 3,
    })
}

fn settings() -> Value {
    let sticker = json!({ "sticker": FILE, "emoji_list": ["😀"], "format": "static", "keywords": ["cat"] });
    json!({
        "action": "typing", "name": "cats", "short_description": "s", "sticker_format": "static",
        "stickers": [sticker], "emoji_list": ["😀"], "format": "static", "position": 0, "sticker_set_name": "cats",
        "mask_position": { "point": "eyes", "x_shift": 0, "y_shift": 0, "scale": 1 }, "custom_emoji_ids": ["1"],
        "keywords": ["cat"], "commands": [{ "command": "start", "description": "d" }],
        "menu_button": { "type": "commands" }, "rights": { "can_manage_chat": true },
        "permissions": { "can_send_messages": true }, "custom_title": "Boss", "tag": "t", "sender_chat_id": -5,
        "expire_date": 2_000_000_000, "member_limit": 9, "subscription_period": 2_592_000, "subscription_price": 1,
        "reaction": [{ "type": "emoji", "emoji": "👍" }], "url": "", "can_pin_messages": true,
    })
}

fn business() -> Value {
    let content = json!({ "message_text": "a" });
    json!({
        "business_connection_id": "b", "results": [], "ok": true, "errors": [], "story_id": 0, "from_story_id": 1,
        "result": { "type": "article", "id": "1", "title": "Cat", "input_message_content": content },
        "active_period": 86_400, "content": { "type": "photo", "photo": FILE }, "limit": 3, "is_canceled": true,
        "month_count": 3, "gift_id": "g", "owned_gift_id": "g", "new_owner_chat_id": 5, "draft_id": 1,
        "button": { "text": "b" }, "show_gift_button": true, "accepted_gift_types": {},
        "is_access_restricted": true, "added_user_ids": [5], "guest_query_id": "1", "web_app_query_id": "w",
        "chat_join_request_query_id": "1", "web_app_url": FILE, "receiver_user_id": USER, "ephemeral_message_id": 1,
    })
}

/// A world in which every method finds what it is about.
struct Stage {
    stub: Stub,
    client: Client,
}

impl Stage {
    fn set() -> Self {
        let stub = stub(free());
        let client = Client::of(&stub);
        Self { stub, client }
    }

    /// The result of a call with everything and what is more.
    fn call(&mut self, method: &str, more: &Value) -> Value {
        self.client.result(method, &with(&everything(), more))
    }

    /// The id of the message that a method has just sent.
    fn sent(&mut self, method: &str) -> Value {
        json!({ "message_id": self.call(method, &json!({}))["message_id"] })
    }

    /// The id of what a user has just asked, under the name by which it is answered.
    fn asked(&mut self, kind: &str, action: &UserAction) -> Value {
        self.stub.act(TOKEN, action).unwrap();
        let id = self.client.result("getUpdates", &json!({ "offset": -1 }))[0][kind]["id"].clone();
        json!({ format!("{kind}_id"): id })
    }

    /// What a method needs beside everything.
    fn needs(&mut self, method: &str) -> Value {
        match method {
            "copyMessage"
            | "deleteMessage"
            | "editMessageText"
            | "forwardMessage"
            | "pinChatMessage"
            | "setMessageReaction"
            | "editMessageReplyMarkup"
            | "approveSuggestedPost" => {
                let keyboard = json!({ "inline_keyboard": [[{ "text": "a", "callback_data": "a" }]] });
                with(&self.sent("sendMessage"), &json!({ "text": "new", "reply_markup": keyboard }))
            }
            "copyMessages" | "deleteMessages" | "forwardMessages" => {
                json!({ "message_ids": [self.sent("sendMessage")["message_id"]] })
            }
            "editMessageCaption" => with(&self.sent("sendPhoto"), &json!({ "caption": "new" })),
            "editMessageMedia" => self.sent("sendPhoto"),
            "editMessageLiveLocation" => with(&self.sent("sendLocation"), &json!({ "latitude": 3.5 })),
            "stopMessageLiveLocation" => self.sent("sendLocation"),
            "editMessageChecklist" => with(
                &self.sent("sendChecklist"),
                &json!({ "checklist": { "title": "u", "tasks": [{ "id": 1, "text": "done" }] } }),
            ),
            "stopPoll" => self.sent("sendPoll"),
            "setGameScore" | "getGameHighScores" => {
                let game = self.sent("sendGame");
                self.call("setGameScore", &with(&game, &json!({ "score": 3 })));
                game
            }
            "unpinChatMessage" => {
                let message = self.sent("sendMessage");
                self.call("pinChatMessage", &message);
                message
            }
            "deleteMessageReaction" => {
                let message = self.sent("sendMessage");
                self.call("setMessageReaction", &message);
                with(&message, &json!({ "user_id": 123_456 }))
            }
            _ => self.needs_of_a_user(method),
        }
    }

    /// What a method needs that a user has to do first.
    fn needs_of_a_user(&mut self, method: &str) -> Value {
        match method {
            "answerCallbackQuery" => {
                let keyboard = json!({ "inline_keyboard": [[{ "text": "a", "callback_data": "a" }]] });
                let message_id = self.call("sendMessage", &json!({ "reply_markup": keyboard }))["message_id"].as_i64();
                let (message_id, data, label) = (message_id.unwrap(), Some("a".to_owned()), None);
                let press = UserAction::Callback { chat_id: GROUP, user_id: USER, message_id, data, label };
                self.asked("callback_query", &press)
            }
            "answerInlineQuery" => {
                self.asked("inline_query", &UserAction::Inline { user_id: USER, query: "cats".to_owned() })
            }
            "answerPreCheckoutQuery" => self.asked("pre_checkout_query", &payment()),
            "answerShippingQuery" => {
                self.call("sendInvoice", &json!({ "is_flexible": true }));
                let way = json!([{ "id": "post", "title": "Post", "prices": [{ "label": "s", "amount": 1 }] }]);
                with(&self.asked("shipping_query", &payment()), &json!({ "shipping_options": way }))
            }
            "refundStarPayment" => {
                let query = self.asked("pre_checkout_query", &payment());
                self.call("answerPreCheckoutQuery", &query);
                let paid = self.client.result("getUpdates", &json!({ "offset": -1 }));
                let charge = &paid[0]["message"]["successful_payment"]["telegram_payment_charge_id"];
                json!({ "telegram_payment_charge_id": charge })
            }
            "getMyCommands" | "getStarTransactions" | "getUpdates" => {
                self.call("setMyCommands", &json!({}));
                let query = self.asked("pre_checkout_query", &payment());
                self.call("answerPreCheckoutQuery", &query);
                json!({})
            }
            "approveChatJoinRequest" | "declineChatJoinRequest" => self.request_to_join(),
            _ => self.needs_of_a_chat(method),
        }
    }

    /// What a method needs that has to be in the chat, or in the bot's hands.
    fn needs_of_a_chat(&mut self, method: &str) -> Value {
        match method {
            "editChatInviteLink" | "revokeChatInviteLink" => {
                json!({ "invite_link": self.call("createChatInviteLink", &json!({}))["invite_link"] })
            }
            "editChatSubscriptionInviteLink" => {
                json!({ "invite_link": self.call("createChatSubscriptionInviteLink", &json!({}))["invite_link"] })
            }
            "setChatAdministratorCustomTitle" => {
                self.call("promoteChatMember", &json!({}));
                json!({})
            }
            "closeForumTopic"
            | "reopenForumTopic"
            | "deleteForumTopic"
            | "editForumTopic"
            | "unpinAllForumTopicMessages" => {
                let topic = self.call("createForumTopic", &json!({}))["message_thread_id"].clone();
                let topic = json!({ "message_thread_id": topic, "name": "new" });
                if method == "reopenForumTopic" {
                    self.call("closeForumTopic", &topic);
                }
                topic
            }
            "reopenGeneralForumTopic" => {
                self.call("closeGeneralForumTopic", &json!({}));
                json!({})
            }
            "unhideGeneralForumTopic" => {
                self.call("hideGeneralForumTopic", &json!({}));
                json!({})
            }
            "deleteStory" | "editStory" => json!({ "story_id": self.call("postStory", &json!({}))["id"] }),
            "getFile" => json!({ "file_id": self.call("sendDocument", &json!({}))["document"]["file_id"] }),
            "addStickerToSet"
            | "deleteStickerFromSet"
            | "deleteStickerSet"
            | "getStickerSet"
            | "setChatStickerSet"
            | "replaceStickerInSet"
            | "setStickerEmojiList"
            | "setStickerKeywords"
            | "setStickerMaskPosition"
            | "setStickerPositionInSet"
            | "setStickerSetThumbnail"
            | "setStickerSetTitle"
            | "setCustomEmojiStickerSetThumbnail" => self.stickers(method),
            "sendMediaGroup" | "sendPaidMedia" => json!({ "media": [everything()["media"], everything()["media"]] }),
            _ => json!({}),
        }
    }

    fn request_to_join(&mut self) -> Value {
        let user = json!({ "id": USER, "is_bot": false, "first_name": "A" });
        let chat = json!({ "id": GROUP, "type": "supergroup", "title": "G" });
        let request = json!({ "chat": chat, "from": user, "user_chat_id": USER, "date": 1 });
        self.stub.push_update(TOKEN, "chat_join_request", &request).unwrap();
        json!({})
    }

    fn stickers(&mut self, method: &str) -> Value {
        self.call("createNewStickerSet", &json!({}));
        let sticker = self.call("getStickerSet", &json!({}))["stickers"][0]["file_id"].clone();
        let input = everything()["stickers"][0].clone();
        match method {
            "addStickerToSet" => json!({ "sticker": input }),
            "replaceStickerInSet" => json!({ "old_sticker": sticker, "sticker": input }),
            "setStickerSetThumbnail" => json!({ "thumbnail": FILE }),
            _ => json!({ "sticker": sticker }),
        }
    }
}

fn payment() -> UserAction {
    let (currency, payload) = ("XTR".to_owned(), "p".to_owned());
    UserAction::Payment { chat_id: USER, user_id: USER, currency, total_amount: 9, payload }
}

fn with(some: &Value, more: &Value) -> Value {
    let mut all = some.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

/// What is wrong with the answer to a method.
fn wrong(method: &str) -> Vec<String> {
    let mut stage = Stage::set();
    let needs = stage.needs(method);
    let response = match method {
        "setChatPhoto" => {
            send(&mut stage.client, method, &[("chat_id", &GROUP.to_string())], ("photo", &png(640, 640)))
        }
        "uploadStickerFile" => {
            let fields = [("user_id", "77"), ("sticker_format", "static")];
            send(&mut stage.client, method, &fields, ("sticker", &png(512, 512)))
        }
        "setMyProfilePhoto" | "setBusinessAccountProfilePhoto" => {
            let photo = json!({ "type": "static", "photo": "attach://f" }).to_string();
            let fields = [("photo", photo.as_str()), ("business_connection_id", "b")];
            send(&mut stage.client, method, &fields, ("f", &png(640, 640)))
        }
        "getUpdates" => stage.client.call(method, &json!({})),
        _ => stage.client.call(method, &with(&everything(), &needs)),
    };
    match response.status {
        200 => faults(method, &response.json()["result"]),
        _ => vec![format!("{method}: {}", response.text())],
    }
}

#[test]
fn every_method_answers_a_plausible_call_with_a_value_of_its_declared_type() {
    let wrong: Vec<String> = methods().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
