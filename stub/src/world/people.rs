//! Users, bots and chats as they are shown: whoever nobody described has a name made of its id.

use serde::Serialize;

/// A `User`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct User {
    pub(crate) id: i64,
    pub(crate) is_bot: bool,
    pub(crate) first_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<String>,
}

impl User {
    pub(crate) fn person(id: i64) -> Self {
        Self { id, is_bot: false, first_name: format!("User {id}"), username: None }
    }

    pub(crate) fn bot(id: i64) -> Self {
        Self { id, is_bot: true, first_name: format!("Bot {id}"), username: Some(format!("stub_{id}_bot")) }
    }
}

/// What kind of chat an id names; basic groups, supergroups and channels have ranges of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: ChatKind,
}

impl Chat {
    /// The chat of that id.
    pub(crate) fn of(id: i64) -> Self {
        let kind = match id {
            1.. => ChatKind::Private,
            FIRST_SUPERGROUP..=0 => ChatKind::Group,
            _ => ChatKind::Supergroup,
        };
        let (title, first_name) = match kind {
            ChatKind::Private => (None, Some(format!("User {id}"))),
            ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => (Some(format!("Group {id}")), None),
        };
        Self { id, title, username: None, first_name, kind }
    }

    /// The channel that a name stands for; its id is made of the name, so that it is the same every time.
    pub(crate) fn named(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let hash = lower.bytes().fold(0_i64, |hash, byte| (hash * 131 + i64::from(byte)) % 1_000_000_007);
        let id = FIRST_SUPERGROUP - 1 - hash;
        Self {
            id,
            title: Some(name.to_owned()),
            username: Some(name.to_owned()),
            first_name: None,
            kind: ChatKind::Channel,
        }
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
