//! One call being answered: its parameters in the types that methods think in, and the steps they share.

use std::time::Duration;

use serde_json::Value;

use crate::answer::Refusal;
use crate::call::Call;
use crate::entities::{self, Formatted};
use crate::telegram::{Patience, Telegram};
use crate::updates::Inbox;
use crate::users::Moment;
use crate::world::Chat;

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
    pub(super) fn chat(&mut self) -> Result<Chat, Refusal> {
        self.chat_in("chat_id")
    }

    pub(super) fn chat_in(&mut self, parameter: &str) -> Result<Chat, Refusal> {
        // Whichever parameter it is: the server says it in the same words of all of them (`check_chat` in `Client.cpp`).
        let text = self.call.params.given(parameter).ok_or_else(|| Refusal::bad_request("chat_id is empty"))?;
        if let Some(name) = text.strip_prefix('@') {
            let chat = self.telegram.world.chat_called(name);
            let is_there = !name.is_empty() && self.is_there(chat.id);
            return if is_there { Ok(chat) } else { Err(Refusal::bad_request("chat not found")) };
        }
        match text.trim().parse::<i64>() {
            Ok(id) if id != 0 && self.is_there(id) => self.current(id),
            Ok(_) | Err(_) => Err(Refusal::bad_request("chat not found")),
        }
    }

    /// A group that became a supergroup is no chat any more.
    fn current(&mut self, chat: i64) -> Result<Chat, Refusal> {
        match self.telegram.world.standing.supergroup_of(chat) {
            Some(supergroup) => Err(Refusal::upgraded(supergroup)),
            None => Ok(self.telegram.world.chat(chat)),
        }
    }

    fn is_there(&mut self, chat: i64) -> bool {
        !self.telegram.refuses_unknown_chats() || self.telegram.world.was_met(chat)
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

    /// A parameter that has to be there.
    pub(super) fn required(&self, parameter: &str) -> Result<&str, Refusal> {
        let missing = || Refusal::bad_request(format!("parameter \"{parameter}\" is required"));
        self.call.params.given(parameter).ok_or_else(missing)
    }

    /// A parameter that is an object or a list.
    pub(super) fn value(&self, parameter: &str) -> Option<Value> {
        serde_json::from_str(self.call.params.given(parameter)?).ok()
    }

    /// A parameter as the kind of JSON value that it looks like.
    pub(super) fn plain(&self, parameter: &str) -> Option<Value> {
        let text = self.call.params.given(parameter)?;
        Some(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
    }

    /// When and for which bot something is done.
    pub(super) fn moment(&self) -> Moment {
        Moment { now: self.now, date: self.date, bot: self.call.bot }
    }

    /// Notes a fact about a bot or a chat.
    pub(super) fn note(&mut self, owner: i64, name: &str, value: &Value) {
        self.telegram.world.facts.set(owner, name, value);
    }

    /// What was noted.
    pub(super) fn noted(&mut self, owner: i64, name: &str) -> Option<Value> {
        self.telegram.world.facts.get(owner, name)
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
