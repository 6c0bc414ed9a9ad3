//! What a bot offers before anyone writes: its commands and its menu button.

use serde_json::{Value, json};

use super::{Family, Turn};
use crate::answer::{Done, Refusal};

pub(super) const METHODS: Family = &[
    ("setMyCommands", set_my_commands),
    ("getMyCommands", get_my_commands),
    ("deleteMyCommands", delete_my_commands),
    ("setChatMenuButton", set_chat_menu_button),
    ("getChatMenuButton", get_chat_menu_button),
];

fn set_my_commands(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let commands: Vec<Value> =
        turn.list("commands").ok_or_else(|| Refusal::bad_request("can't parse commands JSON object"))?;
    if commands.len() > 100 {
        return Err(Refusal::bad_request("BOT_COMMANDS_TOO_MUCH"));
    }
    let key = scope(turn);
    turn.note(turn.call.bot, &key, &json!(commands));
    Done::yes()
}

fn get_my_commands(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let key = scope(turn);
    let commands = turn.noted(turn.call.bot, &key);
    Done::of(&commands.unwrap_or_else(|| json!([])))
}

fn delete_my_commands(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let key = scope(turn);
    turn.telegram.world.facts.forget(turn.call.bot, &key);
    Done::yes()
}

fn set_chat_menu_button(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let given = turn.call.params.given("menu_button").map(serde_json::from_str::<Value>);
    let button = given.unwrap_or_else(|| Ok(json!({ "type": "default" })));
    let button = button.map_err(|_| Refusal::bad_request("can't parse menu button: expected an Object"))?;
    let key = menu(turn);
    turn.note(turn.call.bot, &key, &button);
    Done::yes()
}

fn get_chat_menu_button(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let key = menu(turn);
    let button = turn.noted(turn.call.bot, &key);
    Done::of(&button.unwrap_or_else(|| json!({ "type": "commands" })))
}

/// Commands are kept for each scope and language.
fn scope(turn: &Turn<'_>) -> String {
    let params = &turn.call.params;
    let scope: Value = params.given("scope").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let kind = scope["type"].as_str().unwrap_or("default");
    let language = params.given("language_code").unwrap_or_default();
    format!("commands/{kind}/{}/{}/{language}", scope["chat_id"], scope["user_id"])
}

fn menu(turn: &Turn<'_>) -> String {
    format!("menu/{}", turn.call.params.integer("chat_id").unwrap_or(0))
}
