//! What a bot is.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Family, Turn};
use crate::answer::{Done, Refusal};
use crate::world::User;

pub(super) const METHODS: Family = &[("getMe", get_me)];

fn get_me(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    Done::of(&Me(User::Bot(turn.call.bot)))
}

/// A `User` as only getMe shows it.
struct Me(User);

impl Serialize for Me {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.0.show(&mut map)?;
        map.serialize_entry("can_join_groups", &true)?;
        map.serialize_entry("can_read_all_group_messages", &false)?;
        map.serialize_entry("supports_inline_queries", &false)?;
        map.serialize_entry("can_connect_to_business", &false)?;
        map.serialize_entry("has_main_web_app", &false)?;
        map.end()
    }
}
