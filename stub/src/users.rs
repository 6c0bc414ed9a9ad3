//! What the users of the stub's world do: they write, and a bot gets an update of it.

use std::time::Duration;

use serde_json::Value;

use crate::answer::Json;
use crate::entities;
use crate::telegram::Telegram;
use crate::world::{ChatKind, Content, Message, Shown, User};

/// A text that a user writes into a chat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) bot: i64,
    pub(crate) chat: i64,
    pub(crate) user: i64,
    pub(crate) text: &'a str,
}

/// Writes it; the id of the update, unless the bot does not want it.
pub(crate) fn write(telegram: &mut Telegram, now: Duration, date: i64, written: Written<'_>) -> Option<i64> {
    let chat = telegram.world.chat(written.chat);
    let text = entities::read(written.text, None, None).expect("a text without a parse mode is always read");
    let id = telegram.world.next_id(written.bot, &chat);
    let message = Message::new(id, User::Person(written.user), date, Content::Text(text));
    let shown = Json::of(&Shown { message: &message, chat: &chat, reply_to: None });
    let update: Value = serde_json::from_str(shown.as_str()).expect("what was just written is JSON");
    telegram.world.keep(written.bot, &chat, message);
    let kind = if chat.kind == ChatKind::Channel { "channel_post" } else { "message" };
    telegram.push_update(now, written.bot, kind, &update)
}
