//! What a Mini App asks over HTTP.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::clock::unix_time;
use crate::complain::complain;
use crate::init_data::{Player, Refusal, Verifier};
use crate::league::League;
use crate::puzzle::{GUESSES, Word};
use crate::refresh::Boards;
use crate::store::Game;

/// What requests need.
#[derive(Debug)]
pub(crate) struct App {
    /// Who is who.
    pub(crate) verifier: Verifier,
    /// The games.
    pub(crate) league: Arc<League>,
    /// The boards.
    pub(crate) boards: Arc<Boards>,
    /// Someone opened the app.
    pub(crate) a_session: Arc<Notify>,
}

/// The API; it is served beside `/healthz`, which asks nobody.
pub(crate) fn api(app: Arc<App>) -> Router {
    Router::new().route("/api/session", post(session)).route("/api/guess", post(guess)).with_state(app)
}

/// Whether the process answers at all.
pub(crate) fn health() -> Router {
    Router::new().route("/healthz", get(async || "ok"))
}

/// An answer other than the one asked for.
#[derive(Debug)]
struct Failure(StatusCode, String);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self(StatusCode::UNAUTHORIZED, refusal.to_string())
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        complain(&format_args!("the database: {error}"));
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the database failed".to_owned())
    }
}

/// The player whose initData came with a request.
struct Signed(Player);

impl FromRequestParts<Arc<App>> for Signed {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let init_data = header.and_then(|value| value.strip_prefix("tma ")).ok_or(Refusal::Missing)?;
        Ok(Self(app.verifier.accept(init_data, unix_time())?))
    }
}

async fn session(State(app): State<Arc<App>>, Signed(player): Signed) -> Result<Json<Value>, Failure> {
    let game = app.league.join(&player).await?;
    if let Some(group) = player.group {
        app.boards.know(group);
    }
    app.a_session.notify_one();
    Ok(Json(told(&game)))
}

#[derive(Deserialize)]
struct Guessed {
    word: String,
}

async fn guess(
    State(app): State<Arc<App>>,
    Signed(player): Signed,
    Json(guessed): Json<Guessed>,
) -> Result<Json<Value>, Failure> {
    let wrong = || Failure(StatusCode::BAD_REQUEST, "a word has five letters from a to z".to_owned());
    let word = Word::parse(&guessed.word).ok_or_else(wrong)?;
    let game = app.league.guess(&player, word).await?;
    if let Some(group) = player.group {
        app.boards.change(group);
    }
    Ok(Json(told(&game)))
}

fn told(game: &Game) -> Value {
    let guesses: Vec<Value> =
        game.guesses.iter().map(|guess| json!({ "word": guess.word, "score": guess.score.to_string() })).collect();
    json!({
        "puzzle": game.puzzle,
        "guesses": guesses,
        "left": if game.is_finished() { 0 } else { GUESSES - game.guesses.len() },
        "finished": game.is_finished(),
        "won": game.is_won(),
        "version": game.version,
    })
}
