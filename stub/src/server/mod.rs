//! The only room that knows HTTP and sockets: connections in, calls out, answers back.
//!
//! Written on hyper's connections, because the wire has to look like Telegram's: header names in title case,
//! half-closed clients answered, large heads taken. Only the control room is an axum router: the Bot API has a single
//! route, and calls are answered without one.

pub(crate) mod absorbing;
mod answering;
mod control;
mod door;
mod gate;
mod intake;
mod polling;
mod route;
mod spare;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{Request, Response, Version};
pub use door::Door;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::shared::Shared;
use crate::updates::postman;

/// The server reads heads of up to this size (`HttpServer.h` of <https://github.com/tdlib/telegram-bot-api>).
const LARGEST_HEAD: usize = 256 << 10;
/// And lets a connection idle for so long.
const PATIENCE: Duration = Duration::from_secs(500);
/// How long accepting rests when there are no more file handles.
const BREATH: Duration = Duration::from_millis(20);

/// Serves at every door that comes until `stop` says so or its sender is gone; every connection ends with it.
pub(crate) async fn serve(shared: Arc<Shared>, mut doors: mpsc::Receiver<Door>, mut stop: watch::Receiver<bool>) {
    let rooms = Rooms::of(&shared);
    let mut open = JoinSet::new();
    open.spawn(postman::run(shared.clone()));
    loop {
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            Some(door) = doors.recv() => drop(open.spawn(door::serve(door, rooms.clone()))),
        }
    }
    shared.errands.end();
}

/// Where a request may go.
#[derive(Clone)]
struct Rooms {
    shared: Arc<Shared>,
    control: TowerToHyperService<Router>,
}

/// What the paths of the control room begin with; no path of Telegram does.
const CONTROL: &str = "/_stub/";

impl Rooms {
    fn of(shared: &Arc<Shared>) -> Self {
        let control = Router::new().nest(CONTROL, control::routes()).with_state(shared.clone());
        Self { shared: shared.clone(), control: TowerToHyperService::new(control) }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path().starts_with(CONTROL) {
            return self.control.call(request).await.unwrap_or_else(|never| match never {});
        }
        answering::answer(&self.shared, request.map(Body::new)).await
    }
}

async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin, rooms: Rooms) {
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .half_close(true)
        .title_case_headers(true)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service_fn(|request| serve_one(&rooms, request)))
        .await;
    // It ends with an error when its client broke off or spoke no HTTP, and then nobody is left to tell.
    drop(served);
}

/// The connection is to end without an answer.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("a fault was ordered that ends the connection")]
struct Reset;

/// True when the client wants the connection to end with the answer.
fn is_last(request: &Request<Incoming>) -> bool {
    let says = |word: &str| {
        let said = request.headers().get(CONNECTION).and_then(|value| value.to_str().ok());
        said.is_some_and(|said| said.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
    };
    if request.version() == Version::HTTP_10 { !says("keep-alive") } else { says("close") }
}

/// An answer marked [`Reset`] is none: hyper ends a connection whose service fails.
async fn serve_one(rooms: &Rooms, request: Request<Incoming>) -> Result<Response<Body>, Reset> {
    let ends = is_last(&request);
    let mut response = rooms.answer(request).await;
    if ends {
        // hyper says for itself that it closes; both together would contradict each other.
        response.headers_mut().remove(CONNECTION);
    }
    match response.extensions().get::<Reset>() {
        Some(reset) => Err(*reset),
        None => Ok(response),
    }
}
