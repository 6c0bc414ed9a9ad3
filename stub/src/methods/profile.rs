//! What a bot is.

use serde::Serialize;

use super::{Family, Turn};
use crate::answer::{Done, Refusal};
use crate::world::User;

pub(super) const METHODS: Family = &[("getMe", get_me)];

/// The fields that getMe adds to a `User`, all of them required there.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "this is the shape of Telegram's answer")]
struct Me {
    id: i64,
    is_bot: bool,
    first_name: String,
    username: Option<String>,
    can_join_groups: bool,
    can_read_all_group_messages: bool,
    supports_inline_queries: bool,
    can_connect_to_business: bool,
    has_main_web_app: bool,
}

fn get_me(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let User { id, is_bot, first_name, username } = User::bot(turn.call.bot);
    Done::of(&Me {
        id,
        is_bot,
        first_name,
        username,
        can_join_groups: true,
        can_read_all_group_messages: false,
        supports_inline_queries: false,
        can_connect_to_business: false,
        has_main_web_app: false,
    })
}
