//! The steps that every new or changed message goes through.

use super::{Turn, copies, markup, members, trimmings};
use crate::answer::{Done, Json, Refusal};
use crate::journal::Sighting;
use crate::world::{Chat, Content, Fields, Found, Message, Shown, User};

impl Turn<'_> {
    /// Sends a new message into a chat.
    pub(super) fn send(&mut self, chat: &Chat, content: Content) -> Result<Done, Refusal> {
        self.send_with(chat, content, Box::default())
    }

    /// The same with fields beside its content.
    pub(super) fn send_with(&mut self, chat: &Chat, content: Content, beside: Fields) -> Result<Done, Refusal> {
        let draft = self.draft(chat)?;
        self.admit(Some(chat), 1)?;
        let id = self.telegram.world.next_id(self.call.bot, chat);
        self.accept(chat, Message { id, content, beside, ..draft })
    }

    /// A message with everything that the call says of it but its content.
    pub(super) fn draft(&mut self, chat: &Chat) -> Result<Message, Refusal> {
        if chat.id == self.call.bot {
            return Err(Refusal::forbidden("the bot can't send messages to the bot"));
        }
        members::must_be_let_write(self, chat)?;
        let markup = markup::read(&self.call.params)?;
        let thread = self.open_thread(chat)?;
        let reply_to = self.replied_to(chat)?;
        let blank = Message::new(0, User::Bot(self.call.bot), self.date, Content::Fields(Box::default()));
        Ok(Message { thread, reply_to, markup, ..blank })
    }

    /// Keeps a message that was sent or edited, tells who watches, and answers it.
    pub(super) fn accept(&mut self, chat: &Chat, message: Message) -> Result<Done, Refusal> {
        self.keep(chat, message, |shown| Done::of(shown))
    }

    /// The same for one of several messages.
    pub(super) fn place(&mut self, chat: &Chat, message: Message) -> Json {
        self.keep(chat, message, |shown| Json::of(shown))
    }

    fn keep<T>(&mut self, chat: &Chat, message: Message, show: impl FnOnce(&Shown<'_>) -> T) -> T {
        let message = trimmings::trimmed(self, chat, copies::protected(&self.call.params, message));
        self.sight(chat, &message);
        self.telegram.journal.sent(self.call.bot, chat.id, message.id);
        if let Some(keyboards) = &mut self.telegram.keyboards {
            keyboards.note(self.call.bot, chat.id, &message, self.call.params.given("reply_markup"));
        }
        let world = &mut self.telegram.world;
        let reply_to = message.reply_to.and_then(|id| match world.find(self.call.bot, chat, id) {
            Found::Message(replied) => Some(replied.clone()),
            Found::Forgotten | Found::Nowhere => None,
        });
        let shown = show(&Shown { people: &world.people, message: &message, chat, reply_to: reply_to.as_ref() });
        world.keep(self.call.bot, chat, message);
        shown
    }

    /// The topic that it goes into; one that is closed or gone takes nothing.
    fn open_thread(&mut self, chat: &Chat) -> Result<Option<i64>, Refusal> {
        let Some(thread) = self.call.params.integer("message_thread_id").filter(|id| *id > 0) else { return Ok(None) };
        let state = self.noted(chat.id, &format!("topic/{thread}")).unwrap_or_default();
        match state["state"].as_str() {
            Some("closed" | "hidden") => Err(Refusal::bad_request("TOPIC_CLOSED")),
            Some("deleted") => Err(Refusal::bad_request("message thread not found")),
            Some(_) | None => Ok(Some(thread)),
        }
    }

    /// The message replied to, in the words of today or of before Bot API 7.0.
    fn replied_to(&mut self, chat: &Chat) -> Result<Option<i64>, Refusal> {
        let reply = self.value("reply_parameters").unwrap_or_default();
        let id = reply["message_id"].as_i64().or_else(|| self.call.params.integer("reply_to_message_id"));
        let Some(id) = id.filter(|id| *id > 0) else { return Ok(None) };
        let elsewhere = reply.get("chat_id").is_some_and(|other| other.as_i64() != Some(chat.id));
        let may_be_gone =
            reply["allow_sending_without_reply"] == true || self.call.params.is_true("allow_sending_without_reply");
        match self.telegram.world.find(self.call.bot, chat, id) {
            Found::Message(_) | Found::Forgotten => Ok(Some(id)),
            Found::Nowhere if may_be_gone || elsewhere => Ok(None),
            Found::Nowhere => Err(Refusal::bad_request("message to be replied not found")),
        }
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
