//! What a chat is: its title, description, rights and pins; and leaving it.

use serde_json::{Value, json};

use super::{Methods, Turn, media, members, topics};
use crate::answer::{Done, Json, Refusal};
use crate::users;
use crate::world::described::DescribedChat;
use crate::world::{Chat, ChatKind, Found, MediaKind, Shown};

pub(super) const METHODS: Methods = &[
    ("getChat", get_chat),
    ("setChatTitle", set_chat_title),
    ("setChatDescription", set_chat_description),
    ("setChatPermissions", set_chat_permissions),
    ("setChatStickerSet", set_chat_sticker_set),
    ("deleteChatStickerSet", delete_chat_sticker_set),
    ("setChatPhoto", set_chat_photo),
    ("deleteChatPhoto", delete_chat_photo),
    ("pinChatMessage", pin),
    ("unpinChatMessage", unpin),
    ("unpinAllChatMessages", unpin_all),
    ("unpinAllForumTopicMessages", |turn| unpin_topic(turn, None)),
    ("unpinAllGeneralForumTopicMessages", |turn| unpin_topic(turn, Some(topics::GENERAL))),
    ("leaveChat", leave),
];

/// What a chat shows of itself beside its name, as it was set.
const SHOWN: &[&str] = &["description", "permissions", "sticker_set_name", "photo", "invite_link"];

fn get_chat(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    let mut full: Value = Json::of(&chat).value();
    full["accent_color_id"] = json!(chat.id.rem_euclid(7));
    full["max_reaction_count"] = json!(11);
    full["accepted_gift_types"] = json!({
        "unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
        "premium_subscription": false, "gifts_from_channels": false,
    });
    if let Some(described) = turn.telegram.world.people.described(chat.id) {
        full.as_object_mut().expect("a chat is an object").extend(said_of(described));
    }
    for name in SHOWN {
        if let Some(value) = turn.noted(chat.id, name) {
            full[*name] = value;
        }
    }
    if let Some(pinned) = pinned(turn, &chat) {
        full["pinned_message"] = pinned;
    }
    Done::of(&full)
}

/// What a described chat says of itself beside its names.
fn said_of(described: &DescribedChat) -> impl Iterator<Item = (String, Value)> {
    let description = described.description.as_ref().map(|text| ("description".to_owned(), json!(text)));
    let slow_mode = described.slow_mode.map(|delay| ("slow_mode_delay".to_owned(), json!(delay.as_secs())));
    description.into_iter().chain(slow_mode)
}

fn pinned(turn: &mut Turn<'_>, chat: &Chat) -> Option<Value> {
    let pins = turn.noted(chat.id, "pins")?;
    let last = pins.as_array()?.last()?.as_i64()?;
    let people = turn.telegram.world.people.clone();
    let Found::Message(message) = turn.telegram.world.find(turn.call.bot, chat, last) else { return None };
    Some(Json::of(&Shown { people: &people, message, chat, reply_to: None }).value())
}

/// A chat that has administrators, and in which the bot is one.
pub(super) fn shared_chat(turn: &mut Turn<'_>) -> Result<Chat, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    match chat.kind {
        ChatKind::Private => Err(Refusal::bad_request("method is available only for groups and channels")),
        ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => Ok(chat),
    }
}

fn set_chat_title(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let title = turn.required("title")?.to_owned();
    turn.telegram.world.set_title(chat.id, &title);
    Done::yes()
}

fn set_chat_description(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let description = turn.call.params.given("description").map(Value::from).unwrap_or_default();
    if turn.noted(chat.id, "description").unwrap_or_default() == description {
        return Err(Refusal::bad_request("chat description is not modified"));
    }
    turn.note(chat.id, "description", &description);
    Done::yes()
}

fn set_chat_permissions(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let permissions = turn.value("permissions").filter(Value::is_object);
    let permissions = permissions.ok_or_else(|| Refusal::bad_request("can't parse permissions JSON object"))?;
    turn.note(chat.id, "permissions", &permissions);
    Done::yes()
}

fn set_chat_sticker_set(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let name = json!(turn.required("sticker_set_name")?);
    turn.note(chat.id, "sticker_set_name", &name);
    Done::yes()
}

fn delete_chat_sticker_set(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    turn.telegram.world.facts.forget(chat.id, "sticker_set_name");
    Done::yes()
}

fn set_chat_photo(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let media = media::find(turn, MediaKind::Photo, "photo", turn.call.params.text("photo"))?;
    let (id, unique) = (media.file.text(), media.file.unique());
    let photo = json!({
        "small_file_id": id, "small_file_unique_id": unique, "big_file_id": id, "big_file_unique_id": unique,
    });
    turn.note(chat.id, "photo", &photo);
    Done::yes()
}

fn delete_chat_photo(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    turn.telegram.world.facts.forget(chat.id, "photo");
    Done::yes()
}

fn pins(turn: &mut Turn<'_>, chat: &Chat) -> Vec<i64> {
    turn.noted(chat.id, "pins").and_then(|pins| serde_json::from_value(pins).ok()).unwrap_or_default()
}

fn pin(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    let id = turn.call.params.integer("message_id").unwrap_or(0);
    if let Found::Nowhere = turn.telegram.world.find(turn.call.bot, &chat, id) {
        return Err(Refusal::bad_request("message to pin not found"));
    }
    let mut pins = pins(turn, &chat);
    pins.retain(|pinned| *pinned != id);
    pins.push(id);
    turn.note(chat.id, "pins", &json!(pins));
    Done::yes()
}

/// Without an id the last one is unpinned.
fn unpin(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    let mut pins = pins(turn, &chat);
    match turn.call.params.integer("message_id") {
        Some(id) if pins.contains(&id) => pins.retain(|pinned| *pinned != id),
        Some(_) => return Err(Refusal::bad_request("message to unpin not found")),
        None => drop(pins.pop()),
    }
    turn.note(chat.id, "pins", &json!(pins));
    Done::yes()
}

fn unpin_all(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    turn.telegram.world.facts.forget(chat.id, "pins");
    Done::yes()
}

/// Messages outside of every topic are in the general one.
fn unpin_topic(turn: &mut Turn<'_>, topic: Option<i64>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let topic = topic.or_else(|| turn.call.params.integer("message_thread_id")).unwrap_or(topics::GENERAL);
    let mut pins = pins(turn, &chat);
    pins.retain(|id| match turn.telegram.world.find(turn.call.bot, &chat, *id) {
        Found::Message(message) => message.thread.unwrap_or(topics::GENERAL) != topic,
        Found::Forgotten | Found::Nowhere => true,
    });
    turn.note(chat.id, "pins", &json!(pins));
    Done::yes()
}

fn leave(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let (bot, left) = (turn.call.bot, json!({ "status": "left" }));
    let was = members::this_bot(&mut turn.telegram.world, bot, chat.id);
    members::set(turn, &chat, bot, &left);
    let at = turn.moment();
    // It has left even if it takes no update of it.
    drop(users::tell_standing(turn.telegram, at, &chat, [was, left]));
    Done::yes()
}
