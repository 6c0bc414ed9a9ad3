//! Files by what is in them: the same bytes are the same file, and sending them again by id costs nothing.
//!
//! Sizes and digests are kept for long, the bytes themselves only up to a bound.

use bytes::Bytes;
use serde::Serialize;
use serde::ser::SerializeMap;

use super::avatar::{self, Side};
use super::message::entry;
use super::picture::{self, Sides};
use super::shelf::Shelf;
use super::sizes::Sizes;
use crate::call::FilePart;

/// As what a file was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaKind {
    Photo,
    Document,
    Video,
    Animation,
    Audio,
    Voice,
    VideoNote,
    Sticker,
    LivePhoto,
}

impl MediaKind {
    const ALL: [Self; 9] = [
        Self::Photo,
        Self::Document,
        Self::Video,
        Self::Animation,
        Self::Audio,
        Self::Voice,
        Self::VideoNote,
        Self::Sticker,
        Self::LivePhoto,
    ];

    /// The message's field, which is also the method's parameter and the type of an `InputMedia`.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Document => "document",
            Self::Video => "video",
            Self::Animation => "animation",
            Self::Audio => "audio",
            Self::Voice => "voice",
            Self::VideoNote => "video_note",
            Self::Sticker => "sticker",
            Self::LivePhoto => "live_photo",
        }
    }

    pub(crate) fn of(field: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.field() == field)
    }

    /// What real ids of that kind begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::Photo => "AgAC",
            Self::Document => "BQAC",
            Self::Video => "BAAC",
            Self::Animation => "CgAC",
            Self::Audio => "CQAC",
            Self::Voice => "AwAC",
            Self::VideoNote => "DQAC",
            Self::Sticker => "CAAC",
            Self::LivePhoto => "LgAC",
        }
    }

    /// Where getFile says it lies, and under which extension if its name has none.
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Photo => ("photos", "jpg"),
            Self::Document => ("documents", "bin"),
            Self::Video => ("videos", "mp4"),
            Self::Animation => ("animations", "mp4"),
            Self::Audio => ("music", "mp3"),
            Self::Voice => ("voice", "oga"),
            Self::VideoNote => ("video_notes", "mp4"),
            Self::Sticker => ("stickers", "webp"),
            Self::LivePhoto => ("live_photos", "mp4"),
        }
    }
}

/// The first half of a SHA-256: enough to tell files apart.
pub(crate) type Key = [u8; 16];

/// What a `file_id` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileId {
    Stored {
        kind: MediaKind,
        key: Key,
        bot: i64,
    },
    /// A photo in a smaller size, by the longer side of its box.
    Scaled {
        key: Key,
        bot: i64,
        side: u32,
    },
    Avatar {
        user: i64,
        side: Side,
    },
}

impl FileId {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Stored { kind, key, bot } => format!("{}{}{bot:x}", kind.prefix(), hex(&key)),
            Self::Scaled { key, bot, side } => format!("{}{}{bot:x}s{side}", MediaKind::Photo.prefix(), hex(&key)),
            Self::Avatar { user, side } => format!("AgACuserpic{}x{user}", side.pixels()),
        }
    }

    /// The id as one bot may use it: those of another bot mean nothing to it.
    pub(crate) fn read(text: &str, bot: i64) -> Option<Self> {
        if let Some(avatar) = text.strip_prefix("AgACuserpic") {
            let (side, user) = avatar.split_once('x')?;
            return Some(Self::Avatar { user: user.parse().ok()?, side: Side::of(side)? });
        }
        let kind = MediaKind::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))?;
        let key = unhex(text.get(4..36)?)?;
        let (of, side) = text.get(36..)?.split_once('s').map_or((text.get(36..)?, None), |(of, side)| (of, Some(side)));
        let file = match side {
            Some(side) if kind == MediaKind::Photo => Self::Scaled { key, bot, side: side.parse().ok()? },
            Some(_) => return None,
            None => Self::Stored { kind, key, bot },
        };
        (of == format!("{bot:x}")).then_some(file)
    }

    /// The same photo in a smaller size.
    pub(super) fn scaled(self, side: u32) -> Option<Self> {
        match self {
            Self::Stored { key, bot, .. } => Some(Self::Scaled { key, bot, side }),
            Self::Scaled { .. } | Self::Avatar { .. } => None,
        }
    }

    /// As what it was sent first.
    pub(crate) fn kind(self) -> MediaKind {
        match self {
            Self::Stored { kind, .. } => kind,
            Self::Scaled { .. } | Self::Avatar { .. } => MediaKind::Photo,
        }
    }

    pub(crate) fn unique(self) -> String {
        match self {
            Self::Stored { key, .. } => format!("AQAD{}", hex(&key[..8])),
            Self::Scaled { key, side, .. } => format!("AQAD{}s{side}", hex(&key[..8])),
            Self::Avatar { user, side } => format!("AQADuserpic{}x{user}", side.pixels()),
        }
    }
}

/// What is known of a file for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) size: u64,
    pub(crate) name: Box<str>,
    pub(crate) mime: Option<Box<str>>,
    /// Those of a picture.
    pub(crate) sides: Option<Sides>,
}

/// A file in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    pub(crate) kind: MediaKind,
    pub(crate) file: FileId,
    pub(crate) record: Record,
}

/// Every file that was sent, as far as memory goes.
#[derive(Debug)]
pub(crate) struct Files {
    records: Shelf<Key, Record>,
    bytes: Shelf<Key, Bytes>,
}

/// Sizes and names of some hundred thousand files.
const MOST_RECORDS: usize = 16 << 20;
/// Bytes of files, all bots together.
pub(crate) const MOST_BYTES: usize = 64 << 20;

impl Files {
    pub(crate) fn new() -> Self {
        Self { records: Shelf::bounded(MOST_RECORDS), bytes: Shelf::bounded(MOST_BYTES) }
    }

    /// Keeps what was uploaded.
    pub(crate) fn keep(&mut self, part: &FilePart, kind: MediaKind, bot: i64) -> Media {
        let mut key = Key::default();
        key.copy_from_slice(&part.digest[..16]);
        let mime = part.mime.as_deref().map(Box::from);
        let sides = part.bytes.as_deref().and_then(picture::sides);
        let record = Record { size: part.size, name: part.name.as_str().into(), mime, sides };
        self.records.insert(key, record.clone(), 160 + record.name.len());
        if let Some(bytes) = &part.bytes {
            self.bytes.insert(key, bytes.clone(), bytes.len());
        }
        Media { kind, file: FileId::Stored { kind, key, bot }, record }
    }

    /// What an id stands for, if it is known.
    pub(crate) fn find(&mut self, file: FileId) -> Option<Record> {
        match file {
            FileId::Stored { key, .. } => self.records.get(&key).cloned(),
            FileId::Scaled { key, side, .. } => {
                let whole = self.records.get(&key)?.clone();
                let sides = Some(whole.sides.unwrap_or(PHOTO).within(side));
                Some(Record { sides, ..whole })
            }
            FileId::Avatar { user, side } => {
                let size = avatar::bytes(user, side).len() as u64;
                let sides = Some(Sides { width: side.pixels(), height: side.pixels() });
                Some(Record { size, name: "".into(), mime: Some("image/jpeg".into()), sides })
            }
        }
    }

    /// Where the file may be downloaded.
    pub(crate) fn path(&mut self, file: FileId) -> Option<String> {
        let record = self.find(file)?;
        Some(match file {
            FileId::Stored { kind, key, .. } => {
                let (folder, extension) = kind.place();
                let extension = extension_of(&record.name).unwrap_or(extension);
                format!("{folder}/file_{}.{extension}", hex(&key))
            }
            FileId::Scaled { key, side, .. } => format!("photos/file_{}_{side}.jpg", hex(&key)),
            FileId::Avatar { user, side } => format!("photos/userpic_{}x{user}.jpg", side.pixels()),
        })
    }

    /// What lies at a path; `None` when nothing does, or no more.
    pub(crate) fn download(&mut self, path: &str) -> Option<Bytes> {
        let (_, name) = path.split_once('/')?;
        let (stem, _) = name.rsplit_once('.')?;
        if let Some(avatar) = stem.strip_prefix("userpic_") {
            let (side, user) = avatar.split_once('x')?;
            return Some(avatar::bytes(user.parse().ok()?, Side::of(side)?));
        }
        let stem = stem.strip_prefix("file_")?;
        // Any size of a photo is the whole.
        let key = stem.split_once('_').map_or(stem, |(key, _)| key);
        self.bytes.get(&unhex(key)?).cloned()
    }
}

impl Media {
    /// What stands in for the media of a message that is not kept any more.
    pub(crate) fn forgotten(bot: i64) -> Self {
        let kind = MediaKind::Photo;
        let record = Record { size: 0, name: "".into(), mime: None, sides: None };
        Self { kind, file: FileId::Stored { kind, key: Key::default(), bot }, record }
    }

    /// Writes the field of a message that shows this media.
    pub(super) fn show<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self.kind {
            MediaKind::Photo => map.serialize_entry("photo", &Sizes(self, self.record.sides.unwrap_or(PHOTO))),
            MediaKind::Animation => {
                map.serialize_entry("animation", &self.shown())?;
                // Older clients read an animation from here, so the server says it twice.
                map.serialize_entry("document", &self.shown_as(MediaKind::Document))
            }
            MediaKind::Document
            | MediaKind::Video
            | MediaKind::Audio
            | MediaKind::Voice
            | MediaKind::VideoNote
            | MediaKind::Sticker
            | MediaKind::LivePhoto => map.serialize_entry(self.kind.field(), &self.shown()),
        }
    }

    fn shown(&self) -> ShownFile<'_> {
        self.shown_as(self.kind)
    }

    fn shown_as(&self, kind: MediaKind) -> ShownFile<'_> {
        ShownFile { kind, media: self }
    }
}

/// A file as an object: what the kind requires, and what is known of it.
struct ShownFile<'a> {
    kind: MediaKind,
    media: &'a Media,
}

impl Serialize for ShownFile<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Media { file, record, kind: _ } = self.media;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("file_id", &file.text())?;
        map.serialize_entry("file_unique_id", &file.unique())?;
        map.serialize_entry("file_size", &record.size)?;
        match self.kind {
            MediaKind::Photo => sides(&mut map, record.sides.unwrap_or(PHOTO))?,
            MediaKind::Document => named(&mut map, record)?,
            MediaKind::Video | MediaKind::Animation => {
                sides(&mut map, VIDEO)?;
                map.serialize_entry("duration", &0)?;
                named(&mut map, record)?;
            }
            MediaKind::LivePhoto => {
                sides(&mut map, VIDEO)?;
                map.serialize_entry("duration", &0)?;
                entry(&mut map, "mime_type", record.mime.as_deref())?;
            }
            MediaKind::Audio => {
                map.serialize_entry("duration", &0)?;
                named(&mut map, record)?;
            }
            MediaKind::Voice => {
                map.serialize_entry("duration", &0)?;
                entry(&mut map, "mime_type", record.mime.as_deref())?;
            }
            MediaKind::VideoNote => {
                map.serialize_entry("length", &240)?;
                map.serialize_entry("duration", &0)?;
            }
            MediaKind::Sticker => {
                sides(&mut map, record.sides.unwrap_or(STICKER))?;
                map.serialize_entry("type", "regular")?;
                map.serialize_entry("is_animated", &false)?;
                map.serialize_entry("is_video", &false)?;
            }
        }
        map.end()
    }
}

/// What is said of a picture that could not be looked into, and of every video.
const PHOTO: Sides = Sides { width: 1280, height: 1280 };
const STICKER: Sides = Sides { width: 512, height: 512 };
const VIDEO: Sides = Sides { width: 1280, height: 720 };

fn sides<M: SerializeMap>(map: &mut M, Sides { width, height }: Sides) -> Result<(), M::Error> {
    map.serialize_entry("width", &width)?;
    map.serialize_entry("height", &height)
}

fn named<M: SerializeMap>(map: &mut M, record: &Record) -> Result<(), M::Error> {
    entry(map, "file_name", Some(&record.name).filter(|name| !name.is_empty()))?;
    entry(map, "mime_type", record.mime.as_deref())
}

/// A `File`, or a `PhotoSize` when it has sides.
#[derive(Debug, Serialize)]
pub(crate) struct FileObject {
    file_id: String,
    file_unique_id: String,
    file_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
}

impl FileObject {
    pub(crate) fn at(file: FileId, file_size: u64, file_path: String) -> Self {
        let (file_id, file_unique_id) = (file.text(), file.unique());
        Self { file_id, file_unique_id, file_size, width: None, height: None, file_path: Some(file_path) }
    }

    /// A photo that was sent.
    pub(crate) fn photo(media: &Media) -> Self {
        let (file_id, file_unique_id) = (media.file.text(), media.file.unique());
        let Sides { width, height } = media.record.sides.unwrap_or(PHOTO);
        let (width, height) = (Some(width), Some(height));
        Self { file_id, file_unique_id, file_size: media.record.size, width, height, file_path: None }
    }

    /// A user's photo in one of its sizes.
    pub(crate) fn avatar(user: i64, side: Side) -> Self {
        let file = FileId::Avatar { user, side };
        let pixels = Some(side.pixels());
        let file_size = avatar::bytes(user, side).len() as u64;
        Self {
            file_id: file.text(),
            file_unique_id: file.unique(),
            file_size,
            width: pixels,
            height: pixels,
            file_path: None,
        }
    }
}

/// The extension of a file's name, if it is one that may stand in a path.
fn extension_of(name: &str) -> Option<&str> {
    let (_, extension) = name.rsplit_once('.')?;
    let plain = (1..=8).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then_some(extension)
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]))
        .collect()
}

fn unhex(text: &str) -> Option<Key> {
    let mut key = Key::default();
    if text.len() != 2 * key.len() {
        return None;
    }
    for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(key)
}
