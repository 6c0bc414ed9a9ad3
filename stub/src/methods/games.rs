//! Scores of a game.

use serde_json::{Value, json};

use super::{Methods, Turn, members};
use crate::answer::{Done, Refusal};
use crate::world::{Found, Shown, User};

pub(super) const METHODS: Methods = &[("setGameScore", set_score), ("getGameHighScores", high_scores)];

/// Scores belong to the message that shows the game.
fn table(turn: &Turn<'_>) -> String {
    let params = &turn.call.params;
    let (chat, message) = (params.given("chat_id").unwrap_or_default(), params.given("message_id").unwrap_or_default());
    format!("scores/{chat}/{message}/{}", params.given("inline_message_id").unwrap_or_default())
}

fn scores(turn: &mut Turn<'_>) -> Vec<(i64, i64)> {
    let table = table(turn);
    turn.noted(turn.call.bot, &table).and_then(|scores| serde_json::from_value(scores).ok()).unwrap_or_default()
}

fn set_score(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let user = members::user(turn)?;
    let score = turn.call.params.integer("score").unwrap_or(0);
    let mut scores = scores(turn);
    let before = scores.iter().find(|(id, _)| *id == user).map(|(_, score)| *score);
    if before.is_some_and(|before| score <= before) && !turn.call.params.is_true("force") {
        return Err(Refusal::bad_request("BOT_SCORE_NOT_MODIFIED"));
    }
    let is_inline = turn.call.params.given("inline_message_id").is_some();
    let chat = if is_inline { None } else { Some(turn.chat()?) };
    turn.admit(chat.as_ref(), 1)?;
    scores.retain(|(id, _)| *id != user);
    scores.push((user, score));
    scores.sort_by_key(|(_, score)| -score);
    let table = table(turn);
    turn.note(turn.call.bot, &table, &json!(scores));
    shown(turn)
}

/// The message of the game; true when it was sent through inline mode.
fn shown(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    if turn.call.params.given("inline_message_id").is_some() {
        return Done::yes();
    }
    let chat = turn.chat()?;
    let id = turn.call.params.integer("message_id").unwrap_or(0);
    let people = turn.telegram.world.people.clone();
    match turn.telegram.world.find(turn.call.bot, &chat, id) {
        Found::Message(message) => Done::of(&Shown { people: &people, message, chat: &chat, reply_to: None }),
        Found::Forgotten | Found::Nowhere => Err(Refusal::bad_request("message to set game score not found")),
    }
}

fn high_scores(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let scores = scores(turn);
    let ranked = scores.iter().zip(1..);
    let people = &turn.telegram.world.people;
    let shown = |((user, score), position): (&(i64, i64), i32)| json!({ "position": position, "user": people.named(User::Person(*user)), "score": score });
    Done::of(&ranked.map(shown).collect::<Vec<Value>>())
}
