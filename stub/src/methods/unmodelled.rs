//! Real methods that the stub does not model: a value of the declared type, and a note in the journal.
//!
//! Those that send something are still held to the ceilings and put a message into the chat.

use serde_json::json;

use super::Turn;
use crate::answer::{Done, Json, Refusal};
use crate::catalogue;
use crate::world::Content;

pub(super) fn answer(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let method = turn.call.method;
    if !turn.patience.again {
        turn.telegram.journal.unmodelled(method);
    }
    let sends = method.name().starts_with("send") && method.returns() == "Message";
    if sends {
        let chat = turn.chat()?;
        let fields = [("text", Json::of(&json!(method.name())))];
        return turn.send(&chat, Content::Fields(Box::new(fields)));
    }
    let params = &turn.call.params;
    Done::of(&catalogue::default_value(method.returns(), &|name| params.given(name).map(str::to_owned)))
}
