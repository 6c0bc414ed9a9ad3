//! `/_stub/...`: what users do, what bots sent, faults on order, counts. For tests in any language; the same as
//! the Rust API.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::Shared;
use crate::faults::Fault;
use crate::launch::{self, Drawn, Opening};
use crate::stub::NotPushed;
use crate::token;
use crate::users::{self, Moment, UserAction};

type Said = (StatusCode, Json<Value>);

/// The longest that a read of what was sent may wait.
const LONGEST_WAIT: u64 = 50;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/faults", post(order))
        .route("/faults", delete(clear))
        .route("/counts", get(counts))
        .route("/metrics", get(metrics))
        .route("/{bot}/sent", get(sent))
        .route("/{bot}/answers/{id}", get(answered))
        .route("/{bot}/open_app", post(open))
        .route("/{bot}/{action}", post(act))
}

fn refused(says: &impl ToString) -> Said {
    (StatusCode::BAD_REQUEST, Json(json!({ "ok": false, "description": says.to_string() })))
}

fn done(result: &impl serde::Serialize) -> Said {
    (StatusCode::OK, Json(json!({ "ok": true, "result": result })))
}

/// The bot that `bot<token>` names.
fn bot_in(path: &str) -> Result<i64, Said> {
    let token = path.strip_prefix("bot").unwrap_or_default();
    token::bot_of(token).map_err(|_| refused(&format!("{path:?} is not `bot` and a token")))
}

async fn act(
    State(shared): State<Arc<Shared>>,
    Path((bot, action)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Said {
    let bot = match bot_in(&bot) {
        Ok(bot) => bot,
        Err(said) => return said,
    };
    let named = Value::Object(Map::from_iter([(action, body)]));
    let action: UserAction = match serde_json::from_value(named) {
        Ok(action) => action,
        Err(error) => return refused(&error),
    };
    match shared.do_as_user(bot, &action) {
        Ok(id) => done(&json!({ "update_id": id })),
        Err(not) => refused(&not),
    }
}

async fn open(State(shared): State<Arc<Shared>>, Path(bot): Path<String>, Json(body): Json<Value>) -> Said {
    if let Err(said) = bot_in(&bot) {
        return said;
    }
    match serde_json::from_value::<Opening>(body) {
        Ok(opening) => {
            let token = bot.strip_prefix("bot").unwrap_or_default();
            done(&json!({ "url": shared.open_app(token, &opening) }))
        }
        Err(error) => refused(&error),
    }
}

impl Shared {
    /// The address that a user opens a Mini App at.
    pub(crate) fn open_app(&self, token: &str, opening: &Opening) -> String {
        let (query_id, people) = {
            let mut telegram = self.telegram();
            (telegram.chance(1..=i64::MAX).to_string(), telegram.world.people.clone())
        };
        let date = self.clock.unix(self.clock.now());
        launch::address(token, opening, Drawn { query_id: &query_id, date, people: &people })
    }

    /// Lets a user do something; the id of the update that came of it.
    pub(crate) fn do_as_user(&self, bot: i64, action: &UserAction) -> Result<i64, NotPushed> {
        let now = self.clock.now();
        let at = Moment { now, date: self.clock.unix(now), bot };
        let pushed = users::act(&mut self.telegram(), at, action);
        self.post.notify_one();
        pushed
    }
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    since: u64,
    #[serde(default)]
    timeout: u64,
}

/// What a bot sent or edited after the cursor; waits for something if there is nothing.
async fn sent(State(shared): State<Arc<Shared>>, Path(bot): Path<String>, Query(since): Query<Since>) -> Said {
    let bot = match bot_in(&bot) {
        Ok(bot) => bot,
        Err(said) => return said,
    };
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

/// What the bot answered to a query.
async fn answered(State(shared): State<Arc<Shared>>, Path((bot, id)): Path<(String, String)>) -> Said {
    let bot = match bot_in(&bot) {
        Ok(bot) => bot,
        Err(said) => return said,
    };
    done(&shared.telegram().world.facts.get(bot, &format!("answer/{id}")))
}

async fn order(State(shared): State<Arc<Shared>>, Json(fault): Json<Value>) -> Said {
    match serde_json::from_value::<Fault>(fault) {
        Ok(fault) => {
            shared.telegram().faults.order(fault);
            done(&true)
        }
        Err(error) => refused(&error),
    }
}

async fn clear(State(shared): State<Arc<Shared>>) -> Said {
    shared.telegram().faults.clear();
    done(&true)
}

async fn counts(State(shared): State<Arc<Shared>>) -> Said {
    let telegram = shared.telegram();
    let methods = telegram.journal.totals().map(|(name, counts)| {
        (name.to_owned(), json!({ "calls": counts.calls, "throttled": counts.throttled, "errors": counts.errors }))
    });
    done(&json!({ "by_method": methods.collect::<Map<_, _>>() }))
}

/// Prometheus' text format.
async fn metrics(State(shared): State<Arc<Shared>>) -> String {
    let mut text = String::from("# TYPE floodrig_stub_calls_total counter\n");
    for (method, counts) in shared.telegram().journal.totals() {
        let fine = counts.calls - counts.throttled - counts.errors;
        for (answer, calls) in [("ok", fine), ("throttled", counts.throttled), ("error", counts.errors)] {
            writeln!(text, "floodrig_stub_calls_total{{method=\"{method}\",answer=\"{answer}\"}} {calls}")
                .expect("a string takes what is written");
        }
    }
    text
}
