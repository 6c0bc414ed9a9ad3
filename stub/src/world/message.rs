//! A message as it is kept, and as it is shown.

use serde::ser::{SerializeMap, Serializer};
use serde::{Serialize, ser};

use super::described::Directory;
use super::files::{Media, MediaKind};
use super::marked::Marked;
use super::people::{Chat, ChatKind, User};
use crate::answer::Json;
use crate::entities::Formatted;

/// One message of a chat.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: i64,
    pub(crate) from: User,
    pub(crate) date: i64,
    pub(crate) edited: Option<i64>,
    pub(crate) thread: Option<i64>,
    pub(crate) reply_to: Option<i64>,
    pub(crate) content: Content,
    /// Fields beside the content: where it was forwarded from, which album it belongs to.
    pub(crate) beside: Fields,
    pub(crate) markup: Option<Json>,
}

/// Fields of a message as they are shown.
pub(crate) type Fields = Box<[(&'static str, Json)]>;

/// What it holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Text(Formatted),
    Media {
        media: Media,
        caption: Formatted,
    },
    /// Anything else: the fields of the message that say it.
    Fields(Fields),
}

impl Content {
    /// As what its file was sent, if it has one.
    pub(crate) fn media_kind(&self) -> Option<MediaKind> {
        match self {
            Self::Media { media, .. } => Some(media.kind),
            Self::Text(_) | Self::Fields(_) => None,
        }
    }
}

impl Message {
    /// A message with nothing but its content.
    pub(crate) fn new(id: i64, from: User, date: i64, content: Content) -> Self {
        Self {
            id,
            from,
            date,
            edited: None,
            thread: None,
            reply_to: None,
            content,
            beside: Box::default(),
            markup: None,
        }
    }

    /// About how many bytes it takes to keep.
    pub(crate) fn weight(&self) -> usize {
        let text = self.text().map_or(0, |text| text.text.len() + size_of_val(&*text.entities));
        let fields = match &self.content {
            Content::Fields(fields) => weight(fields),
            Content::Text(_) | Content::Media { .. } => 0,
        };
        let markup = self.markup.as_ref().map_or(0, |markup| markup.as_str().len());
        size_of::<Self>() + text + fields + weight(&self.beside) + markup
    }

    /// The text, or the caption under a media.
    pub(crate) fn text(&self) -> Option<&Formatted> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Media { caption, .. } => Some(caption),
            Content::Fields(_) => None,
        }
    }
}

fn weight(fields: &Fields) -> usize {
    fields.iter().map(|(_, value)| value.as_str().len() + 40).sum()
}

fn show<M: SerializeMap>(fields: &Fields, map: &mut M) -> Result<(), M::Error> {
    fields.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}

/// A message together with the chat it is in: what an answer shows.
pub(crate) struct Shown<'a> {
    pub(crate) people: &'a Directory,
    pub(crate) message: &'a Message,
    pub(crate) chat: &'a Chat,
    pub(crate) reply_to: Option<&'a Message>,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let message = self.message;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("message_id", &message.id)?;
        entry(&mut map, "message_thread_id", message.thread)?;
        self.sender(&mut map)?;
        map.serialize_entry("chat", self.chat)?;
        map.serialize_entry("date", &message.date)?;
        entry(&mut map, "edit_date", message.edited)?;
        let reply_to = self.reply_to.map(|message| Shown { message, reply_to: None, ..*self });
        entry(&mut map, "reply_to_message", reply_to)?;
        show(&message.beside, &mut map)?;
        self.content(&mut map)?;
        entry(&mut map, "reply_markup", message.markup.as_ref())?;
        map.end()
    }
}

impl Shown<'_> {
    fn sender<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self.chat.kind {
            ChatKind::Channel => map.serialize_entry("sender_chat", self.chat),
            ChatKind::Private | ChatKind::Group | ChatKind::Supergroup => {
                map.serialize_entry("from", &self.people.named(self.message.from))
            }
        }
    }

    fn content<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.message.content {
            Content::Text(text) => {
                map.serialize_entry("text", &text.text)?;
                entry(map, "entities", self.marked(text))
            }
            Content::Media { media, caption } => {
                media.show(map)?;
                entry(map, "caption", Some(&caption.text).filter(|text| !text.is_empty()))?;
                entry(map, "caption_entities", self.marked(caption))
            }
            Content::Fields(fields) => show(fields, map),
        }
    }

    fn marked<'a>(&'a self, text: &'a Formatted) -> Option<Marked<'a>> {
        let marked = Marked { people: self.people, entities: &text.entities };
        (!text.entities.is_empty()).then_some(marked)
    }
}

/// A field that is left out when there is nothing to say.
pub(super) fn entry<M: ser::SerializeMap>(
    map: &mut M,
    name: &str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, &value),
        None => Ok(()),
    }
}
