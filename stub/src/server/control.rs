//! `/_stub/...`: what users do, what bots sent, faults on order, counts. For tests in any language; the same as
//! the Rust API.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{Method, StatusCode, Uri};
use axum::routing::{get, post};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::faults::Fault;
use crate::launch::Opening;
use crate::methods;
use crate::shared::Shared;
use crate::token;
use crate::updates::Inbox;
use crate::users::UserAction;

type Said = (StatusCode, Json<Value>);

/// The longest that a read of what was sent may wait.
const LONGEST_WAIT: u64 = 50;
/// A page of a proxy as `description`, and more: every fault that is left is kept with its words.
const LONGEST_FAULT: usize = 64 << 10;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/faults", get(ordered).post(order).delete(clear))
        .route("/reset", post(reset))
        .route("/counts", get(counts))
        .route("/metrics", get(metrics))
        .route("/{bot}/state", get(state))
        .route("/{bot}/sent", get(sent))
        .route("/{bot}/answers/{id}", get(answered))
        .route("/{bot}/open_app", post(open))
        .route("/{bot}/{action}", post(act))
        .fallback(nothing)
        .method_not_allowed_fallback(nothing)
}

async fn nothing(verb: Method, uri: Uri) -> Said {
    let says = format!("there is no {verb} /_stub{}; stub/README.md lists what there is", uri.path());
    (StatusCode::NOT_FOUND, Json(json!({ "ok": false, "description": says })))
}

fn refused(says: &impl ToString) -> Said {
    (StatusCode::BAD_REQUEST, Json(json!({ "ok": false, "description": says.to_string() })))
}

fn done(result: &impl serde::Serialize) -> Said {
    (StatusCode::OK, Json(json!({ "ok": true, "result": result })))
}

/// A body, whatever type it is said to have; an empty one is an empty object.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Said> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| refused(&format!("the body: {error}")))
}

/// The bot that `bot<token>` names.
fn bot_in(path: &str) -> Result<i64, Said> {
    let token = path.strip_prefix("bot").unwrap_or_default();
    token::bot_of(token).map_err(|_| refused(&format!("{path:?} is not `bot` and a token")))
}

async fn act(State(shared): State<Arc<Shared>>, Path((bot, action)): Path<(String, String)>, body: Bytes) -> Said {
    acted(&shared, &bot, action, &body).unwrap_or_else(|said| said)
}

fn acted(shared: &Shared, bot: &str, action: String, body: &[u8]) -> Result<Said, Said> {
    let bot = bot_in(bot)?;
    let named = Value::Object(Map::from_iter([(action, read(body)?)]));
    let action: UserAction = serde_json::from_value(named).map_err(|error| refused(&error))?;
    let id = shared.do_as_user(bot, &action).map_err(|not| refused(&not))?;
    Ok(done(&json!({ "update_id": id })))
}

async fn open(State(shared): State<Arc<Shared>>, Path(bot): Path<String>, body: Bytes) -> Said {
    let opened = bot_in(&bot).and_then(|_| read::<Opening>(&body));
    opened.map_or_else(
        |said| said,
        |opening| {
            let token = bot.strip_prefix("bot").unwrap_or_default();
            done(&json!({ "url": shared.open_app(token, &opening) }))
        },
    )
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    since: u64,
    #[serde(default)]
    timeout: u64,
}

/// What a bot sent or edited after the cursor; waits for something if there is nothing.
async fn sent(
    State(shared): State<Arc<Shared>>,
    Path(bot): Path<String>,
    since: Result<Query<Since>, QueryRejection>,
) -> Said {
    let since = since.map_err(|error| refused(&error.body_text()));
    match bot_in(&bot).and_then(|bot| Ok((bot, since?.0))) {
        Ok((bot, since)) => news(&shared, bot, since).await,
        Err(said) => said,
    }
}

async fn news(shared: &Shared, bot: i64, since: Since) -> Said {
    let wait = Duration::from_secs(since.timeout.min(LONGEST_WAIT));
    let found = timeout(wait, async {
        loop {
            let news = shared.sent.notified();
            let found = shared.telegram().sent(bot, since.since);
            if !found.is_empty() {
                return found;
            }
            news.await;
        }
    });
    let found = found.await.unwrap_or_default();
    let cursor = found.last().map_or(since.since, |(cursor, _)| *cursor);
    let messages: Vec<Value> = found.into_iter().map(|(_, message)| message).collect();
    done(&json!({ "cursor": cursor, "messages": messages }))
}

/// How a bot gets its updates, how many wait for it, and the cursor of what was sent last.
async fn state(State(shared): State<Arc<Shared>>, Path(bot): Path<String>) -> Said {
    let bot = match bot_in(&bot) {
        Ok(bot) => bot,
        Err(said) => return said,
    };
    let telegram = shared.telegram();
    let inbox = telegram.inboxes.of(bot);
    let hook = inbox.and_then(Inbox::hook);
    done(&json!({
        "webhook": hook.map(|hook| &hook.target.url),
        "last_error": hook.and_then(|hook| hook.last_error.as_ref()).map(|(_, says)| says),
        "polls": inbox.is_some_and(Inbox::is_polled),
        "pending_updates": inbox.map_or(0, Inbox::len),
        "allowed_updates": inbox.and_then(|inbox| inbox.kinds.named()),
        "cursor": telegram.journal.last_cursor(),
    }))
}

/// What the bot answered to a query.
async fn answered(State(shared): State<Arc<Shared>>, Path((bot, id)): Path<(String, String)>) -> Said {
    let bot = match bot_in(&bot) {
        Ok(bot) => bot,
        Err(said) => return said,
    };
    done(&shared.telegram().world.facts.get(bot, &format!("answer/{id}")))
}

async fn order(State(shared): State<Arc<Shared>>, body: Bytes) -> Said {
    if body.len() > LONGEST_FAULT {
        return refused(&"the body: longer than 64 KiB");
    }
    match read::<Fault>(&body) {
        Ok(fault) => match shared.telegram().faults.order(shared.clock.now(), fault) {
            Ok(()) => done(&true),
            Err(too_many) => refused(&too_many),
        },
        Err(said) => said,
    }
}

async fn ordered(State(shared): State<Arc<Shared>>) -> Said {
    done(&shared.telegram().faults.at(shared.clock.now()))
}

async fn clear(State(shared): State<Arc<Shared>>) -> Said {
    shared.telegram().faults.clear();
    done(&true)
}

async fn reset(State(shared): State<Arc<Shared>>) -> Said {
    shared.telegram().reset();
    done(&true)
}

async fn counts(State(shared): State<Arc<Shared>>) -> Said {
    let telegram = shared.telegram();
    let (mut methods, mut unmodelled) = (Map::new(), Map::new());
    for (method, counts) in telegram.journal.totals() {
        let shown = json!({ "calls": counts.calls, "throttled": counts.throttled, "errors": counts.errors });
        methods.insert(method.name().to_owned(), shown);
        if !methods::is_modelled(method) {
            unmodelled.insert(method.name().to_owned(), json!(counts.calls));
        }
    }
    done(&json!({ "by_method": methods, "unmodelled": unmodelled }))
}

/// Prometheus' text format.
async fn metrics(State(shared): State<Arc<Shared>>) -> String {
    let mut text = String::from("# TYPE floodrig_stub_calls_total counter\n");
    for (method, counts) in shared.telegram().journal.totals() {
        let method = method.name();
        let fine = counts.calls - counts.throttled - counts.errors;
        for (answer, calls) in [("ok", fine), ("throttled", counts.throttled), ("error", counts.errors)] {
            writeln!(text, "floodrig_stub_calls_total{{method=\"{method}\",answer=\"{answer}\"}} {calls}")
                .expect("a string takes what is written");
        }
    }
    text
}
