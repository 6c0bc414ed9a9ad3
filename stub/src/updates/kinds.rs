//! Kinds of updates: which of them a bot wants, how long each is kept, and which of them wait for each other.
//!
//! Read in the server's source (<https://github.com/tdlib/telegram-bot-api>, `Client.cpp`,
//! `WebhookActor.cpp`).

use std::time::Duration;

use serde_json::Value;

use crate::catalogue;

/// What `allowed_updates` asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// Everything but [`ON_REQUEST`].
    #[default]
    Usual,
    Only(Vec<&'static str>),
}

/// Kinds that come only when they are named.
const ON_REQUEST: &[&str] = &["chat_member", "message_reaction", "message_reaction_count"];

impl Kinds {
    /// Reads the parameter; `None`: as before.
    pub(crate) fn read(text: Option<&str>) -> Option<Self> {
        let names: Vec<String> = serde_json::from_str(text?).ok()?;
        let known: Vec<_> =
            names.iter().filter_map(|name| catalogue::update_kind(&name.to_ascii_lowercase())).collect();
        Some(if known.is_empty() { Self::Usual } else { Self::Only(known) })
    }

    pub(crate) fn wants(&self, kind: &str) -> bool {
        match self {
            Self::Usual => !ON_REQUEST.contains(&kind),
            Self::Only(kinds) => kinds.contains(&kind),
        }
    }

    /// As getWebhookInfo shows it: nothing when it is the usual set.
    pub(crate) fn named(&self) -> Option<&[&'static str]> {
        match self {
            Self::Usual => None,
            Self::Only(kinds) => Some(kinds),
        }
    }
}

/// How long an update of that kind waits to be taken.
pub(super) fn lifetime(kind: &str) -> Duration {
    match kind {
        "callback_query" | "shipping_query" | "pre_checkout_query" => Duration::from_secs(150),
        "inline_query" => Duration::from_secs(30),
        "chosen_inline_result" => Duration::from_secs(600),
        _ => Duration::from_hours(24),
    }
}

/// Updates of one line are delivered one after the other; different lines at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Line(u8, i64);

pub(super) fn line(kind: &str, update: &Value) -> Line {
    let chat = || update["chat"]["id"].as_i64().unwrap_or(0);
    let from = || update["from"]["id"].as_i64().unwrap_or(0);
    match kind {
        "message" | "edited_message" | "channel_post" | "edited_channel_post" => Line(0, chat()),
        "callback_query" => Line(1, from()),
        "inline_query" => Line(2, from()),
        "chosen_inline_result" => Line(3, from()),
        "shipping_query" | "pre_checkout_query" => Line(4, from()),
        "chat_member" | "chat_join_request" => Line(5, from()),
        "my_chat_member" => Line(6, chat()),
        "message_reaction" | "message_reaction_count" | "chat_boost" | "removed_chat_boost" => Line(7, chat()),
        _ => Line(8, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_unknown_ones_ignored() {
        let read = |text| Kinds::read(Some(text));
        assert_eq!(read(r#"["Message","gossip"]"#), Some(Kinds::Only(vec!["message"])));
        assert_eq!((read("[]"), read(r#"["gossip"]"#)), (Some(Kinds::Usual), Some(Kinds::Usual)));
        assert_eq!((read("no list"), Kinds::read(None)), (None, None));
    }

    #[test]
    fn reactions_come_only_on_request() {
        assert!(Kinds::Usual.wants("message") && !Kinds::Usual.wants("message_reaction"));
        assert!(Kinds::Only(vec!["message_reaction"]).wants("message_reaction"));
    }
}
