//! What exists: chats, their messages, files; as much of it as answers need, in bounded memory.
//!
//! A chat that nobody described exists once it is named. Private chats and basic groups take their message
//! ids from one counter of the bot, supergroups and channels from their own, as at Telegram.

mod avatar;
pub mod described;
mod facts;
mod files;
mod marked;
mod message;
mod people;
mod picture;
mod shelf;
mod sizes;
mod standing;

use std::sync::Arc;

pub(crate) use avatar::Side;
pub(crate) use described::{Directory, Rank};
pub(crate) use facts::Facts;
pub(crate) use files::{FileId, FileObject, Files, MOST_BYTES, Media, MediaKind};
pub(crate) use message::{Content, Fields, Message, Shown};
pub(crate) use people::{Chat, ChatKind, Named, User};
pub(crate) use picture::Sides;

pub(crate) use shelf::Shelf;
use standing::Standing;

use crate::ids::ById;

/// The world of all bots.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) files: Files,
    pub(crate) facts: Facts,
    pub(crate) standing: Standing,
    pub(crate) people: Arc<Directory>,
    titles: Shelf<i64, Box<str>>,
    met: Shelf<i64, ()>,
    next_ids: ById<Sequence, i64>,
    messages: Shelf<(Sequence, i64), Slot>,
}

/// A counter of message ids, and with it the space in which they are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sequence {
    /// All private chats and basic groups of a bot.
    Bot(i64),
    /// A supergroup or channel, the same for every bot in it.
    Chat(i64),
}

#[derive(Debug)]
enum Slot {
    Message { chat: i64, message: Box<Message> },
    Deleted,
}

/// What is known of a message.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    Message(&'a Message),
    /// It existed, but was not used for long and is not kept any more.
    Forgotten,
    /// It never was, or was deleted, or is in another chat.
    Nowhere,
}

/// Bytes for messages, all chats together.
const MOST_MESSAGES: usize = 12 << 20;
/// Whoever was set to be something in a chat, as a fact about it.
const MEMBERS: &str = "members";
/// Bytes for titles that bots have set.
const MOST_TITLES: usize = 4 << 20;
/// How many chats are known to have somebody in them.
const MOST_MET: usize = 200_000;
/// What the maps and allocations around a message cost, as the memory of 100,000 of them shows.
const SLOT: usize = 160;

impl World {
    pub(crate) fn new() -> Self {
        Self {
            files: Files::new(),
            facts: Facts::new(),
            standing: Standing::new(),
            people: Arc::default(),
            titles: Shelf::bounded(MOST_TITLES),
            met: Shelf::bounded(MOST_MET),
            next_ids: ById::default(),
            messages: Shelf::bounded(MOST_MESSAGES),
        }
    }

    /// The chat of that id, with the title it was given.
    pub(crate) fn chat(&mut self, id: i64) -> Chat {
        let chat = self.people.chat(id);
        match self.titles.get(&id) {
            Some(title) => Chat { title: Some(title.clone()), ..chat },
            None => chat,
        }
    }

    /// The channel or supergroup of that public name.
    pub(crate) fn chat_called(&mut self, name: &str) -> Chat {
        match self.people.called(name) {
            Some(id) => self.chat(id),
            None => Chat::named(name),
        }
    }

    /// Notes that somebody is in that chat.
    pub(crate) fn meet(&mut self, chat: i64) {
        self.met.insert(chat, (), 1);
    }

    pub(crate) fn was_met(&mut self, chat: i64) -> bool {
        self.people.has_chat(chat) || self.met.get(&chat).is_some()
    }

    pub(crate) fn set_title(&mut self, chat: i64, title: &str) {
        self.titles.insert(chat, title.into(), 96 + title.len());
    }

    /// Remembers that somebody was set to be something in a chat.
    pub(crate) fn note_member(&mut self, chat: i64, id: i64) {
        let mut noted = self.noted_members(chat);
        if !noted.contains(&id) {
            noted.push(id);
            self.facts.set(chat, MEMBERS, &serde_json::json!(noted));
        }
    }

    /// Whoever was.
    pub(crate) fn noted_members(&mut self, chat: i64) -> Vec<i64> {
        self.facts.get(chat, MEMBERS).and_then(|noted| serde_json::from_value(noted).ok()).unwrap_or_default()
    }

    /// The id of the next message of that chat.
    pub(crate) fn next_id(&mut self, bot: i64, chat: &Chat) -> i64 {
        let sequence = Sequence::of(bot, chat);
        let next = self.next_ids.entry(sequence).or_insert(sequence.before_the_first());
        *next += 1;
        *next
    }

    /// Keeps a message, in place of the one that had its id.
    pub(crate) fn keep(&mut self, bot: i64, chat: &Chat, message: Message) {
        let weight = message.weight() + SLOT;
        let key = (Sequence::of(bot, chat), message.id);
        self.messages.insert(key, Slot::Message { chat: chat.id, message: Box::new(message) }, weight);
    }

    pub(crate) fn find(&mut self, bot: i64, chat: &Chat, id: i64) -> Found<'_> {
        let sequence = Sequence::of(bot, chat);
        let last = self.next_ids.get(&sequence).copied().unwrap_or(0);
        match self.messages.get(&(sequence, id)) {
            Some(Slot::Message { chat: of, message }) if *of == chat.id => Found::Message(message),
            None if (1..=last).contains(&id) => Found::Forgotten,
            Some(Slot::Message { .. } | Slot::Deleted) | None => Found::Nowhere,
        }
    }

    /// Remembers that a message is gone.
    pub(crate) fn delete(&mut self, bot: i64, chat: &Chat, id: i64) {
        self.messages.insert((Sequence::of(bot, chat), id), Slot::Deleted, SLOT);
    }
}

impl Sequence {
    /// In a supergroup the first message, and the general topic with it, is that of its creation.
    fn before_the_first(self) -> i64 {
        match self {
            Self::Bot(_) => 0,
            Self::Chat(_) => 1,
        }
    }

    fn of(bot: i64, chat: &Chat) -> Self {
        match chat.kind {
            ChatKind::Private | ChatKind::Group => Self::Bot(bot),
            ChatKind::Supergroup | ChatKind::Channel => Self::Chat(chat.id),
        }
    }
}
