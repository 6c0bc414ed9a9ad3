//! Messages with a file: uploaded, named by an earlier `file_id`, or by an address.

use sha2::{Digest, Sha256};

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::call::FilePart;
use crate::world::{Content, FileId, Media, MediaKind, Sides};

pub(super) const METHODS: Methods = &[
    ("sendPhoto", |turn| send(turn, MediaKind::Photo)),
    ("sendDocument", |turn| send(turn, MediaKind::Document)),
    ("sendVideo", |turn| send(turn, MediaKind::Video)),
    ("sendAnimation", |turn| send(turn, MediaKind::Animation)),
    ("sendAudio", |turn| send(turn, MediaKind::Audio)),
    ("sendVoice", |turn| send(turn, MediaKind::Voice)),
    ("sendVideoNote", |turn| send(turn, MediaKind::VideoNote)),
    ("sendSticker", |turn| send(turn, MediaKind::Sticker)),
    ("sendLivePhoto", |turn| send(turn, MediaKind::LivePhoto)),
];

/// The largest photo (<https://core.telegram.org/bots/api#sending-files>; the words from `FileLoaderUtils.cpp`
/// of <https://github.com/tdlib/td>).
const LARGEST_PHOTO: u64 = 10 << 20;

fn send(turn: &mut Turn<'_>, kind: MediaKind) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    let media = find(turn, kind, kind.field(), turn.call.params.text(kind.field()))?;
    let caption = turn.caption()?;
    turn.send(&chat, Content::Media { media, caption })
}

/// The media that a value names: `attach://part`, a `file_id`, an address; without a value the part `field`.
pub(super) fn find(turn: &mut Turn<'_>, kind: MediaKind, field: &str, value: Option<&str>) -> Result<Media, Refusal> {
    let params = &turn.call.params;
    match value.filter(|value| !value.is_empty()) {
        None => keep(turn, kind, params.file(field)),
        Some(value) => match value.strip_prefix("attach://") {
            Some(part) => keep(turn, kind, params.file(part)),
            None if value.starts_with("http://") || value.starts_with("https://") => Ok(fetched(turn, kind, value)),
            None => known(turn, value),
        },
    }
}

fn keep(turn: &mut Turn<'_>, kind: MediaKind, part: Option<&FilePart>) -> Result<Media, Refusal> {
    let part = part.ok_or_else(|| {
        Refusal::bad_request(format!("there is no {} in the request", kind.field().replace('_', " ")))
    })?;
    if part.size == 0 {
        return Err(Refusal::bad_request("file must be non-empty"));
    }
    if kind == MediaKind::Photo && part.size > LARGEST_PHOTO {
        let says = format!(
            "file of size {} bytes is too big for a photo; the maximum size is {LARGEST_PHOTO} bytes",
            part.size
        );
        return Err(Refusal::bad_request(says));
    }
    let media = turn.telegram.world.files.keep(part, kind, turn.call.bot);
    if kind == MediaKind::Photo && part.bytes.is_some() {
        must_be_a_picture(media.record.sides)?;
    }
    Ok(media)
}

/// Telegram looks into photos that are uploaded; so does the stub, into the bytes that it could keep.
fn must_be_a_picture(sides: Option<Sides>) -> Result<(), Refusal> {
    match sides {
        None => Err(Refusal::bad_request("IMAGE_PROCESS_FAILED")),
        Some(sides) if sides.fit_a_photo() => Ok(()),
        Some(_) => Err(Refusal::bad_request("PHOTO_INVALID_DIMENSIONS")),
    }
}

/// Nothing is fetched, since nothing leaves this machine: the address itself becomes the content.
fn fetched(turn: &mut Turn<'_>, kind: MediaKind, address: &str) -> Media {
    let name = address.rsplit('/').next().unwrap_or_default();
    let part = FilePart {
        field: String::new(),
        name: name.split(['?', '#']).next().unwrap_or_default().to_owned(),
        mime: None,
        size: address.len() as u64,
        digest: Sha256::digest(address).into(),
        bytes: Some(bytes::Bytes::copy_from_slice(address.as_bytes())),
    };
    turn.telegram.world.files.keep(&part, kind, turn.call.bot)
}

/// A file that was sent before comes as what it was sent then.
fn known(turn: &mut Turn<'_>, text: &str) -> Result<Media, Refusal> {
    let unknown = || Refusal::bad_request("wrong file identifier/HTTP URL specified");
    let file = FileId::read(text, turn.call.bot).ok_or_else(unknown)?;
    let record = turn.telegram.world.files.find(file).ok_or_else(unknown)?;
    Ok(Media { kind: file.kind(), file, record })
}
