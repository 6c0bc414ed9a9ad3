//! Topics of a forum. What is closed or deleted takes no messages any more.

use serde_json::{Value, json};

use super::chats::shared_chat;
use super::{Methods, Turn, things};
use crate::answer::{Done, Refusal};
use crate::world::{Chat, Message};

pub(super) const METHODS: Methods = &[
    ("createForumTopic", create),
    ("editForumTopic", edit),
    ("closeForumTopic", |turn| change_state(turn, "closed")),
    ("reopenForumTopic", |turn| change_state(turn, "open")),
    ("deleteForumTopic", |turn| change_state(turn, "deleted")),
    ("closeGeneralForumTopic", |turn| change_general(turn, "closed")),
    ("reopenGeneralForumTopic", |turn| change_general(turn, "open")),
    ("hideGeneralForumTopic", |turn| change_general(turn, "hidden")),
    ("unhideGeneralForumTopic", |turn| change_general(turn, "open")),
    ("editGeneralForumTopic", edit_general),
];

/// The general topic has this id in every forum.
pub(super) const GENERAL: i64 = 1;
/// The colour of a topic that was given none (<https://core.telegram.org/bots/api#createforumtopic>).
const COLOUR: i64 = 7_322_096;

/// A topic begins with a message of the service, which counts like any other
/// (<https://github.com/tdlib/td/issues/2592>).
fn create(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let name = turn.required("name")?.to_owned();
    let colour = turn.call.params.integer("icon_color").unwrap_or(COLOUR);
    turn.admit(Some(&chat), 1)?;
    let id = turn.telegram.world.next_id(turn.call.bot, &chat);
    let mut topic = json!({ "message_thread_id": id, "name": name, "icon_color": colour });
    if let Some(emoji) = turn.call.params.given("icon_custom_emoji_id") {
        topic["icon_custom_emoji_id"] = json!(emoji);
    }
    keep(turn, &chat, id, "open", &topic);
    let draft = turn.draft(&chat)?;
    let content = things::content("forum_topic_created", &json!({ "name": name, "icon_color": colour }));
    turn.place(&chat, Message { id, content, thread: Some(id), ..draft });
    Done::of(&topic)
}

fn keep(turn: &mut Turn<'_>, chat: &Chat, id: i64, state: &str, topic: &Value) {
    turn.note(chat.id, &format!("topic/{id}"), &json!({ "state": state, "topic": topic }));
}

fn known(turn: &mut Turn<'_>, chat: &Chat) -> Result<(i64, Value), Refusal> {
    let id = turn.call.params.integer("message_thread_id").unwrap_or(0);
    let known = turn.noted(chat.id, &format!("topic/{id}")).filter(|topic| topic["state"] != "deleted");
    Ok((id, known.ok_or_else(|| Refusal::bad_request("message thread not found"))?))
}

fn edit(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let (id, mut known) = known(turn, &chat)?;
    let before = known["topic"].clone();
    for name in ["name", "icon_custom_emoji_id"] {
        if let Some(value) = turn.call.params.given(name) {
            known["topic"][name] = json!(value);
        }
    }
    if known["topic"] == before {
        return Err(Refusal::bad_request("TOPIC_NOT_MODIFIED"));
    }
    let state = known["state"].as_str().unwrap_or("open").to_owned();
    keep(turn, &chat, id, &state, &known["topic"]);
    Done::yes()
}

fn change_state(turn: &mut Turn<'_>, state: &str) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let (id, known) = known(turn, &chat)?;
    if known["state"] == state {
        return Err(Refusal::bad_request("TOPIC_NOT_MODIFIED"));
    }
    keep(turn, &chat, id, state, &known["topic"]);
    Done::yes()
}

fn change_general(turn: &mut Turn<'_>, state: &str) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let known = general(turn, &chat);
    keep(turn, &chat, GENERAL, state, &known["topic"]);
    Done::yes()
}

/// The general topic as it was left; it is open in a chat that nobody changed.
fn general(turn: &mut Turn<'_>, chat: &Chat) -> Value {
    let untouched = json!({ "state": "open", "topic": { "message_thread_id": GENERAL, "name": "General" } });
    turn.noted(chat.id, &format!("topic/{GENERAL}")).unwrap_or(untouched)
}

fn edit_general(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let name = json!(turn.required("name")?);
    let mut known = general(turn, &chat);
    if known["topic"]["name"] == name {
        return Err(Refusal::bad_request("TOPIC_NOT_MODIFIED"));
    }
    known["topic"]["name"] = name;
    let state = known["state"].as_str().unwrap_or("open").to_owned();
    keep(turn, &chat, GENERAL, &state, &known["topic"]);
    Done::yes()
}
