//! What the bot does with an update.

use std::convert::Infallible;

use serde_json::{Value, json};

use crate::complain;
use crate::telegram::{Telegram, Trouble};

/// Serves until Telegram cannot be reached. Updates are answered side by side.
pub(crate) async fn serve(telegram: Telegram) -> Result<Infallible, Trouble> {
    let mut from = 0;
    loop {
        for update in telegram.updates(from).await? {
            from = update["update_id"].as_i64().map_or(from, |id| id + 1);
            let telegram = telegram.clone();
            tokio::spawn(async move {
                if let Err(trouble) = answer(&telegram, &update).await {
                    complain(&trouble);
                }
            });
        }
    }
}

async fn answer(telegram: &Telegram, update: &Value) -> Result<(), Trouble> {
    let query = &update["callback_query"];
    if query.is_object() {
        return tapped(telegram, query).await;
    }
    let message = &update["message"];
    match message["text"].as_str() {
        Some("/start") => greet(telegram, message).await,
        Some(text) => repeat(telegram, message, text).await,
        None => Ok(()),
    }
}

async fn greet(telegram: &Telegram, message: &Value) -> Result<(), Trouble> {
    let greeting = json!({
        "chat_id": message["chat"]["id"], "text": "Hello! Shall we play?", "reply_markup": keyboard(0),
    });
    telegram.call("sendMessage", &greeting).await.map(drop)
}

/// The rounds played are counted by the button itself, so that the bot has nothing to remember.
async fn tapped(telegram: &Telegram, query: &Value) -> Result<(), Trouble> {
    telegram.call("answerCallbackQuery", &json!({ "callback_query_id": query["id"] })).await?;
    let rounds = query["data"].as_str().and_then(|data| data.strip_prefix("round-")?.parse::<u32>().ok());
    let next = rounds.unwrap_or(0) + 1;
    let message = &query["message"];
    let edited = json!({
        "chat_id": message["chat"]["id"], "message_id": message["message_id"],
        "text": format!("Round {next}"), "reply_markup": keyboard(next),
    });
    telegram.call("editMessageText", &edited).await.map(drop)
}

async fn repeat(telegram: &Telegram, message: &Value, text: &str) -> Result<(), Trouble> {
    let reply = json!({
        "chat_id": message["chat"]["id"], "text": text, "reply_parameters": { "message_id": message["message_id"] },
    });
    telegram.call("sendMessage", &reply).await.map(drop)
}

fn keyboard(round: u32) -> Value {
    json!({ "inline_keyboard": [[{ "text": "Play", "callback_data": format!("round-{round}") }]] })
}
