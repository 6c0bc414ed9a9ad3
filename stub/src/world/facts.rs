//! What bots have set and may ask for again, by name: commands, descriptions, pins, members, links, sets.
//!
//! One bounded store for all of it: a load test touches little of this, and each piece is small.

use serde_json::Value;

use super::shelf::Shelf;
use crate::answer::Json;

/// Facts about bots and chats.
#[derive(Debug)]
pub(crate) struct Facts(Shelf<(i64, String), Json>);

/// Bytes for them, all bots together.
const MOST: usize = 16 << 20;

impl Facts {
    pub(super) fn new() -> Self {
        Self(Shelf::bounded(MOST))
    }

    /// Notes that `name` of `owner`, which is a bot or a chat, is `value`.
    pub(crate) fn set(&mut self, owner: i64, name: &str, value: &Value) {
        let written = Json::of(value);
        let weight = 96 + 2 * name.len() + written.as_str().len();
        self.0.insert((owner, name.to_owned()), written, weight);
    }

    pub(crate) fn forget(&mut self, owner: i64, name: &str) {
        self.set(owner, name, &Value::Null);
    }

    pub(crate) fn get(&mut self, owner: i64, name: &str) -> Option<Value> {
        let written = self.0.get(&(owner, name.to_owned()))?;
        let value = written.value();
        (!value.is_null()).then_some(value)
    }
}
