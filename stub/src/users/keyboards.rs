//! What a user of each chat has under their thumbs: the last keyboard that a bot sent into it. Kept only where somebody
//! plays a crowd; the chats unused for longest are forgotten first.

use serde_json::Value;

use super::Scene;
use crate::world::{Found, Message, Shelf};

/// How many chats are remembered.
const MOST: usize = 200_000;

/// The last keyboard of each chat of each bot.
#[derive(Debug)]
pub(crate) struct Keyboards(Shelf<(i64, i64), Keyboard>);

/// Where a keyboard is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Keyboard {
    /// Under this message.
    Under(i64),
    /// In place of the user's own: the labels.
    InPlace(Box<[Box<str>]>),
}

/// What a button does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Button {
    /// It writes its own label.
    Writes,
    /// It sends a callback query.
    Calls { message: i64, data: String },
}

impl Keyboards {
    pub(crate) fn none() -> Self {
        Self(Shelf::bounded(MOST))
    }

    /// Notes what a message that was sent or edited brought, if it brought a keyboard; `markup` is the call's own.
    pub(crate) fn note(&mut self, bot: i64, chat: i64, message: &Message, markup: Option<&str>) {
        let keyboard = if message.markup.is_some() {
            Some(Keyboard::Under(message.id))
        } else {
            markup.filter(|markup| markup.contains("\"keyboard\"")).and_then(in_place)
        };
        if let Some(keyboard) = keyboard {
            self.0.insert((bot, chat), keyboard, 1);
        }
    }
}

fn in_place(markup: &str) -> Option<Keyboard> {
    let markup: Value = serde_json::from_str(markup).ok()?;
    let buttons = markup["keyboard"].as_array()?.iter().filter_map(Value::as_array).flatten();
    // A button is a text, or an object that holds one.
    let labels = buttons.filter_map(|button| button.as_str().or_else(|| button["text"].as_str()));
    Some(Keyboard::InPlace(labels.map(Box::from).collect()))
}

impl Scene<'_> {
    /// The button of that label, or with that callback data, on the last keyboard of the chat.
    pub(super) fn button(&mut self, chat: i64, label: &str) -> Option<Button> {
        let bot = self.at.bot;
        match self.telegram.keyboards.as_mut()?.0.get(&(bot, chat))?.clone() {
            Keyboard::InPlace(labels) => labels.iter().any(|known| **known == *label).then_some(Button::Writes),
            Keyboard::Under(message) => {
                let chat = self.telegram.world.chat(chat);
                let Found::Message(found) = self.telegram.world.find(bot, &chat, message) else { return None };
                data_where(found, |button| button["text"] == label || button["callback_data"] == label)
                    .map(|data| Button::Calls { message, data })
            }
        }
    }
}

/// The callback data of the first button under a message that is so.
pub(super) fn data_where(message: &Message, is: impl Fn(&Value) -> bool) -> Option<String> {
    let markup = message.markup.as_ref()?.value();
    let mut buttons = markup["inline_keyboard"].as_array()?.iter().filter_map(Value::as_array).flatten();
    buttons.find(|button| is(button))?["callback_data"].as_str().map(str::to_owned)
}
