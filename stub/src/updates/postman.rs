//! Posts updates to webhooks: the loop that waits, posts and reports back. What is due is decided by the
//! inboxes; here are the sockets.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Request, Response, Uri, body::Incoming};
use percent_encoding::percent_decode_str;
use tokio::task::JoinSet;

use super::hook::{Delivery, Outcome};
use super::posters::{Poster, Posters, in_words};
use crate::answer::{Done, Refusal};
use crate::call::{Call, Decoder, Keeping};
use crate::catalogue;
use crate::records::{Asked, Told};
use crate::server::absorbing;
use crate::shared::Shared;

/// How long the server waits for a webhook's answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// More of an answer is not read.
const LONGEST_REPLY: usize = 1 << 20;
/// The longest pause that a webhook may ask for.
const LONGEST_RETRY_AFTER: u64 = 3600;

/// Runs until it is dropped.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut posters = Posters::default();
    let mut posts = JoinSet::new();
    loop {
        let (due, next_try) = shared.telegram().deliveries(shared.clock.now());
        for delivery in due {
            let poster = shared.trusting(|authorities| {
                posters.of(&delivery.target.url, delivery.target.uploaded.as_ref(), authorities)
            });
            posts.spawn(post(shared.clone(), poster, delivery));
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
        let asked = shared.records.asked(|| Asked::of(&call));
        let (answer, _) = absorbing::answered(&shared, call).await;
        if let Some(asked) = asked {
            shared.records.tell(asked, shared.clock.now(), told(&answer));
        }
    }
}

fn told(answer: &Result<Done, Refusal>) -> Told {
    match answer {
        Ok(_) => Told { status: 200, ..Told::default() },
        Err(Refusal { code, retry_after, rule, .. }) => {
            Told { status: *code, retry_after: *retry_after, rule: rule.clone(), answer_bytes: 0 }
        }
    }
}

fn failed(says: String) -> Outcome {
    Outcome::Failed { says, retry_after: None, gone: false }
}

type Posted = (Outcome, Option<(Option<String>, Bytes)>);

async fn exchange(poster: &Poster, delivery: &Delivery) -> Result<Posted, String> {
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
    if let Some(user) = user_in(&delivery.target.url) {
        request = request.header(AUTHORIZATION, format!("Basic {}", STANDARD.encode(user)));
    }
    if let Some(secret) = &delivery.target.secret {
        request = request.header("x-telegram-bot-api-secret-token", secret);
    }
    let body = Full::new(Bytes::copy_from_slice(delivery.body.as_str().as_bytes()));
    request.body(body).map_err(|error| error.to_string())
}

/// The user and password that a URL begins with, decoded.
fn user_in(url: &str) -> Option<Vec<u8>> {
    let url: Uri = url.parse().ok()?;
    let (user, _) = url.authority()?.as_str().rsplit_once('@')?;
    Some(percent_decode_str(user).collect())
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
