//! What a bot offers before anyone writes: its commands and its menu button.

use serde_json::{Value, json};

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};

pub(super) const METHODS: Methods = &[
    ("setMyCommands", set_my_commands),
    ("getMyCommands", get_my_commands),
    ("deleteMyCommands", delete_my_commands),
    ("setChatMenuButton", set_chat_menu_button),
    ("getChatMenuButton", get_chat_menu_button),
];

/// How many a bot may offer (<https://core.telegram.org/bots/api#setmycommands>).
const MOST: usize = 100;

fn set_my_commands(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let commands: Vec<Value> =
        turn.list("commands").ok_or_else(|| Refusal::bad_request("can't parse commands JSON object"))?;
    if commands.len() > MOST {
        return Err(Refusal::bad_request("BOT_COMMANDS_TOO_MUCH"));
    }
    let commands: Vec<Value> = commands.iter().map(command).collect::<Result<_, _>>()?;
    let key = scope(turn);
    turn.note(turn.call.bot, &key, &json!(commands));
    Done::yes()
}

/// A command without its slash, and what it does (<https://core.telegram.org/bots/api#botcommand>). The words about
/// lengths stand in `BotCommand.cpp` of <https://github.com/tdlib/td>; the codes are those of
/// <https://core.telegram.org/method/bots.setBotCommands>, as bots report them.
fn command(given: &Value) -> Result<Value, Refusal> {
    let text = |name: &str| given[name].as_str().unwrap_or_default().trim();
    let (command, description) = (text("command").trim_start_matches('/'), text("description"));
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match (command.len(), description.chars().count()) {
        (0, _) => Err(Refusal::bad_request("command must be non-empty")),
        (33.., _) => Err(Refusal::bad_request("command length must not exceed 32")),
        (_, 0) => Err(Refusal::bad_request("command description must be non-empty")),
        (_, 257..) => Err(Refusal::bad_request("command description length must not exceed 256")),
        (1..=32, 1..=256) if command.bytes().all(is_plain) => {
            Ok(json!({ "command": command, "description": description }))
        }
        (1..=32, 1..=256) => Err(Refusal::bad_request("BOT_COMMAND_INVALID")),
    }
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
