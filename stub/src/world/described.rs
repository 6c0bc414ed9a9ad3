//! A world that somebody described beforehand: bots, users and chats with names, members and rights of their own.
//! Whoever is not described is still there once it is named, with a name made of its id.
//!
//! It is read once and never forgotten, unlike what bots set later: that lies over it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::people::{Chat, ChatKind, User};
use crate::limits::UnknownChats;

/// What a `--world` file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Described {
    /// What a chat is that is neither described nor was written in; it wins over the key of the same name of the
    /// ceilings.
    pub unknown_chats: Option<UnknownChats>,
    /// Bots.
    #[serde(default, rename = "bot")]
    pub bots: Vec<DescribedBot>,
    /// Users.
    #[serde(default, rename = "user")]
    pub users: Vec<DescribedUser>,
    /// Groups, supergroups and channels.
    #[serde(default, rename = "chat")]
    pub chats: Vec<DescribedChat>,
}

/// A bot.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct DescribedBot {
    /// The number that its token begins with.
    pub id: i64,
    /// Its name.
    pub name: Option<String>,
    /// Its user name, without the `@`.
    pub username: Option<String>,
    /// Whether it may be added to groups; true unless it says otherwise.
    #[serde(default = "yes")]
    pub can_join_groups: bool,
    /// Whether its privacy mode is off.
    #[serde(default)]
    pub can_read_all_group_messages: bool,
    /// Whether it answers inline queries.
    #[serde(default)]
    pub supports_inline_queries: bool,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct DescribedUser {
    /// Positive.
    pub id: i64,
    /// The first name.
    pub name: String,
    /// The last name.
    pub last_name: Option<String>,
    /// The user name, without the `@`.
    pub username: Option<String>,
    /// An IETF language tag, such as `en`.
    pub language: Option<String>,
    /// Whether the user has Telegram Premium.
    #[serde(default)]
    pub premium: bool,
}

/// A group, supergroup or channel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct DescribedChat {
    /// A group's is negative, a supergroup's and a channel's begins with -100.
    pub id: i64,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: DescribedKind,
    /// Its title.
    pub title: String,
    /// Its public name, without the `@`.
    pub username: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// Users and bots in it, by id, beside its administrators.
    #[serde(default)]
    pub members: Vec<i64>,
    /// Its administrators, users and bots, by id.
    #[serde(default)]
    pub admins: Vec<i64>,
    /// How long a member who is no administrator waits between two messages.
    #[serde(default, with = "humantime_serde::option")]
    pub slow_mode: Option<Duration>,
}

/// What a described chat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DescribedKind {
    /// A basic group.
    Group,
    /// A supergroup.
    Supergroup,
    /// A channel.
    Channel,
}

fn yes() -> bool {
    true
}

/// What somebody is in a described chat before anything changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    Administrator,
    Member,
    Outside,
}

/// The described world, ready to be looked things up in.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    bots: HashMap<i64, DescribedBot>,
    users: HashMap<i64, DescribedUser>,
    chats: HashMap<i64, Place>,
    /// Public names in lower case.
    names: HashMap<String, i64>,
}

#[derive(Debug)]
struct Place {
    chat: DescribedChat,
    admins: HashSet<i64>,
    members: HashSet<i64>,
}

impl Directory {
    pub(crate) fn of(described: Described) -> Self {
        let Described { unknown_chats: _, bots, users, chats } = described;
        let name = |chat: &DescribedChat| Some((chat.username.as_ref()?.to_lowercase(), chat.id));
        Self {
            names: chats.iter().filter_map(name).collect(),
            bots: bots.into_iter().map(|bot| (bot.id, bot)).collect(),
            users: users.into_iter().map(|user| (user.id, user)).collect(),
            chats: chats.into_iter().map(|chat| (chat.id, Place::of(chat))).collect(),
        }
    }

    pub(crate) fn bot(&self, id: i64) -> Option<&DescribedBot> {
        self.bots.get(&id)
    }

    pub(crate) fn user(&self, id: i64) -> Option<&DescribedUser> {
        self.users.get(&id)
    }

    /// The group, supergroup or channel of that id.
    pub(crate) fn described(&self, chat: i64) -> Option<&DescribedChat> {
        self.chats.get(&chat).map(|place| &place.chat)
    }

    /// Whether a chat of that id is there though nobody wrote in it.
    pub(crate) fn has_chat(&self, id: i64) -> bool {
        self.chats.contains_key(&id) || self.users.contains_key(&id)
    }

    /// The chat with that public name.
    pub(crate) fn called(&self, name: &str) -> Option<i64> {
        if self.names.is_empty() { None } else { self.names.get(&name.to_lowercase()).copied() }
    }

    /// The chat of that id, as it was described.
    pub(crate) fn chat(&self, id: i64) -> Chat {
        let plain = Chat::of(id);
        if let Some(user) = self.users.get(&id) {
            let (title, last_name) = (Some(user.name.as_str().into()), user.last_name.as_deref().map(Into::into));
            return Chat { title, last_name, username: user.username.as_deref().map(Into::into), ..plain };
        }
        let Some(Place { chat, .. }) = self.chats.get(&id) else { return plain };
        let kind = match chat.kind {
            DescribedKind::Group => ChatKind::Group,
            DescribedKind::Supergroup => ChatKind::Supergroup,
            DescribedKind::Channel => ChatKind::Channel,
        };
        let (title, username) = (Some(chat.title.as_str().into()), chat.username.as_deref().map(Into::into));
        Chat { kind, username, title, ..plain }
    }

    /// What a user or bot is in a chat; none: nothing is said of it. A bot that is not described is anywhere.
    pub(crate) fn rank(&self, chat: i64, user: User) -> Option<Rank> {
        let place = self.chats.get(&chat)?;
        let (id, is_known) = match user {
            User::Person(id) => (id, true),
            User::Bot(id) => (id, self.bots.contains_key(&id)),
        };
        if place.admins.contains(&id) {
            Some(Rank::Administrator)
        } else if place.members.contains(&id) {
            Some(Rank::Member)
        } else {
            is_known.then_some(Rank::Outside)
        }
    }

    /// Everybody in a described chat, administrators first.
    pub(crate) fn within(&self, chat: i64) -> Vec<i64> {
        let Some(Place { chat, admins, .. }) = self.chats.get(&chat) else { return Vec::new() };
        let members = chat.members.iter().filter(|id| !admins.contains(id));
        chat.admins.iter().chain(members).copied().collect()
    }

    /// Whether that id is a bot's.
    pub(crate) fn whose(&self, id: i64) -> User {
        if self.bots.contains_key(&id) { User::Bot(id) } else { User::Person(id) }
    }

    /// A user with the names that it was described with.
    pub(crate) fn show(&self, user: User) -> Value {
        json!(self.named(user))
    }
}

impl Place {
    fn of(chat: DescribedChat) -> Self {
        Self { admins: chat.admins.iter().copied().collect(), members: chat.members.iter().copied().collect(), chat }
    }
}
