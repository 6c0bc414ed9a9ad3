//! Users, bots and chats as they are shown: whoever nobody described has a name made of its id.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::described::{DescribedUser, Directory};
use super::message::entry;

/// A `User`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Person(i64),
    Bot(i64),
}

/// A user with the names of the directory, or those made of its id.
pub(crate) struct Named<'a>(&'a Directory, User);

impl Directory {
    pub(crate) fn named(&self, user: User) -> Named<'_> {
        Named(self, user)
    }
}

impl Named<'_> {
    /// The fields of every user, for objects that have more of them.
    pub(crate) fn show<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self(people, user) = self;
        match user {
            User::Person(id) => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("is_bot", &false)?;
                match people.user(*id) {
                    Some(described) => person(described, map),
                    None => map.serialize_entry("first_name", &Name("User ", *id, "")),
                }
            }
            User::Bot(id) => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("is_bot", &true)?;
                let described = people.bot(*id);
                match described.and_then(|bot| bot.name.as_ref()) {
                    Some(name) => map.serialize_entry("first_name", name)?,
                    None => map.serialize_entry("first_name", &Name("Bot ", *id, ""))?,
                }
                match described.and_then(|bot| bot.username.as_ref()) {
                    Some(name) => map.serialize_entry("username", name),
                    None => map.serialize_entry("username", &Name("stub_", *id, "_bot")),
                }
            }
        }
    }
}

fn person<M: SerializeMap>(user: &DescribedUser, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("first_name", &user.name)?;
    entry(map, "last_name", user.last_name.as_ref())?;
    entry(map, "username", user.username.as_ref())?;
    entry(map, "language_code", user.language.as_ref())?;
    entry(map, "is_premium", user.premium.then_some(true))
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.show(&mut map)?;
        map.end()
    }
}

/// A name made of an id, written without being built.
struct Name(&'static str, i64, &'static str);

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}{}{}", self.0, self.1, self.2))
    }
}

/// What kind of chat an id names; basic groups, supergroups and channels have ranges of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChatKind {
    Private,
    Group,
    Supergroup,
    Channel,
}

/// Ids of supergroups and channels lie below this one (`-100…`).
const FIRST_SUPERGROUP: i64 = -1_000_000_000_000;

/// A `Chat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    pub(crate) kind: ChatKind,
    /// The name by which it was called, if it was.
    pub(super) username: Option<Box<str>>,
    /// The title that it was described with, or that a bot has given it; the first name of a described user.
    pub(super) title: Option<Box<str>>,
    /// The last name of a described user.
    pub(super) last_name: Option<Box<str>>,
}

impl Chat {
    /// The chat of that id.
    pub(crate) fn of(id: i64) -> Self {
        let kind = match id {
            1.. => ChatKind::Private,
            FIRST_SUPERGROUP..=0 => ChatKind::Group,
            _ => ChatKind::Supergroup,
        };
        Self { id, kind, username: None, title: None, last_name: None }
    }

    /// The supergroup of that number; its id is `-100` and the number.
    pub(crate) fn supergroup(number: i64) -> Self {
        Self::of(FIRST_SUPERGROUP - number)
    }

    /// The channel that a name stands for; its id is made of the name, so that it is the same every time.
    pub(crate) fn named(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let hash = lower.bytes().fold(0_i64, |hash, byte| (hash * 131 + i64::from(byte)) % 1_000_000_007);
        let (id, username) = (FIRST_SUPERGROUP - 1 - hash, Some(name.into()));
        Self { id, kind: ChatKind::Channel, username, title: None, last_name: None }
    }
}

impl Chat {
    /// The title that it was given.
    pub(crate) fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The fields of every chat, for objects that have more of them.
    pub(crate) fn show<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("id", &self.id)?;
        match (self.kind, self.title.as_ref().or(self.username.as_ref())) {
            (ChatKind::Private, _) => match &self.title {
                Some(name) => map.serialize_entry("first_name", name)?,
                None => map.serialize_entry("first_name", &Name("User ", self.id, ""))?,
            },
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, Some(title)) => {
                map.serialize_entry("title", title)?;
            }
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, None) => {
                map.serialize_entry("title", &Name("Group ", self.id, ""))?;
            }
        }
        entry(map, "last_name", self.last_name.as_ref())?;
        entry(map, "username", self.username.as_ref())?;
        map.serialize_entry("type", &self.kind)
    }
}

impl Serialize for Chat {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.show(&mut map)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_an_id_tells_the_kind_of_chat() {
        let kind = |id| Chat::of(id).kind;
        assert_eq!((kind(5), kind(-5)), (ChatKind::Private, ChatKind::Group));
        assert_eq!((kind(-999_999_999_999), kind(-1_000_000_000_001)), (ChatKind::Group, ChatKind::Supergroup));
    }

    #[test]
    fn a_name_is_the_same_channel_in_any_case() {
        assert_eq!(Chat::named("Puzzles").id, Chat::named("puzzles").id);
        assert_ne!(Chat::named("puzzles").id, Chat::named("riddles").id);
    }
}
