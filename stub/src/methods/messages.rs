//! Plain messages: sending a text, deleting, and saying that the bot is typing.

use super::{Methods, Turn, members};
use crate::answer::{Done, Refusal};
use crate::world::{Chat, Content, Found};

pub(super) const METHODS: Methods = &[
    ("sendMessage", send_message),
    ("deleteMessage", delete_message),
    ("deleteMessages", delete_messages),
    ("sendChatAction", send_chat_action),
];

fn send_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    let text = turn.message_text()?;
    turn.send(&chat, Content::Text(text))
}

fn delete_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    let id = turn.call.params.integer("message_id");
    let id = id.ok_or_else(|| Refusal::bad_request("message identifier is not specified"))?;
    delete(turn, &chat, id)?;
    Done::yes()
}

/// How many messages one call may delete (<https://core.telegram.org/bots/api#deletemessages>).
const MOST_DELETED: usize = 100;

/// Those that do not exist are skipped (<https://core.telegram.org/bots/api#deletemessages>).
fn delete_messages(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_in(turn, &chat)?;
    let ids: Vec<i64> =
        turn.list("message_ids").ok_or_else(|| Refusal::bad_request("message identifiers are not specified"))?;
    if ids.len() > MOST_DELETED {
        return Err(Refusal::bad_request("too many message identifiers specified"));
    }
    for id in ids {
        if let Found::Message(_) = turn.telegram.world.find(turn.call.bot, &chat, id) {
            turn.telegram.world.delete(turn.call.bot, &chat, id);
        }
    }
    Done::yes()
}

fn delete(turn: &mut Turn<'_>, chat: &Chat, id: i64) -> Result<(), Refusal> {
    match turn.telegram.world.find(turn.call.bot, chat, id) {
        Found::Nowhere => Err(Refusal::bad_request("message to delete not found")),
        Found::Message(_) | Found::Forgotten => {
            turn.telegram.world.delete(turn.call.bot, chat, id);
            Ok(())
        }
    }
}

/// What a bot may say that it is doing (<https://core.telegram.org/bots/api#sendchataction>).
const ACTIONS: &[&str] = &[
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_audio",
    "upload_audio",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

fn send_chat_action(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    members::must_be_let_write(turn, &chat)?;
    let action = turn.call.params.given("action").unwrap_or_default().to_ascii_lowercase();
    if ACTIONS.contains(&action.as_str()) {
        Done::yes()
    } else {
        Err(Refusal::bad_request("wrong parameter action in request"))
    }
}
