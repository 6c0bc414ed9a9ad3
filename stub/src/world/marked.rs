//! The entities of a text as a message shows them, whoever they mention by name.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::described::Directory;
use super::people::User;
use crate::entities::{Entity, Kind};

/// The entities of one text, beside all who have a name.
#[derive(Clone, Copy)]
pub(super) struct Marked<'a> {
    pub(super) people: &'a Directory,
    pub(super) entities: &'a [Entity],
}

impl Serialize for Marked<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.entities.iter().map(|entity| Mark { people: self.people, entity }))
    }
}

struct Mark<'a> {
    people: &'a Directory,
    entity: &'a Entity,
}

impl Serialize for Mark<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Entity { offset, length, kind } = self.entity;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("offset", offset)?;
        map.serialize_entry("length", length)?;
        map.serialize_entry("type", kind.name())?;
        self.own_fields(&mut map)?;
        map.end()
    }
}

impl Mark<'_> {
    /// The fields that only this kind has.
    fn own_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.entity.kind {
            Kind::Pre { language: Some(language) } => map.serialize_entry("language", language),
            Kind::TextLink { url } => map.serialize_entry("url", url),
            Kind::TextMention { user } => map.serialize_entry("user", &self.people.named(User::Person(*user))),
            Kind::CustomEmoji { id } => map.serialize_entry("custom_emoji_id", id),
            Kind::Bold
            | Kind::Italic
            | Kind::Underline
            | Kind::Strikethrough
            | Kind::Spoiler
            | Kind::Blockquote { .. }
            | Kind::Code
            | Kind::Pre { language: None }
            | Kind::Mention
            | Kind::Hashtag
            | Kind::Cashtag
            | Kind::BotCommand
            | Kind::Url
            | Kind::Email => Ok(()),
        }
    }
}
