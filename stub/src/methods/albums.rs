//! Several media in one go.

use serde_json::Value;

use super::turn::{Turn, caption_of};
use super::{Methods, media};
use crate::answer::{Done, Json, Refusal};
use crate::world::{Content, MediaKind, Message};

pub(super) const METHODS: Methods = &[("sendMediaGroup", send_media_group)];

/// How many an album holds (<https://core.telegram.org/bots/api#sendmediagroup>).
const MOST: usize = 10;

/// Telegram's ids of albums are numbers of about this size, shown as text.
const ALBUM_IDS: std::ops::RangeInclusive<i64> = 13_000_000_000_000_000..=14_000_000_000_000_000;

fn send_media_group(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    let inputs: Vec<Value> =
        turn.list("media").ok_or_else(|| Refusal::bad_request("expected an Array of InputMedia"))?;
    match inputs.len() {
        0 => return Err(Refusal::bad_request("there are no messages to send")),
        1..=MOST => {}
        _ => return Err(Refusal::bad_request("too many messages to send as an album")),
    }
    let items: Vec<Content> = inputs.iter().map(|input| item(turn, input)).collect::<Result<_, _>>()?;
    must_go_together(&items)?;
    let draft = turn.draft(&chat)?;
    let weight = turn.telegram.album_weight(items.len());
    turn.admit(Some(&chat), weight)?;
    let album = Json::of(&turn.telegram.chance(ALBUM_IDS).to_string());
    let mut sent = Vec::new();
    for content in items {
        let id = turn.telegram.world.next_id(turn.call.bot, &chat);
        let beside = Box::new([("media_group_id", album.clone())]);
        sent.push(turn.place(&chat, Message { id, content, beside, markup: None, ..draft.clone() }));
    }
    Done::of(&sent)
}

/// Photos and videos go together; documents, and audios, only with their own kind
/// (<https://core.telegram.org/bots/api#sendmediagroup>; the words as bots report them, of audios as of documents).
fn must_go_together(items: &[Content]) -> Result<(), Refusal> {
    let kinds = || items.iter().filter_map(Content::media_kind);
    let first = kinds().next();
    let alone = kinds().find(|kind| matches!(kind, MediaKind::Document | MediaKind::Audio));
    match alone {
        Some(alone) if kinds().any(|kind| Some(kind) != first) => {
            Err(Refusal::bad_request(format!("{} can't be mixed with other media types", alone.field())))
        }
        Some(_) | None => Ok(()),
    }
}

fn item(turn: &mut Turn<'_>, input: &Value) -> Result<Content, Refusal> {
    let kind = input["type"].as_str().and_then(MediaKind::of);
    let fits = |kind: &MediaKind| match kind {
        MediaKind::Photo | MediaKind::Video | MediaKind::Document | MediaKind::Audio => true,
        MediaKind::Animation | MediaKind::Voice | MediaKind::VideoNote | MediaKind::Sticker | MediaKind::LivePhoto => {
            false
        }
    };
    let unfit = || Refusal::bad_request("can't use the media of the specified type in the album");
    let kind = kind.filter(fits).ok_or_else(unfit)?;
    let media = media::find(turn, kind, "media", input["media"].as_str())?;
    Ok(Content::Media { media, caption: caption_of(input)? })
}
