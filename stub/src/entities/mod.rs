//! Formatted text: what it says and which parts of it are bold, links, code and so on.

use serde::{Deserialize, Serialize};

/// A text and its entities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Formatted {
    pub(crate) text: Box<str>,
    pub(crate) entities: Box<[Entity]>,
}

/// A `MessageEntity`; offset and length count UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entity {
    pub(crate) offset: u32,
    pub(crate) length: u32,
    #[serde(rename = "type")]
    pub(crate) kind: Box<str>,
}
