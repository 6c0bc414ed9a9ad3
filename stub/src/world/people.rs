//! Users, bots and chats as they are shown: whoever nobody described has a name made of its id.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A `User`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Person(i64),
    Bot(i64),
}

impl User {
    /// The fields of every user, for objects that have more of them.
    pub(crate) fn show<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Person(id) => {
                map.serialize_entry("id", &id)?;
                map.serialize_entry("is_bot", &false)?;
                map.serialize_entry("first_name", &Name("User ", id, ""))
            }
            Self::Bot(id) => {
                map.serialize_entry("id", &id)?;
                map.serialize_entry("is_bot", &true)?;
                map.serialize_entry("first_name", &Name("Bot ", id, ""))?;
                map.serialize_entry("username", &Name("stub_", id, "_bot"))
            }
        }
    }
}

impl Serialize for User {
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
    /// The title that a bot has given it.
    pub(super) title: Option<Box<str>>,
}

impl Chat {
    /// The chat of that id.
    pub(crate) fn of(id: i64) -> Self {
        let kind = match id {
            1.. => ChatKind::Private,
            FIRST_SUPERGROUP..=0 => ChatKind::Group,
            _ => ChatKind::Supergroup,
        };
        Self { id, kind, username: None, title: None }
    }

    /// The supergroup of that number; its id is `-100` and the number.
    pub(crate) fn supergroup(number: i64) -> Self {
        Self::of(FIRST_SUPERGROUP - number)
    }

    /// The channel that a name stands for; its id is made of the name, so that it is the same every time.
    pub(crate) fn named(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let hash = lower.bytes().fold(0_i64, |hash, byte| (hash * 131 + i64::from(byte)) % 1_000_000_007);
        Self { id: FIRST_SUPERGROUP - 1 - hash, kind: ChatKind::Channel, username: Some(name.into()), title: None }
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
            (ChatKind::Private, _) => map.serialize_entry("first_name", &Name("User ", self.id, ""))?,
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, Some(title)) => {
                map.serialize_entry("title", title)?;
            }
            (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, None) => {
                map.serialize_entry("title", &Name("Group ", self.id, ""))?;
            }
        }
        if let Some(name) = &self.username {
            map.serialize_entry("username", name)?;
        }
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
