//! A crowd whose users somebody else plays: what they are to do comes in, and what came of it goes out, together with
//! every call of their bot that may answer one of them, in the order in which it happened here.
//!
//! Both ways are bounded and neither ever waits. Which call answers whom is for the player to say, not for the stub.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender};

use super::keyboards::Button;
use super::{By, Moment, Scene};
use crate::call::Call;
use crate::entities;
use crate::limits::Family;
use crate::shared::Shared;
use crate::telegram::Telegram;
use crate::world::Content;

/// What one user is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The caller's name for it; it comes back with what came of it.
    pub ticket: u32,
    /// Where: the user's own id, or a group's.
    pub chat: i64,
    /// Who.
    pub user: i64,
    /// What.
    pub gesture: Gesture,
}

/// What a user does towards a bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gesture {
    /// Writes a text; a command is a text that begins with a slash.
    Says(String),
    /// Taps the button of this label or callback data, on the last message with a keyboard that the bot sent into
    /// the chat. A button of a reply keyboard writes its label.
    Taps(String),
}

/// What the player of a crowd is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// An order was carried out: the update is on its way to the bot.
    Done(Done),
    /// There was no such button.
    NoButton {
        /// The order's.
        ticket: u32,
        /// When, since the epoch.
        at: Duration,
    },
    /// The bot was handed an update, by getUpdates or its webhook; it may be handed it again.
    Taken {
        /// Which.
        update_id: i64,
        /// When, since the epoch.
        at: Duration,
    },
    /// The bot made a call that users can see, and it was accepted.
    Called(BotCall),
}

/// An order that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The order's.
    pub ticket: u32,
    /// When, since the epoch.
    pub at: Duration,
    /// The message that was written, or whose button was tapped.
    pub message_id: i64,
    /// The id of the callback query, of a tap.
    pub callback_query_id: Option<i64>,
    /// The id of the update that the bot gets of it; nothing: it has said that it takes none of that kind, or its inbox
    /// is full.
    pub update_id: Option<i64>,
}

/// A call that may be an answer: an accepted `send*`, `copyMessage`, `forwardMessage`, edit or `answerCallbackQuery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotCall {
    /// When its head had arrived, since the epoch.
    pub begun: Duration,
    /// When it was accepted, since the epoch.
    pub at: Duration,
    /// The chat it names.
    pub chat: Option<i64>,
    /// The user it is shown to alone (`receiver_user_id`).
    pub user: Option<i64>,
    /// The callback query that it answers; `0` is no query of ours.
    pub callback_query_id: Option<i64>,
    /// The message that it replies to.
    pub reply_to: Option<i64>,
    /// The message that it edits.
    pub edits: Option<i64>,
}

/// The player's end. Dropping it sends the crowd home.
#[derive(Debug)]
pub struct Crowd {
    /// Takes orders.
    pub orders: Sender<Order>,
    /// Tells what came of them, and what the bot did.
    pub heard: Receiver<Heard>,
    /// What could not be told because `heard` was full.
    pub dropped: Arc<AtomicU64>,
}

/// The stub's end: who listens, and to which bot.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) bot: i64,
    pub(crate) to: Sender<Heard>,
    pub(crate) dropped: Arc<AtomicU64>,
}

impl Listener {
    /// Never waits: what finds no room is counted.
    fn tell(&self, heard: Heard) {
        if self.to.try_send(heard).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Passes on what the bot was handed.
    pub(crate) fn takes(&self, updates: impl IntoIterator<Item = i64>, at: Duration) {
        updates.into_iter().for_each(|update_id| self.tell(Heard::Taken { update_id, at }));
    }

    /// Passes on an accepted call, if it is one that users can see.
    pub(crate) fn hear(&self, call: &Call, at: Duration) {
        if call.bot == self.bot && is_seen(call) {
            self.tell(Heard::Called(described(call, at)));
        }
    }
}

/// Carries out orders until there can be no more.
pub(crate) async fn run(shared: Arc<Shared>, bot: i64, mut orders: Receiver<Order>) {
    while let Some(order) = orders.recv().await {
        let now = shared.clock.now();
        let at = Moment { now, date: shared.clock.unix(now), bot };
        carry_out(&mut shared.telegram(), at, order);
        shared.post.notify_one();
    }
    let mut telegram = shared.telegram();
    if telegram.listener.as_ref().is_some_and(|listener| listener.to.is_closed()) {
        telegram.listener = None;
    }
}

/// Under the lock that the bot's calls take too, so that no answer is told before what it answers.
fn carry_out(telegram: &mut Telegram, at: Moment, order: Order) {
    let ticket = order.ticket;
    let mut scene = Scene { telegram: &mut *telegram, at };
    let heard = match scene.gesture(order) {
        Some(done) => Heard::Done(done),
        None => Heard::NoButton { ticket, at: at.now },
    };
    if let Some(listener) = &telegram.listener {
        listener.tell(heard);
    }
}

impl Scene<'_> {
    /// Nothing: there is no such button.
    fn gesture(&mut self, order: Order) -> Option<Done> {
        let Order { ticket, chat, user, gesture } = order;
        let label = match gesture {
            Gesture::Says(text) => return Some(self.says(ticket, chat, user, &text)),
            Gesture::Taps(label) => label,
        };
        match self.button(chat, &label)? {
            Button::Writes => Some(self.says(ticket, chat, user, &label)),
            Button::Calls { message, data } => {
                let pressed = self.pressed(chat, user, message, By::Data(&data)).ok()?;
                Some(Done {
                    ticket,
                    at: self.at.now,
                    message_id: message,
                    callback_query_id: Some(pressed.query),
                    update_id: pressed.update.ok(),
                })
            }
        }
    }

    fn says(&mut self, ticket: u32, chat: i64, user: i64, text: &str) -> Done {
        let text = entities::read(text, None, None).expect("a text without a parse mode is always read");
        let (message_id, pushed) = self.written(chat, user, Content::Text(text));
        Done { ticket, at: self.at.now, message_id, callback_query_id: None, update_id: pushed.ok() }
    }
}

/// What users see of a bot: messages, changed messages, and that their tap was noticed. A chat action, a deletion or a
/// reaction is no answer.
fn is_seen(call: &Call) -> bool {
    match Family::of(call.method) {
        Family::Sends | Family::Edits => true,
        Family::Answers => call.method.name() == "answerCallbackQuery",
        Family::Deletes | Family::ChatActions | Family::Pins | Family::Reads | Family::Others => false,
    }
}

fn described(call: &Call, at: Duration) -> BotCall {
    let params = &call.params;
    let edits = if Family::of(call.method) == Family::Edits { params.integer("message_id") } else { None };
    BotCall {
        begun: call.begun,
        at,
        chat: call.chat(),
        user: params.integer("receiver_user_id"),
        callback_query_id: params.given("callback_query_id").map(|id| id.parse().unwrap_or(0)),
        reply_to: reply_to(call),
        edits,
    }
}

/// The message replied to, in the words of today or of before Bot API 7.0. One in another chat is none of this one's.
fn reply_to(call: &Call) -> Option<i64> {
    let Some(text) = call.params.given("reply_parameters") else { return call.params.integer("reply_to_message_id") };
    let reply: Value = serde_json::from_str(text).ok()?;
    let elsewhere = reply.get("chat_id").is_some_and(|chat| chat.as_i64() != call.chat());
    reply["message_id"].as_i64().filter(|_| !elsewhere)
}
