//! Stories of a business account: posted, changed, taken back.

use serde_json::{Value, json};

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::world::Chat;

pub(super) const METHODS: Methods =
    &[("postStory", post), ("repostStory", post), ("editStory", edit), ("deleteStory", delete)];

/// Stories are kept under the connection that posts them.
fn key(turn: &Turn<'_>, id: i64) -> Result<String, Refusal> {
    Ok(format!("story/{}/{id}", turn.required("business_connection_id")?))
}

fn post(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let id = turn.telegram.chance(1..=i64::from(i32::MAX));
    let key = key(turn, id)?;
    let story = json!({ "chat": Chat::of(turn.call.bot), "id": id });
    turn.note(turn.call.bot, &key, &story);
    Done::of(&story)
}

fn known(turn: &mut Turn<'_>) -> Result<(String, Value), Refusal> {
    let key = key(turn, turn.call.params.integer("story_id").unwrap_or(0))?;
    let story = turn.noted(turn.call.bot, &key).ok_or_else(|| Refusal::bad_request("STORY_NOT_FOUND"))?;
    Ok((key, story))
}

fn edit(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    Done::of(&known(turn)?.1)
}

fn delete(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (key, _) = known(turn)?;
    turn.telegram.world.facts.forget(turn.call.bot, &key);
    Done::yes()
}
