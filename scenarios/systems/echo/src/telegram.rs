//! Calls to Telegram. One that came too soon is made again when Telegram says.

use std::time::Duration;

use serde_json::{Value, json};

/// How long a poll waits for updates, in seconds.
const POLL: u64 = 30;

/// What ends the bot.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// A setting is missing.
    #[error("{0} is not set")]
    Unset(&'static str),
    /// The runtime could not start.
    #[error("could not start: {0}")]
    Start(#[from] std::io::Error),
    /// Telegram cannot be reached.
    #[error("Telegram cannot be reached: {0}")]
    Unreachable(#[from] reqwest::Error),
    /// Telegram refused.
    #[error("Telegram refused {method}: {says}")]
    Refused {
        /// What was called.
        method: &'static str,
        /// Its description.
        says: String,
    },
}

/// Telegram, as one bot calls it.
#[derive(Debug, Clone)]
pub(crate) struct Telegram {
    client: reqwest::Client,
    base: String,
}

impl Telegram {
    pub(crate) fn of(root: &str, token: &str) -> Result<Self, Trouble> {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(2 * POLL)).build()?;
        Ok(Self { client, base: format!("{root}/bot{token}") })
    }

    /// The updates from this one on; waits for one if there is none.
    pub(crate) async fn updates(&self, from: i64) -> Result<Vec<Value>, Trouble> {
        let updates = self.call("getUpdates", &json!({ "offset": from, "timeout": POLL })).await?;
        Ok(updates.as_array().cloned().unwrap_or_default())
    }

    /// Makes a call, as often as it takes.
    pub(crate) async fn call(&self, method: &'static str, parameters: &Value) -> Result<Value, Trouble> {
        loop {
            let answer = self.client.post(format!("{}/{method}", self.base)).json(parameters).send().await?;
            let mut answer: Value = answer.json().await?;
            if answer["ok"] == true {
                return Ok(answer["result"].take());
            }
            match answer["parameters"]["retry_after"].as_u64() {
                Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
                None => return Err(Trouble::Refused { method, says: answer["description"].to_string() }),
            }
        }
    }
}
