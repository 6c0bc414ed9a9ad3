//! Answers to what users press and ask.

use super::{Family, Turn};
use crate::answer::{Done, Refusal};

pub(super) const METHODS: Family = &[("answerCallbackQuery", answer_callback_query)];

/// The longest notification (<https://core.telegram.org/bots/api#answercallbackquery>).
const LONGEST_NOTIFICATION: usize = 200;

/// Not limited by any ceiling (<https://github.com/tdlib/telegram-bot-api/issues/648>).
fn answer_callback_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let params = &turn.call.params;
    if params.given("callback_query_id").is_none() {
        let says = "query is too old and response timeout expired or query ID is invalid";
        return Err(Refusal::bad_request(says));
    }
    if params.text("text").is_some_and(|text| text.chars().count() > LONGEST_NOTIFICATION) {
        return Err(Refusal::bad_request("MESSAGE_TOO_LONG"));
    }
    Done::yes()
}
