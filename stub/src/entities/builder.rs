//! A text that grows while its UTF-16 length is known, and the entities over it.

use super::{Entity, Kind};

#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) text: String,
    pub(super) units: u32,
    entities: Vec<Entity>,
}

/// Where an entity began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) units: u32,
    bytes: usize,
}

impl Builder {
    pub(super) fn push(&mut self, character: char) {
        self.text.push(character);
        self.units += character.len_utf16() as u32;
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { units: self.units, bytes: self.text.len() }
    }

    /// What was written since the mark.
    pub(super) fn since(&self, mark: Mark) -> &str {
        &self.text[mark.bytes..]
    }

    /// Ends an entity here; one over nothing is none.
    pub(super) fn end(&mut self, mark: Mark, kind: Kind) {
        if self.units > mark.units {
            self.entities.push(Entity { offset: mark.units, length: self.units - mark.units, kind });
        }
    }

    pub(super) fn last(&mut self) -> Option<&mut Entity> {
        self.entities.last_mut()
    }

    pub(super) fn finish(self) -> (String, Vec<Entity>) {
        (self.text, self.entities)
    }
}
