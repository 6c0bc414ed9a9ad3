//! Reactions of bots to messages: set, and taken back.
//!
//! A bot has one of its own on a message, and an administrator takes those of others away. A reaction is no field of a
//! message, and no bot is told of its own: what is set shows when it is deleted.

use serde_json::{Value, json};

use super::chats::shared_chat;
use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::world::{Chat, Found};

pub(super) const METHODS: Methods =
    &[("setMessageReaction", set), ("deleteMessageReaction", delete), ("deleteAllMessageReactions", delete_all)];

/// What a bot may react with (<https://core.telegram.org/bots/api#reactiontypeemoji>).
const EMOJI: &str = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 \
    😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡";
/// Clients may or may not write it behind an emoji; the server does not care.
const VARIATION_SELECTOR: char = '\u{fe0f}';

fn set(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, message) = target(turn)?;
    let reactions: Vec<Value> = match turn.call.params.given("reaction") {
        None => Vec::new(),
        Some(_) => {
            turn.list("reaction").ok_or_else(|| Refusal::bad_request("can't parse reaction types JSON object"))?
        }
    };
    // A bot has no Premium, and with it one reaction (https://core.telegram.org/bots/api#setmessagereaction); the code
    // is that of https://core.telegram.org/method/messages.sendReaction.
    if reactions.len() > 1 {
        return Err(Refusal::bad_request("REACTIONS_TOO_MANY"));
    }
    if !reactions.iter().all(may_be_set) {
        return Err(Refusal::bad_request("REACTION_INVALID"));
    }
    let by = turn.call.bot;
    keep(turn, &chat, message, by, !reactions.is_empty());
    Done::yes()
}

/// A message that is there.
fn target(turn: &mut Turn<'_>) -> Result<(Chat, i64), Refusal> {
    let chat = turn.chat()?;
    let id = turn.call.params.integer("message_id").unwrap_or(0);
    match turn.telegram.world.find(turn.call.bot, &chat, id) {
        Found::Message(_) | Found::Forgotten => Ok((chat, id)),
        Found::Nowhere => Err(Refusal::bad_request("message to react not found")),
    }
}

fn may_be_set(reaction: &Value) -> bool {
    match reaction["type"].as_str() {
        Some("emoji") => {
            let emoji = reaction["emoji"].as_str().unwrap_or_default().replace(VARIATION_SELECTOR, "");
            EMOJI.split_whitespace().any(|known| known == emoji)
        }
        Some("custom_emoji") => reaction["custom_emoji_id"].is_string(),
        Some(_) | None => false,
    }
}

/// Who has reacted to what in a chat, as pairs of a message and a user.
fn kept(turn: &mut Turn<'_>, chat: &Chat) -> Vec<(i64, i64)> {
    turn.noted(chat.id, "reactions").and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default()
}

/// Of each chat the last ones are remembered.
const MOST: usize = 100;

fn keep(turn: &mut Turn<'_>, chat: &Chat, message: i64, by: i64, is_set: bool) {
    let mut kept = kept(turn, chat);
    kept.retain(|known| *known != (message, by));
    if is_set {
        kept.push((message, by));
    }
    let from = kept.len().saturating_sub(MOST);
    turn.note(chat.id, "reactions", &json!(&kept[from..]));
}

/// Whose reactions an administrator deletes.
fn actor(turn: &Turn<'_>) -> Result<i64, Refusal> {
    let params = &turn.call.params;
    let actor = params.integer("user_id").or_else(|| params.integer("actor_chat_id"));
    actor.filter(|id| *id != 0).ok_or_else(|| Refusal::bad_request("invalid user_id specified"))
}

fn delete(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    shared_chat(turn)?;
    let ((chat, message), by) = (target(turn)?, actor(turn)?);
    if !kept(turn, &chat).contains(&(message, by)) {
        // No public source says in which words; the name follows those of its like.
        return Err(Refusal::bad_request("REACTION_NOT_FOUND"));
    }
    keep(turn, &chat, message, by, false);
    Done::yes()
}

fn delete_all(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, by) = (shared_chat(turn)?, actor(turn)?);
    let left: Vec<_> = kept(turn, &chat).into_iter().filter(|(_, known)| *known != by).collect();
    turn.note(chat.id, "reactions", &json!(left));
    Done::yes()
}
