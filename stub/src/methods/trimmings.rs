//! What a call says of a new message beside its content, and the message then says of itself.

use serde_json::Value;

use super::Turn;
use crate::answer::Json;
use crate::world::{Chat, ChatKind, Content, MediaKind, Message};

/// A message that was just made, with what its call said of it.
pub(super) fn trimmed(turn: &Turn<'_>, chat: &Chat, message: Message) -> Message {
    let said = said(turn, chat, &message);
    if message.edited.is_some() || said.is_empty() {
        return message;
    }
    let beside = message.beside.into_iter().chain(said).collect();
    Message { beside, ..message }
}

fn said(turn: &Turn<'_>, chat: &Chat, message: &Message) -> Vec<(&'static str, Json)> {
    let params = &turn.call.params;
    let mut said = Vec::new();
    match &message.content {
        Content::Text(_) => {
            let preview = turn.value("link_preview_options").filter(Value::is_object);
            said.extend(preview.map(|options| ("link_preview_options", Json::of(&options))));
        }
        Content::Media { media, .. } => {
            let may_be_veiled = matches!(media.kind, MediaKind::Photo | MediaKind::Video | MediaKind::Animation);
            if may_be_veiled && params.is_true("has_spoiler") {
                said.push(("has_media_spoiler", Json::of(&true)));
            }
            if may_be_veiled && params.is_true("show_caption_above_media") {
                said.push(("show_caption_above_media", Json::of(&true)));
            }
        }
        Content::Fields(_) => {}
    }
    // Effects are seen in private chats only (https://core.telegram.org/bots/api#sendmessage).
    if let Some(effect) = params.given("message_effect_id").filter(|_| chat.kind == ChatKind::Private) {
        said.push(("effect_id", Json::of(&effect)));
    }
    said
}
