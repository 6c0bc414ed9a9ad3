//! One call being answered: its parameters in the types that methods think in, and the steps they share.

use std::time::Duration;

use serde_json::Value;

use super::markup;
use crate::answer::{Done, Refusal};
use crate::call::Call;
use crate::entities::{self, Formatted};
use crate::journal::Sighting;
use crate::telegram::{Patience, Telegram};
use crate::updates::Inbox;
use crate::world::{Chat, Content, Found, Message, Shown, User};

/// A call and everything it may touch.
pub(crate) struct Turn<'a> {
    pub(crate) call: &'a Call,
    pub(crate) telegram: &'a mut Telegram,
    pub(crate) now: Duration,
    /// The Unix second.
    pub(crate) date: i64,
    /// How long it may wait in place of being refused.
    pub(crate) patience: Patience,
    /// It has to wait for so many seconds, and to be tried again then.
    pub(crate) held: Option<u32>,
}

/// Longest text of a message and of a caption, in characters
/// (<https://core.telegram.org/bots/api#sendmessage>, `#sendphoto`).
const LONGEST_TEXT: usize = 4096;
const LONGEST_CAPTION: usize = 1024;
const CAPTION_TOO_LONG: &str = "message caption is too long";
/// Before entities are read, texts are held to this many bytes (`Client.cpp`).
const LONGEST_RAW: usize = 32_768;

impl Turn<'_> {
    /// The chat that `chat_id` names.
    pub(super) fn chat(&self) -> Result<Chat, Refusal> {
        self.chat_in("chat_id")
    }

    pub(super) fn chat_in(&self, parameter: &str) -> Result<Chat, Refusal> {
        let text =
            self.call.params.given(parameter).ok_or_else(|| Refusal::bad_request(format!("{parameter} is empty")))?;
        if let Some(name) = text.strip_prefix('@') {
            return if name.is_empty() { Err(Refusal::bad_request("chat not found")) } else { Ok(Chat::named(name)) };
        }
        match text.trim().parse::<i64>() {
            Ok(id) if id != 0 => Ok(Chat::of(id)),
            Ok(_) | Err(_) => Err(Refusal::bad_request("chat not found")),
        }
    }

    /// The text of a message.
    pub(super) fn message_text(&self) -> Result<Formatted, Refusal> {
        let text = self.formatted("text", LONGEST_TEXT, "message is too long")?;
        if text.text.is_empty() { Err(Refusal::bad_request("message text is empty")) } else { Ok(text) }
    }

    /// The caption under a media; it may be empty.
    pub(super) fn caption(&self) -> Result<Formatted, Refusal> {
        self.formatted("caption", LONGEST_CAPTION, CAPTION_TOO_LONG)
    }

    /// A list that came as JSON text.
    pub(super) fn list<T: serde::de::DeserializeOwned>(&self, parameter: &str) -> Option<Vec<T>> {
        serde_json::from_str(self.call.params.given(parameter)?).ok()
    }

    fn formatted(&self, parameter: &str, longest: usize, too_long: &str) -> Result<Formatted, Refusal> {
        let params = &self.call.params;
        let given = params.given(if parameter == "text" { "entities" } else { "caption_entities" });
        let text = params.text(parameter).unwrap_or_default();
        read_formatted(text, params.given("parse_mode"), given, Longest(longest, too_long))
    }

    /// The updates that wait for the bot.
    pub(super) fn inbox(&mut self) -> &mut Inbox {
        self.telegram.inboxes.met(self.call.bot)
    }

    /// Sends a new message into a chat.
    pub(super) fn send(&mut self, chat: &Chat, content: Content) -> Result<Done, Refusal> {
        let markup = markup::read(&self.call.params)?;
        self.admit(Some(chat), 1)?;
        let message = Message {
            id: self.telegram.world.next_id(self.call.bot, chat),
            from: User::Bot(self.call.bot),
            date: self.date,
            edited: None,
            thread: self.call.params.integer("message_thread_id"),
            reply_to: self.replied_to(),
            content,
            markup,
        };
        self.accept(chat, message)
    }

    /// Keeps a message that was sent or edited, tells who watches, and answers it.
    pub(super) fn accept(&mut self, chat: &Chat, message: Message) -> Result<Done, Refusal> {
        self.sight(chat, &message);
        let world = &mut self.telegram.world;
        let reply_to = message.reply_to.and_then(|id| match world.find(self.call.bot, chat, id) {
            Found::Message(replied) => Some(replied.clone()),
            Found::Forgotten | Found::Nowhere => None,
        });
        let done = Done::of(&Shown { message: &message, chat, reply_to: reply_to.as_ref() });
        world.keep(self.call.bot, chat, message);
        done
    }

    /// The message replied to, in the words of today or of before Bot API 7.0.
    fn replied_to(&self) -> Option<i64> {
        let today = self.call.params.given("reply_parameters").and_then(|text| {
            let reply: Value = serde_json::from_str(text).ok()?;
            reply["message_id"].as_i64()
        });
        today.or_else(|| self.call.params.integer("reply_to_message_id"))
    }

    fn sight(&mut self, chat: &Chat, message: &Message) {
        let Some(text) = message.text().filter(|text| !text.text.is_empty() && self.telegram.journal.is_watched())
        else {
            return;
        };
        self.telegram.journal.sighted(&Sighting {
            begun: self.call.begun,
            at: self.now,
            bot: self.call.bot,
            chat: chat.id,
            message_id: message.id,
            text: text.text.to_string(),
        });
    }
}

/// The caption of an `InputMedia`.
pub(super) fn caption_of(input: &Value) -> Result<Formatted, Refusal> {
    let given = input.get("caption_entities").map(Value::to_string);
    let longest = Longest(LONGEST_CAPTION, CAPTION_TOO_LONG);
    read_formatted(
        input["caption"].as_str().unwrap_or_default(),
        input["parse_mode"].as_str(),
        given.as_deref(),
        longest,
    )
}

/// How many characters a text may have, and what is said of one that has more.
#[derive(Clone, Copy)]
struct Longest<'a>(usize, &'a str);

fn read_formatted(
    text: &str,
    parse_mode: Option<&str>,
    given: Option<&str>,
    longest: Longest<'_>,
) -> Result<Formatted, Refusal> {
    if text.len() > LONGEST_RAW {
        return Err(Refusal::bad_request("text is too long"));
    }
    let read = entities::read(text, parse_mode, given).map_err(Refusal::bad_request)?;
    if read.text.len() > longest.0 && read.text.chars().count() > longest.0 {
        return Err(Refusal::bad_request(longest.1));
    }
    Ok(read)
}
