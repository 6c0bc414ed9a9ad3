//! A bot on hyper as its documentation begins one: Telegram's address is written in, and trust is the system's.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a user's program, as users write them")]

use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

type Https = Client<HttpsConnector<HttpConnector>, Full<bytes::Bytes>>;

async fn call(client: &Https, method: &str, parameters: &Value) -> Value {
    let token = std::env::var("BOT_TOKEN").unwrap();
    let request = http::Request::post(format!("https://api.telegram.org/bot{token}/{method}"));
    let request = request.header("content-type", "application/json").body(Full::from(parameters.to_string())).unwrap();
    let answer = client.request(request).await.unwrap().into_body().collect().await.unwrap();
    let mut answer: Value = serde_json::from_slice(&answer.to_bytes()).unwrap();
    answer["result"].take()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let https = hyper_rustls::HttpsConnectorBuilder::new().with_native_roots().unwrap().https_only();
    let client: Https = Client::builder(TokioExecutor::new()).build(https.enable_http1().build());
    let mut offset = 0;
    loop {
        let updates = call(&client, "getUpdates", &json!({ "offset": offset, "timeout": 20 })).await;
        for update in updates.as_array().unwrap() {
            offset = update["update_id"].as_i64().unwrap() + 1;
            let parameters = json!({ "chat_id": update["message"]["chat"]["id"], "text": "yes" });
            call(&client, "sendMessage", &parameters).await;
        }
    }
}
