//! Bots that a bot manages: their tokens, and who may use them.

use serde_json::{Value, json};

use super::{Methods, Turn, members};
use crate::answer::{Done, Refusal};
use crate::world::User;

pub(super) const METHODS: Methods = &[
    ("getManagedBotToken", get_token),
    ("replaceManagedBotToken", replace_token),
    ("getManagedBotAccessSettings", get_access),
    ("setManagedBotAccessSettings", set_access),
];

fn get_token(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let bot = members::user(turn)?;
    match turn.noted(turn.call.bot, &format!("token/{bot}")) {
        Some(token) => Done::of(&token),
        None => replace_token(turn),
    }
}

fn replace_token(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let bot = members::user(turn)?;
    let token = json!(format!("{bot}:{:032x}", turn.telegram.chance(1..=i64::MAX)));
    turn.note(turn.call.bot, &format!("token/{bot}"), &token);
    Done::of(&token)
}

fn get_access(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let bot = members::user(turn)?;
    let set = turn.noted(turn.call.bot, &format!("access/{bot}"));
    Done::of(&set.unwrap_or_else(|| json!({ "is_access_restricted": false })))
}

fn set_access(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let bot = members::user(turn)?;
    let added: Vec<i64> = turn.list("added_user_ids").unwrap_or_default();
    let mut access = json!({ "is_access_restricted": turn.call.params.is_true("is_access_restricted") });
    if !added.is_empty() {
        access["added_users"] =
            added.into_iter().map(|id| turn.telegram.world.people.show(User::Person(id))).collect::<Value>();
    }
    turn.note(turn.call.bot, &format!("access/{bot}"), &access);
    Done::yes()
}
