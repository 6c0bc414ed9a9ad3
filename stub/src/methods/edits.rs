//! Editing what was sent. Edits draw on the same budget as sends (<https://github.com/tdlib/td/issues/2592>).

use serde_json::Value;

use super::turn::caption_of;
use super::{Methods, Turn, markup, media, members};
use crate::answer::{Done, Refusal};
use crate::entities::Formatted;
use crate::world::{Chat, Content, Found, Media, MediaKind, Message, User};

pub(super) const METHODS: Methods = &[
    ("editMessageText", edit_text),
    ("editMessageCaption", edit_caption),
    ("editMessageMedia", edit_media),
    ("editMessageReplyMarkup", edit_reply_markup),
];

const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

fn edit_text(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let text = turn.message_text()?;
    edit(turn, |old| match old {
        Some(Content::Text(_)) | None => Ok(Content::Text(text)),
        Some(Content::Media { .. } | Content::Fields(_)) => {
            Err(Refusal::bad_request("there is no text in the message to edit"))
        }
    })
}

fn edit_caption(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let caption = turn.caption()?;
    let forgotten = Media::forgotten(turn.call.bot);
    edit(turn, |old| match old {
        Some(Content::Media { media, .. }) => Ok(Content::Media { media, caption }),
        None => Ok(Content::Media { media: forgotten, caption }),
        Some(Content::Text(_) | Content::Fields(_)) => {
            Err(Refusal::bad_request("there is no caption in the message to edit"))
        }
    })
}

fn edit_reply_markup(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    edit(turn, |old| Ok(old.unwrap_or_else(|| Content::Text(Formatted::default()))))
}

fn edit_media(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let text = turn.call.params.text("media").unwrap_or_default();
    let input: Value = serde_json::from_str(text).map_err(|_| Refusal::bad_request("can't parse media JSON object"))?;
    let kind = input["type"].as_str().and_then(MediaKind::of);
    let kind = kind.ok_or_else(|| Refusal::bad_request("type of the media is invalid or not specified"))?;
    let media = media::find(turn, kind, "media", input["media"].as_str())?;
    let caption = caption_of(&input)?;
    edit(turn, |_| Ok(Content::Media { media, caption }))
}

/// Puts a new content in the place of the old one.
///
/// A message that was forgotten is taken at the caller's word: it was there, and it was not this; the change
/// then gets nothing to go by.
pub(super) fn edit(
    turn: &mut Turn<'_>,
    change: impl FnOnce(Option<Content>) -> Result<Content, Refusal>,
) -> Result<Done, Refusal> {
    let markup = markup::read(&turn.call.params)?;
    if turn.call.params.given("inline_message_id").is_some() {
        turn.admit(None, 1)?;
        return Done::yes();
    }
    let chat = turn.chat()?;
    let id = turn.call.params.integer("message_id").filter(|id| *id > 0);
    let id = id.ok_or_else(|| Refusal::bad_request("message identifier is not specified"))?;
    members::must_be_let_write(turn, &chat)?;
    let old = find(turn, &chat, id)?;
    let content = change(old.as_ref().map(|old| old.content.clone()))?;
    turn.admit(Some(&chat), 1)?;
    if old.as_ref().is_some_and(|old| content == old.content && markup == old.markup) {
        return Err(Refusal::bad_request(NOT_MODIFIED));
    }
    let edited = Some(turn.date);
    let message = match old {
        Some(old) => Message { edited, content, markup, ..old },
        None => Message { edited, markup, ..Message::new(id, User::Bot(turn.call.bot), turn.date, content) },
    };
    turn.accept(&chat, message)
}

/// The message to edit; `None`: it was there once.
fn find(turn: &mut Turn<'_>, chat: &Chat, id: i64) -> Result<Option<Message>, Refusal> {
    let bot = turn.call.bot;
    match turn.telegram.world.find(bot, chat, id) {
        Found::Message(message) if message.from == User::Bot(bot) => Ok(Some(message.clone())),
        Found::Message(_) => Err(Refusal::bad_request("message can't be edited")),
        Found::Forgotten => Ok(None),
        Found::Nowhere => Err(Refusal::bad_request("message to edit not found")),
    }
}
