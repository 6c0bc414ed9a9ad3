//! What users do, by the stub's own routes, and a forged webhook.

use serde_json::{Value, json};

use crate::report::{Checked, says, that};

/// A stub and one bot of it.
#[derive(Clone)]
pub struct Users {
    pub root: String,
    pub token: String,
}

impl Users {
    pub async fn write(&self, chat: i64, text: &str) -> Checked {
        self.act("message", json!({ "chat_id": chat, "user_id": chat, "text": text })).await
    }

    pub async fn press(&self, chat: i64, message: i32, data: &str) -> Checked {
        self.act("callback", json!({ "chat_id": chat, "user_id": chat, "message_id": message, "data": data })).await
    }

    async fn act(&self, what: &str, params: Value) -> Checked {
        let url = format!("{}/_stub/bot{}/{what}", self.root, self.token);
        let answer = post(&url, params).await?;
        that(answer == 200, format!("the stub refused to let a user {what}: {answer}"))
    }
}

/// The status of the answer.
pub async fn post(url: &str, body: Value) -> Result<u16, String> {
    let answer = reqwest::Client::new().post(url).json(&body).send().await.map_err(says)?;
    Ok(answer.status().as_u16())
}
