//! What bots have set and may ask for again, by name: commands, menu buttons, descriptions.

use super::shelf::Shelf;
use crate::answer::Json;

/// The settings of every bot.
#[derive(Debug)]
pub(crate) struct Settings(Shelf<(i64, String), Json>);

/// Bytes for them, all bots together.
const MOST: usize = 8 << 20;

impl Settings {
    pub(super) fn new() -> Self {
        Self(Shelf::bounded(MOST))
    }

    pub(crate) fn insert(&mut self, key: (i64, String), value: Json) {
        let weight = 96 + 2 * key.1.len() + value.as_str().len();
        self.0.insert(key, value, weight);
    }

    pub(crate) fn get(&mut self, key: &(i64, String)) -> Option<Json> {
        self.0.get(key).cloned()
    }
}
