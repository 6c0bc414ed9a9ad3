//! Polls: sent, and stopped by their bot.

use serde_json::{Value, json};

use super::things::content;
use super::{Methods, Turn, edits};
use crate::answer::{Done, Refusal};
use crate::catalogue;
use crate::world::Content;

pub(super) const METHODS: Methods = &[("sendPoll", send_poll), ("stopPoll", stop_poll)];

/// How many options a poll may have (<https://core.telegram.org/bots/api#sendpoll>).
const MOST_OPTIONS: usize = 12;

fn send_poll(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    let question = turn.required("question")?.to_owned();
    let options: Vec<Value> =
        turn.list("options").ok_or_else(|| Refusal::bad_request("can't parse options JSON object"))?;
    if !(1..=MOST_OPTIONS).contains(&options.len()) {
        return Err(Refusal::bad_request("poll must have at least 1 and at most 12 options"));
    }
    let id = turn.telegram.chance(1..=i64::MAX).to_string();
    let params = &turn.call.params;
    let poll = catalogue::filled(
        "Poll",
        json!({
            "id": id,
            "question": question,
            "options": options.iter().map(option).collect::<Vec<_>>(),
            "total_voter_count": 0,
            "is_closed": params.is_true("is_closed"),
            "is_anonymous": params.text("is_anonymous").is_none() || params.is_true("is_anonymous"),
            "type": params.given("type").unwrap_or("regular"),
            "allows_multiple_answers": params.is_true("allows_multiple_answers"),
            "allows_revoting": params.given("type") != Some("quiz"),
            "members_only": params.is_true("members_only"),
        }),
    );
    turn.send(&chat, content("poll", &poll))
}

/// An option is an object, or a text as it was before Bot API 7.3.
fn option(given: &Value) -> Value {
    let text = given.as_str().or_else(|| given["text"].as_str()).unwrap_or_default();
    catalogue::filled("PollOption", json!({ "persistent_id": text, "text": text, "voter_count": 0 }))
}

fn stop_poll(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let mut stopped = Value::Null;
    edits::edit(turn, |old| {
        let none = || Refusal::bad_request("message with poll to stop not found");
        let Some(Content::Fields(fields)) = old else { return Err(none()) };
        let poll = fields.iter().find(|(name, _)| *name == "poll").ok_or_else(none)?;
        stopped = serde_json::from_str(poll.1.as_str()).map_err(|_| none())?;
        if stopped["is_closed"] == true {
            return Err(Refusal::bad_request("poll has already been closed"));
        }
        stopped["is_closed"] = json!(true);
        Ok(content("poll", &stopped))
    })?;
    Done::of(&stopped)
}
