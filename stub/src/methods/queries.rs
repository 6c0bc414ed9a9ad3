//! Answers to what users press, ask and pay. They are kept, so that whoever asked can read them.

use serde_json::{Value, json};

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::users::checkout::{self, TooOld};
use crate::world::Facts;

pub(super) const METHODS: Methods = &[
    ("answerCallbackQuery", answer_callback_query),
    ("answerInlineQuery", answer_inline_query),
    ("answerShippingQuery", answer_shipping_query),
    ("answerPreCheckoutQuery", answer_pre_checkout_query),
    ("answerWebAppQuery", answer_web_app_query),
    ("savePreparedInlineMessage", save_prepared_inline_message),
];

/// The longest notification (<https://core.telegram.org/bots/api#answercallbackquery>).
const LONGEST_NOTIFICATION: usize = 200;
/// How many results an inline query may get (<https://core.telegram.org/bots/api#answerinlinequery>).
const MOST_RESULTS: usize = 50;
const TOO_OLD: &str = "query is too old and response timeout expired or query ID is invalid";

/// Notes that a bot was asked something, so that it may answer.
pub(crate) fn note_query(facts: &mut Facts, bot: i64, kind: &str, update: &Value) {
    if let ("callback_query" | "inline_query", Some(id)) = (kind, update["id"].as_str()) {
        facts.set(bot, &format!("query/{id}"), &Value::Bool(true));
    }
}

/// What nobody asked cannot be answered, nor what was asked so long ago that it is forgotten.
fn must_have_been_asked(turn: &mut Turn<'_>, id: &str) -> Result<(), Refusal> {
    let id = turn.call.params.given(id).unwrap_or_default().to_owned();
    let asked = turn.noted(turn.call.bot, &format!("query/{id}"));
    asked.map(drop).ok_or_else(|| Refusal::bad_request(TOO_OLD))
}

/// Not limited by any ceiling (<https://github.com/tdlib/telegram-bot-api/issues/648>).
fn answer_callback_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    if turn.call.params.text("text").is_some_and(|text| text.chars().count() > LONGEST_NOTIFICATION) {
        return Err(Refusal::bad_request("MESSAGE_TOO_LONG"));
    }
    must_have_been_asked(turn, "callback_query_id")?;
    answer(turn, "callback_query_id", &["text", "show_alert", "url", "cache_time"])
}

fn answer_inline_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let results: Vec<Value> =
        turn.list("results").ok_or_else(|| Refusal::bad_request("can't parse inline query results JSON object"))?;
    if results.len() > MOST_RESULTS {
        return Err(Refusal::bad_request("too many inline query results specified"));
    }
    must_have_been_asked(turn, "inline_query_id")?;
    answer(turn, "inline_query_id", &["results", "cache_time", "is_personal", "next_offset", "button"])
}

/// Only a bot that agrees in time is paid.
fn answer_pre_checkout_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (id, agreed) = (query_id(turn, "pre_checkout_query_id")?, turn.call.params.is_true("ok"));
    let at = turn.moment();
    checkout::checked_out(turn.telegram, at, &id, agreed).map_err(|TooOld| Refusal::bad_request(TOO_OLD))?;
    answer(turn, "pre_checkout_query_id", &["ok", "error_message"])
}

fn answer_shipping_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let id = query_id(turn, "shipping_query_id")?;
    let option = if turn.call.params.is_true("ok") { Some(first_option(turn)?) } else { None };
    let at = turn.moment();
    checkout::shipped(turn.telegram, at, &id, option).map_err(|TooOld| Refusal::bad_request(TOO_OLD))?;
    answer(turn, "shipping_query_id", &["ok", "shipping_options", "error_message"])
}

/// The first way of shipping that is offered, and what it costs.
fn first_option(turn: &Turn<'_>) -> Result<(String, i64), Refusal> {
    let options: Vec<Value> = turn.list("shipping_options").unwrap_or_default();
    let unread = || Refusal::bad_request("can't parse shipping options JSON object");
    let option = options.first().ok_or_else(unread)?;
    let prices = option["prices"].as_array().ok_or_else(unread)?;
    let id = option["id"].as_str().ok_or_else(unread)?;
    Ok((id.to_owned(), prices.iter().filter_map(|price| price["amount"].as_i64()).sum()))
}

fn query_id(turn: &Turn<'_>, parameter: &str) -> Result<String, Refusal> {
    turn.call.params.given(parameter).map(str::to_owned).ok_or_else(|| Refusal::bad_request(TOO_OLD))
}

/// Keeps an answer under the id of what it answers.
fn answer(turn: &mut Turn<'_>, id: &str, fields: &[&str]) -> Result<Done, Refusal> {
    let id = query_id(turn, id)?;
    let given = fields.iter().filter_map(|name| Some(((*name).to_owned(), turn.plain(name)?)));
    let said = Value::Object(given.collect());
    turn.note(turn.call.bot, &format!("answer/{id}"), &said);
    Done::yes()
}

fn answer_web_app_query(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let result = turn.value("result").filter(Value::is_object);
    result.ok_or_else(|| Refusal::bad_request("can't parse inline query result: expected an Object"))?;
    answer(turn, "web_app_query_id", &["result"])?;
    Done::of(&json!({ "inline_message_id": format!("{:016x}", turn.telegram.chance(1..=i64::MAX)) }))
}

fn save_prepared_inline_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let result = turn.value("result").filter(Value::is_object);
    let result = result.ok_or_else(|| Refusal::bad_request("can't parse inline query result: expected an Object"))?;
    let id = format!("{:016x}", turn.telegram.chance(1..=i64::MAX));
    turn.note(turn.call.bot, &format!("answer/{id}"), &json!({ "result": result }));
    Done::of(&json!({ "id": id, "expiration_date": turn.date + 86_400 }))
}
