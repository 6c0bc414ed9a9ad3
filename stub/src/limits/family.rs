//! What kind of thing a method does, as far as ceilings tell methods apart.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::catalogue::{self, MethodId};

/// A family of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// What puts a message into a chat: `send*`, `copy*`, `forward*`, and `createForumTopic`, whose service
    /// message counts (<https://github.com/tdlib/td/issues/2592>).
    Sends,
    /// What changes a message: `editMessage*`, `stopPoll`, `stopMessageLiveLocation`, `setGameScore`.
    Edits,
    /// `deleteMessage` and `deleteMessages`.
    Deletes,
    /// `sendChatAction`.
    ChatActions,
    /// `pinChatMessage` and its undoing.
    Pins,
    /// Everything that begins with `get`.
    Reads,
    /// Answers to what users press and ask. No ceiling counts them: "without any limits"
    /// (<https://github.com/tdlib/telegram-bot-api/issues/648>), so that no scenario can name them.
    #[serde(skip)]
    Answers,
    /// Everything else.
    Others,
}

impl Family {
    /// The family of a method.
    pub(crate) fn of(method: MethodId) -> Self {
        FAMILIES[method.index()]
    }

    fn named(method: &str) -> Self {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| method.starts_with(prefix));
        match method {
            "sendChatAction" => Self::ChatActions,
            "createForumTopic" => Self::Sends,
            "stopPoll" | "stopMessageLiveLocation" | "setGameScore" => Self::Edits,
            "deleteMessage" | "deleteMessages" => Self::Deletes,
            _ if begins(&["send", "copyMessage", "forwardMessage"]) => Self::Sends,
            _ if begins(&["editMessage"]) => Self::Edits,
            _ if begins(&["pinChatMessage", "unpin"]) => Self::Pins,
            _ if begins(&["answer"]) => Self::Answers,
            _ if begins(&["get"]) => Self::Reads,
            _ => Self::Others,
        }
    }
}

/// By the place of a method in the catalogue.
static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| catalogue::methods().map(|method| Family::named(method.name())).collect());

#[cfg(test)]
mod tests {
    use super::*;

    fn family(method: &str) -> Family {
        Family::of(catalogue::method(method).unwrap())
    }

    #[test]
    fn what_puts_a_message_into_a_chat_is_a_send() {
        for method in ["sendMessage", "sendMediaGroup", "copyMessages", "forwardMessage", "createForumTopic"] {
            assert_eq!(family(method), Family::Sends, "{method}");
        }
    }

    #[test]
    fn every_other_family_has_its_methods() {
        assert_eq!((family("editMessageText"), family("stopPoll")), (Family::Edits, Family::Edits));
        assert_eq!((family("editForumTopic"), family("banChatMember")), (Family::Others, Family::Others));
        assert_eq!((family("sendChatAction"), family("deleteMessages")), (Family::ChatActions, Family::Deletes));
        assert_eq!((family("pinChatMessage"), family("getFile")), (Family::Pins, Family::Reads));
        assert_eq!(family("answerCallbackQuery"), Family::Answers);
    }
}
