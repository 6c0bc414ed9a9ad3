//! From a request to its response.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::time::sleep;

use super::intake::{self, Intake, Reader, Unread};
use super::route::{Route, route};
use super::{Reset, absorbing, gate, polling};
use crate::answer::{self, Done, Refusal};
use crate::call::{Call, Decoder, Inflate};
use crate::catalogue;
use crate::faults::{Strike, Then};
use crate::records::{Asked, Told};
use crate::shared::Shared;

/// More than any call that is taken: a file at its largest, its parameters and the form around them.
const LARGEST_BODY: u64 = 52 << 20;

/// Answers any request.
pub(super) async fn answer(shared: &Arc<Shared>, request: Request<Body>) -> Response<Body> {
    let begun = shared.clock.now();
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return bare(StatusCode::NOT_IMPLEMENTED);
    }
    match route(request.uri().path()) {
        Ok(Route::Method { bot, name }) => called(shared, bot, &name, begun, request).await,
        Ok(Route::File { path }) => file(shared, &path).await,
        Err(refusal) => after(Duration::ZERO, Err(refusal)).await,
    }
}

async fn called(shared: &Arc<Shared>, bot: i64, name: &str, begun: Duration, request: Request<Body>) -> Response<Body> {
    match read(shared, bot, request).await {
        Ok(intake) => {
            let named = if name.is_empty() { intake.params.given("method").unwrap_or_default() } else { name };
            let Some(method) = catalogue::method(named) else {
                let takes = shared.telegram().answer_time();
                let response = after(takes, Err(Refusal::no_such_method())).await;
                return recorded(shared, shared.records.asked(|| Asked::named(begun, bot, named)), response);
            };
            let Intake { params, upload } = intake;
            let call = Call { bot, method, params, begun };
            let asked = shared.records.asked(|| Asked::of(&call));
            let response = act(shared, call).await;
            drop(upload);
            recorded(shared, asked, response)
        }
        Err(Unread::Malformed) => bare(StatusCode::BAD_REQUEST),
        Err(Unread::Unsupported) => bare(StatusCode::UNSUPPORTED_MEDIA_TYPE),
        Err(Unread::CutOff(refusal)) => closing(after(Duration::ZERO, Err(refusal)).await),
        Err(Unread::Refused(refusal)) => {
            let takes = refused_upload(shared, name, &refusal);
            let response = after(takes, Err(refusal)).await;
            recorded(shared, shared.records.asked(|| Asked::named(begun, bot, name)), response)
        }
    }
}

/// Tells of the call where anybody wants it.
fn recorded(shared: &Shared, asked: Option<Asked>, response: Response<Body>) -> Response<Body> {
    if let Some(asked) = asked {
        shared.records.tell(asked, shared.clock.now(), told(&response));
    }
    response
}

fn told(response: &Response<Body>) -> Told {
    let is_reset = response.extensions().get::<Reset>().is_some();
    let Throttled { retry_after, rule } = response.extensions().get::<Throttled>().cloned().unwrap_or_default();
    let status = if is_reset { 0 } else { response.status().as_u16() };
    Told { status, retry_after, rule, answer_bytes: response.body().size_hint().exact().unwrap_or(0) }
}

/// An upload that found no slot is a call like any other: it is counted and takes its time.
fn refused_upload(shared: &Shared, name: &str, refusal: &Refusal) -> Duration {
    let mut telegram = shared.telegram();
    if let Some(method) = catalogue::method(name) {
        telegram.journal.answered(shared.clock.now(), method, refusal.code);
    }
    telegram.answer_time()
}

async fn read(shared: &Shared, bot: i64, request: Request<Body>) -> Result<Intake<'_>, Unread> {
    let (head, body) = request.into_parts();
    let header = |name| head.headers.get(name).map(|value| String::from_utf8_lossy(HeaderValue::as_bytes(value)));
    if header(CONTENT_LENGTH).is_some_and(|length| length.parse().is_ok_and(|length: u64| length > LARGEST_BODY)) {
        return Err(Unread::CutOff(Refusal::too_large()));
    }
    let decoder = Decoder::new(head.uri.query(), header(CONTENT_TYPE).as_deref(), &shared.keeping);
    let inflate = Inflate::of(header(CONTENT_ENCODING).as_deref()).map_err(|_| Unread::Unsupported)?;
    intake::read(shared, bot, Reader { inflate, decoder }, body).await
}

/// The call is answered when it arrives, or has waited; its answer then travels for as long as answers take.
async fn act(shared: &Arc<Shared>, call: Call) -> Response<Body> {
    let struck = {
        let mut telegram = shared.telegram();
        if telegram.faults.is_empty() { None } else { telegram.strike(&call, shared.clock.now()) }
    };
    if let Some(Strike { delay, then }) = struck {
        sleep(delay).await;
        match then {
            Then::Answer => {}
            Then::Refuse(refusal) => return refused(&refusal),
            Then::Reset => return reset(),
            Then::Hang => std::future::pending().await,
        }
    }
    if call.method.name() == "getUpdates" {
        return polling::get_updates(shared, &call).await;
    }
    passed(shared, call).await
}

/// The gateway counts the call until its answer has arrived.
async fn passed(shared: &Arc<Shared>, call: Call) -> Response<Body> {
    let pass = match gate::pass(shared, &call).await {
        Ok(pass) => pass,
        Err(refusal) => return refused(&refusal),
    };
    let (answer, takes) = absorbing::answered(shared, call).await;
    let response = after(takes, answer).await;
    drop(pass);
    response
}

/// The bytes of a file.
async fn file(shared: &Shared, path: &str) -> Response<Body> {
    let (bytes, takes) = {
        let mut telegram = shared.telegram();
        (telegram.world.files.download(path), telegram.answer_time())
    };
    let Some(bytes) = bytes else { return after(takes, Err(Refusal::not_found())).await };
    sleep(takes).await;
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    response
}

/// A response, once its time has come.
pub(super) async fn after(takes: Duration, answer: Result<Done, Refusal>) -> Response<Body> {
    if !takes.is_zero() {
        sleep(takes).await;
    }
    match answer {
        Ok(done) => json(answer::body(Ok(done))),
        Err(refusal) => refused(&refusal),
    }
}

fn json(body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("keep-alive"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let mut response = json(answer::body(Err(refusal)));
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        response.extensions_mut().insert(Throttled { retry_after: Some(seconds), rule: refusal.rule.clone() });
    }
    *response.status_mut() = StatusCode::from_u16(refusal.code).expect("refusals have codes that HTTP knows");
    response
}

/// What the journal knows of a 429 beside its status.
#[derive(Debug, Clone, Default)]
struct Throttled {
    retry_after: Option<u32>,
    rule: Option<Cow<'static, str>>,
}

/// An answer that is none.
fn reset() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    response.extensions_mut().insert(Reset);
    response
}

/// What the server's HTTP parser says: a status alone, and the connection is closed.
fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    closing(response)
}

fn closing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
