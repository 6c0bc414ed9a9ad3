//! Posts updates to webhooks: the loop that waits, posts and reports back. What is due is decided by the
//! inboxes; here are the sockets.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Request, Response, body::Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::task::JoinSet;

use super::hook::{Delivery, Outcome};
use crate::call::{Call, Decoder, Keeping};
use crate::catalogue;
use crate::server::{Shared, absorbing};

type Poster = Client<HttpConnector, Full<Bytes>>;

/// How long the server waits for a webhook's answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// More of an answer is not read.
const LONGEST_REPLY: usize = 1 << 20;
/// The longest pause that a webhook may ask for.
const LONGEST_RETRY_AFTER: u64 = 3600;

/// Runs until it is dropped.
pub(crate) async fn run(shared: Arc<Shared>) {
    let poster: Poster = Client::builder(TokioExecutor::new()).http1_title_case_headers(true).build_http();
    let mut posts = JoinSet::new();
    loop {
        let (due, next_try) = shared.telegram().deliveries(shared.clock.now());
        for delivery in due {
            posts.spawn(post(shared.clone(), poster.clone(), delivery));
        }
        let rest = next_try.map_or(Duration::from_hours(1), |at| at.saturating_sub(shared.clock.now()));
        tokio::select! {
            () = shared.post.notified() => {}
            () = tokio::time::sleep(rest) => {}
            Some(_) = posts.join_next() => {}
        }
    }
}

/// Posts one update, says how that ended, and makes the call that may have come back.
async fn post(shared: Arc<Shared>, poster: Poster, delivery: Delivery) {
    let (outcome, reply) = match tokio::time::timeout(PATIENCE, exchange(&poster, &delivery)).await {
        Ok(Ok(done)) => done,
        Ok(Err(says)) => (failed(says), None),
        Err(_) => (failed("Read timeout expired".to_owned()), None),
    };
    let now = shared.clock.now();
    shared.telegram().posted(now, &delivery, &outcome);
    shared.post.notify_one();
    let Some((content_type, body)) = reply else { return };
    if let Some(call) = call_in_reply(delivery.bot, now, content_type.as_deref(), &body) {
        // Its result goes nowhere, as at Telegram; the journal has it.
        drop(absorbing::answered(&shared, call).await);
    }
}

fn failed(says: String) -> Outcome {
    Outcome::Failed { says, retry_after: None, gone: false }
}

type Done = (Outcome, Option<(Option<String>, Bytes)>);

async fn exchange(poster: &Poster, delivery: &Delivery) -> Result<Done, String> {
    let response = poster.request(request_for(delivery)?).await.map_err(|error| in_words(&error))?;
    let outcome = outcome_of(&response);
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = Limited::new(response.into_body(), LONGEST_REPLY).collect().await;
    let body = body.map_err(|_| "Webhook connection closed".to_owned())?.to_bytes();
    let reply = (outcome == Outcome::Delivered && !body.is_empty()).then_some((content_type, body));
    Ok((outcome, reply))
}

fn request_for(delivery: &Delivery) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::post(&delivery.target.url)
        .header(CONTENT_TYPE, "application/json")
        .header("connection", "keep-alive")
        .header(ACCEPT_ENCODING, "gzip, deflate");
    if let Some(secret) = &delivery.target.secret {
        request = request.header("x-telegram-bot-api-secret-token", secret);
    }
    let body = Full::new(Bytes::copy_from_slice(delivery.body.as_str().as_bytes()));
    request.body(body).map_err(|error| error.to_string())
}

fn outcome_of(response: &Response<Incoming>) -> Outcome {
    let status = response.status();
    if status.is_success() {
        return Outcome::Delivered;
    }
    let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    Outcome::Failed {
        says: format!("Wrong response from the webhook: {status}"),
        retry_after: asked.map(|seconds| Duration::from_secs(seconds.min(LONGEST_RETRY_AFTER))),
        gone: status.as_u16() == 410,
    }
}

fn in_words(error: &hyper_util::client::legacy::Error) -> String {
    if error.is_connect() { "Connection refused".to_owned() } else { "Webhook connection closed".to_owned() }
}

/// The call that a webhook's answer holds, if it holds one that may be made that way.
fn call_in_reply(bot: i64, begun: Duration, content_type: Option<&str>, body: &[u8]) -> Option<Call> {
    let mut decoder = Decoder::new(None, content_type, &Keeping::bounded(LONGEST_REPLY));
    decoder.feed(body).ok()?;
    let params = decoder.finish().ok()?;
    let method = catalogue::method(params.given("method")?)?;
    let refused = ["setWebhook", "deleteWebhook", "close", "logOut"];
    let allowed = !refused.contains(&method.name()) && !method.name().starts_with("get");
    allowed.then_some(Call { bot, method, params, begun })
}
