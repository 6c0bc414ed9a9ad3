//! Forwarding and copying messages.

use serde_json::json;

use super::Methods;
use super::turn::Turn;
use crate::answer::{Done, Json, Refusal};
use crate::call::Params;
use crate::world::{Chat, ChatKind, Content, Fields, Found, Message};

pub(super) const METHODS: Methods = &[
    ("forwardMessage", forward_message),
    ("forwardMessages", forward_messages),
    ("copyMessage", copy_message),
    ("copyMessages", copy_messages),
];

/// How many messages one call may name (<https://core.telegram.org/bots/api#forwardmessages>).
const MOST: usize = 100;

fn forward_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, from) = (turn.chat()?, turn.chat_in("from_chat_id")?);
    let id = turn.call.params.integer("message_id").unwrap_or(0);
    let original = original(turn, &from, id, "message to forward not found")?;
    turn.send_with(&chat, original.content.clone(), origin(turn, &original, &from))
}

fn copy_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, from) = (turn.chat()?, turn.chat_in("from_chat_id")?);
    let id = turn.call.params.integer("message_id").unwrap_or(0);
    let original = original(turn, &from, id, "message to copy not found")?;
    let content = match original.content {
        Content::Media { media, .. } if turn.call.params.text("caption").is_some() => {
            Content::Media { media, caption: turn.caption()? }
        }
        content => content,
    };
    let draft = turn.draft(&chat)?;
    turn.admit(Some(&chat), 1)?;
    let id = turn.telegram.world.next_id(turn.call.bot, &chat);
    turn.place(&chat, Message { id, content, ..draft });
    Done::of(&json!({ "message_id": id }))
}

fn forward_messages(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    several(turn, "message to forward not found", true)
}

fn copy_messages(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    several(turn, "message to copy not found", false)
}

/// Those that are not there or may not go on are skipped, unless none is.
fn several(turn: &mut Turn<'_>, none: &str, shows_origin: bool) -> Result<Done, Refusal> {
    let (chat, from) = (turn.chat()?, turn.chat_in("from_chat_id")?);
    let ids: Vec<i64> =
        turn.list("message_ids").ok_or_else(|| Refusal::bad_request("message identifiers are not specified"))?;
    if ids.len() > MOST {
        return Err(Refusal::bad_request("too many message identifiers specified"));
    }
    let originals = ids.into_iter().filter_map(|id| find(turn, &from, id)).filter(may_go_on);
    let originals: Vec<Message> = originals.collect();
    if originals.is_empty() {
        return Err(Refusal::bad_request(none));
    }
    let draft = turn.draft(&chat)?;
    turn.admit(Some(&chat), originals.len() as u32)?;
    let mut sent = Vec::new();
    for original in originals {
        let id = turn.telegram.world.next_id(turn.call.bot, &chat);
        let beside = if shows_origin { origin(turn, &original, &from) } else { Box::default() };
        turn.place(&chat, Message { id, content: original.content, beside, ..draft.clone() });
        sent.push(json!({ "message_id": id }));
    }
    Done::of(&sent)
}

fn find(turn: &mut Turn<'_>, chat: &Chat, id: i64) -> Option<Message> {
    match turn.telegram.world.find(turn.call.bot, chat, id) {
        Found::Message(message) => Some(message.clone()),
        Found::Forgotten | Found::Nowhere => None,
    }
}

const PROTECTED: &str = "has_protected_content";

/// A message that its bot does not let go on, if the call says so.
pub(super) fn protected(params: &Params, message: Message) -> Message {
    if !params.is_true("protect_content") || !may_go_on(&message) {
        return message;
    }
    let beside = message.beside.into_iter().chain([(PROTECTED, Json::of(&true))]).collect();
    Message { beside, ..message }
}

fn may_go_on(message: &Message) -> bool {
    message.beside.iter().all(|(name, _)| *name != PROTECTED)
}

/// The one message of a call that copies or forwards it.
fn original(turn: &mut Turn<'_>, from: &Chat, id: i64, none: &str) -> Result<Message, Refusal> {
    let original = find(turn, from, id).ok_or_else(|| Refusal::bad_request(none))?;
    if !may_go_on(&original) {
        return Err(Refusal::bad_request("message has protected content and can't be forwarded"));
    }
    Ok(original)
}

/// Where a forwarded message comes from.
fn origin(turn: &Turn<'_>, original: &Message, from: &Chat) -> Fields {
    if let Some(first) = original.beside.iter().find(|(name, _)| *name == "forward_origin") {
        return Box::new([first.clone()]);
    }
    let date = original.date;
    let origin = match from.kind {
        ChatKind::Channel => json!({ "type": "channel", "date": date, "chat": from, "message_id": original.id }),
        ChatKind::Private | ChatKind::Group | ChatKind::Supergroup => {
            json!({ "type": "user", "date": date, "sender_user": turn.telegram.world.people.show(original.from) })
        }
    };
    Box::new([("forward_origin", Json::of(&origin))])
}
