//! What the users of the stub's world do: they write, press, ask, join, pay, and a bot gets an update of it.

pub(crate) mod checkout;
pub(crate) mod crowd;
mod doors;
pub(crate) mod keyboards;

use std::time::Duration;

use checkout::Basket;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Json;
use crate::entities;
use crate::stub::NotPushed;
use crate::telegram::Telegram;
use crate::world::{Chat, ChatKind, Content, Directory, Found, Message, Shown, User};

/// One thing that a user does. Chats and users are made when they are new.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the Bot API")]
pub enum UserAction {
    /// Writes a text; a command is a text that begins with a slash.
    Message { chat_id: i64, user_id: i64, text: String },
    /// Presses a button of a message, by its data or by its label.
    Callback { chat_id: i64, user_id: i64, message_id: i64, data: Option<String>, label: Option<String> },
    /// Types the bot's name and a query.
    Inline { user_id: i64, query: String },
    /// Sends what a Mini App opened by a keyboard button hands over.
    WebAppData { user_id: i64, button_text: String, data: String },
    /// Comes into a group.
    Join { chat_id: i64, user_id: i64 },
    /// Leaves a group.
    Leave { chat_id: i64, user_id: i64 },
    /// Blocks the bot.
    Block { user_id: i64 },
    /// Takes that back.
    Unblock { user_id: i64 },
    /// Removes the bot from a group.
    Kick { chat_id: i64, user_id: i64 },
    /// Takes the bot into a group.
    Add { chat_id: i64, user_id: i64 },
    /// Lets a basic group become a supergroup.
    Migrate { chat_id: i64, user_id: i64 },
    /// Confirms an invoice: the bot is asked, and what is paid if it agrees comes as a message.
    Payment { chat_id: i64, user_id: i64, currency: String, total_amount: i64, payload: String },
}

/// When and to which bot something is done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Duration,
    pub(crate) date: i64,
    pub(crate) bot: i64,
}

/// Does it; the id of the update. What was done stands even when the bot takes no update of it.
pub(crate) fn act(telegram: &mut Telegram, at: Moment, action: &UserAction) -> Result<i64, NotPushed> {
    let mut scene = Scene { telegram, at };
    match action {
        UserAction::Message { chat_id, user_id, text } => {
            let text = entities::read(text, None, None).expect("a text without a parse mode is always read");
            scene.message(*chat_id, *user_id, Content::Text(text))
        }
        UserAction::Callback { chat_id, user_id, message_id, data, label } => {
            let by = match (data, label) {
                (Some(data), _) => By::Data(data),
                (None, label) => By::Label(label.as_deref().ok_or(NotPushed::NoButton)?),
            };
            scene.press(*chat_id, *user_id, *message_id, by)
        }
        UserAction::Inline { user_id, query } => {
            let id = scene.fresh_id();
            let query = json!({ "id": id, "from": scene.person(*user_id), "query": query, "offset": "" });
            scene.push("inline_query", &query)
        }
        UserAction::WebAppData { user_id, button_text, data } => {
            scene.service(*user_id, *user_id, "web_app_data", &json!({ "data": data, "button_text": button_text }))
        }
        UserAction::Join { chat_id, user_id } => {
            scene.note_member(*chat_id, *user_id, "member");
            scene.service(*chat_id, *user_id, "new_chat_members", &json!([scene.person(*user_id)]))
        }
        UserAction::Leave { chat_id, user_id } => {
            scene.note_member(*chat_id, *user_id, "left");
            scene.service(*chat_id, *user_id, "left_chat_member", &scene.person(*user_id))
        }
        UserAction::Block { user_id } => scene.block(*user_id),
        UserAction::Unblock { user_id } => scene.unblock(*user_id),
        UserAction::Kick { chat_id, user_id } => scene.kick(*chat_id, *user_id),
        UserAction::Add { chat_id, user_id } => scene.add(*chat_id, *user_id),
        UserAction::Migrate { chat_id, user_id } => scene.migrate(*chat_id, *user_id),
        UserAction::Payment { chat_id, user_id, currency, total_amount, payload } => scene.pay(Basket {
            chat: *chat_id,
            user: *user_id,
            currency: currency.clone(),
            total: *total_amount,
            payload: payload.clone(),
            shipping: None,
        }),
    }
}

/// Tells a bot what it was in a chat and what it made of itself there.
pub(crate) fn tell_standing(
    telegram: &mut Telegram,
    at: Moment,
    chat: &Chat,
    members: [Value; 2],
) -> Result<i64, NotPushed> {
    Scene { telegram, at }.stand_by(chat, User::Bot(at.bot), members)
}

/// How the button that is pressed is told apart from others.
#[derive(Clone, Copy)]
enum By<'a> {
    Data(&'a str),
    Label(&'a str),
}

/// A button that was pressed.
struct Pressed {
    /// The id of the callback query.
    query: i64,
    update: Result<i64, NotPushed>,
}

struct Scene<'a> {
    telegram: &'a mut Telegram,
    at: Moment,
}

impl Scene<'_> {
    fn push(&mut self, kind: &'static str, update: &Value) -> Result<i64, NotPushed> {
        self.telegram.push_update(self.at.now, self.at.bot, kind, update).ok_or(NotPushed::Unwanted)
    }

    fn person(&self, id: i64) -> Value {
        self.telegram.world.people.show(User::Person(id))
    }

    fn fresh_id(&mut self) -> String {
        self.telegram.chance(1..=i64::MAX).to_string()
    }

    /// A message whose content is one field.
    fn service(&mut self, chat: i64, user: i64, field: &'static str, value: &Value) -> Result<i64, NotPushed> {
        self.message(chat, user, Content::Fields(Box::new([(field, Json::of(value))])))
    }

    fn message(&mut self, chat: i64, user: i64, content: Content) -> Result<i64, NotPushed> {
        self.written(chat, user, content).1
    }

    /// The message's id, and what became of the update.
    fn written(&mut self, chat: i64, user: i64, content: Content) -> (i64, Result<i64, NotPushed>) {
        let (bot, world) = (self.at.bot, &mut self.telegram.world);
        world.meet(chat);
        let chat = world.chat(chat);
        let message = Message::new(world.next_id(bot, &chat), User::Person(user), self.at.date, content);
        let (id, update) = (message.id, shown(&world.people, &chat, &message));
        world.keep(bot, &chat, message);
        let kind = if chat.kind == ChatKind::Channel { "channel_post" } else { "message" };
        (id, self.push(kind, &update))
    }

    fn press(&mut self, chat: i64, user: i64, message: i64, by: By<'_>) -> Result<i64, NotPushed> {
        self.pressed(chat, user, message, by)?.update
    }

    /// A button that is not there cannot be pressed, so that no update comes of it.
    fn pressed(&mut self, chat: i64, user: i64, message: i64, by: By<'_>) -> Result<Pressed, NotPushed> {
        let (bot, world) = (self.at.bot, &mut self.telegram.world);
        let (chat, people) = (world.chat(chat), world.people.clone());
        let Found::Message(message) = world.find(bot, &chat, message) else { return Err(NotPushed::NoButton) };
        let data = match by {
            By::Data(data) => data.to_owned(),
            By::Label(label) => {
                keyboards::data_where(message, |button| button["text"] == label).ok_or(NotPushed::NoButton)?
            }
        };
        let message = shown(&people, &chat, message);
        let id = self.telegram.chance(1..=i64::MAX);
        let query = json!({
            "id": id.to_string(), "from": self.person(user), "message": message,
            "chat_instance": chat.id.to_string(), "data": data,
        });
        Ok(Pressed { query: id, update: self.push("callback_query", &query) })
    }

    fn note_member(&mut self, chat: i64, user: i64, status: &str) {
        self.telegram.world.facts.set(chat, &format!("member/{user}"), &json!({ "status": status }));
    }
}

fn shown(people: &Directory, chat: &Chat, message: &Message) -> Value {
    Json::of(&Shown { people, message, chat, reply_to: None }).value()
}
