//! Doing wrong on order, so that a rig can be held against a truth known beforehand.
//!
//! Orders come with the environment, timed, or over HTTP while a run is on; without `CALIBRATE=1` there is neither.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytesize::ByteSize;
use serde::Deserialize;

use crate::clock::Clock;
use crate::complain::complain;
use crate::orders::{Answers, Order, Timed, signal_named};
use crate::render::die_of;
use crate::stop::StopOrder;

/// What orders act upon.
#[derive(Debug)]
pub(crate) struct Faults {
    close_listener: StopOrder,
    answers: Mutex<Option<Answers>>,
    leaked: Mutex<Vec<Vec<u8>>>,
    held: Mutex<Vec<File>>,
}

impl Faults {
    /// Nothing is wrong yet.
    pub(crate) fn new(close_listener: StopOrder) -> Self {
        Self { close_listener, answers: Mutex::default(), leaked: Mutex::default(), held: Mutex::default() }
    }

    /// Does what is ordered.
    async fn carry_out(self: &Arc<Self>, order: Order) {
        match order {
            Order::Stall(time) => compute(time),
            // Of the runtime's only thread: a stall that waits, as for a file or a lock.
            Order::Block(time) => std::thread::sleep(time),
            Order::Leak(size) => self.leak(size).await,
            Order::Handles(count) => self.hold(count),
            Order::Exit(code) => exit(code),
            Order::Signal(signal) => die_of(signal),
            Order::CloseListener => self.close_listener.give(),
            Order::Status(answers) => *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = Some(answers),
            Order::Orphan(time) => orphan(time).await,
        }
    }

    /// Touches the bytes on another thread: a leak must not be a stall.
    async fn leak(self: &Arc<Self>, size: ByteSize) {
        let faults = Arc::clone(self);
        let touch = move || {
            let bytes = vec![1; size.as_u64() as usize];
            faults.leaked.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        };
        if let Err(error) = tokio::task::spawn_blocking(touch).await {
            complain(&format_args!("a leak of {size}: {error}"));
        }
    }

    /// Opens files that nobody closes.
    fn hold(&self, count: u32) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..count {
            match File::open("/dev/null") {
                Ok(file) => held.push(file),
                Err(error) => return complain(&format_args!("a handle: {error}")),
            }
        }
    }

    /// The status of the next answer, if it was ordered.
    fn next_answer(&self) -> Option<StatusCode> {
        let mut ordered = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = ordered.as_mut().filter(|answers| answers.times > 0)?;
        answers.times -= 1;
        Some(answers.status)
    }
}

/// Carries out timed orders.
pub(crate) async fn obey(faults: Arc<Faults>, mut orders: Vec<Timed<Order>>, clock: Clock) {
    orders.sort_by_key(|order| order.after);
    for Timed { after, due } in orders {
        clock.until(after).await;
        faults.carry_out(due).await;
    }
}

/// Answers in the app's place where a status was ordered.
pub(crate) async fn answer_as_ordered(State(faults): State<Arc<Faults>>, request: Request, next: Next) -> Response {
    match faults.next_answer() {
        Some(status) => status.into_response(),
        None => next.run(request).await,
    }
}

/// Orders over HTTP; each is answered when it is done, as far as anyone is left to answer.
pub(crate) fn routes(faults: Arc<Faults>) -> Router {
    Router::new()
        .route("/calibrate/stall", post(async |faults, Query(order): Query<Stall>| done(faults, order.order()).await))
        .route("/calibrate/leak", post(async |faults, Query(Leak { bytes })| done(faults, Order::Leak(bytes)).await))
        .route("/calibrate/handles", post(async |faults, Query(Handles { n })| done(faults, Order::Handles(n)).await))
        .route("/calibrate/exit", post(async |faults, Query(Exit { code })| done(faults, Order::Exit(code)).await))
        .route("/calibrate/signal", post(signal))
        .route("/calibrate/close-listener", post(async |faults| done(faults, Order::CloseListener).await))
        .route("/calibrate/status", post(status))
        .route(
            "/calibrate/orphan",
            post(async |faults, Query(Orphan { ms })| done(faults, Order::Orphan(millis(ms))).await),
        )
        .with_state(faults)
}

#[derive(Deserialize)]
struct Stall {
    ms: u64,
    #[serde(default)]
    kind: Kind,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Computing,
    Blocked,
}

impl Stall {
    fn order(self) -> Order {
        match self.kind {
            Kind::Computing => Order::Stall(millis(self.ms)),
            Kind::Blocked => Order::Block(millis(self.ms)),
        }
    }
}

#[derive(Deserialize)]
struct Handles {
    n: u32,
}

#[derive(Deserialize)]
struct Leak {
    bytes: ByteSize,
}

#[derive(Deserialize)]
struct Exit {
    code: u8,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Status {
    code: u16,
    times: u32,
}

#[derive(Deserialize)]
struct Orphan {
    ms: u64,
}

async fn done(State(faults): State<Arc<Faults>>, order: Order) -> StatusCode {
    faults.carry_out(order).await;
    StatusCode::NO_CONTENT
}

async fn signal(faults: State<Arc<Faults>>, Query(Named { name }): Query<Named>) -> StatusCode {
    match signal_named(&name) {
        Some(signal) => done(faults, Order::Signal(signal)).await,
        None => StatusCode::BAD_REQUEST,
    }
}

async fn status(faults: State<Arc<Faults>>, Query(Status { code, times }): Query<Status>) -> StatusCode {
    match StatusCode::from_u16(code) {
        Ok(status) => done(faults, Order::Status(Answers { status, times })).await,
        Err(_) => StatusCode::BAD_REQUEST,
    }
}

const fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Burns the runtime's thread: a stall that computes, as a loop over too much data does.
fn compute(time: Duration) {
    let clock = Clock::start();
    while clock.now() < time {
        std::hint::spin_loop();
    }
}

#[expect(clippy::disallowed_methods, reason = "ending at once, in the middle of everything, is what was ordered")]
fn exit(code: u8) {
    std::process::exit(i32::from(code));
}

/// The shell ends at once, so that its child belongs to whoever adopts orphans; it keeps our standard error open.
async fn orphan(time: Duration) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep \"$0\" &"]).arg(time.as_secs_f64().to_string()).stdin(Stdio::null());
    match tokio::task::spawn_blocking(move || shell.status()).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => complain(&format_args!("an orphan: {error}")),
        Err(error) => complain(&format_args!("an orphan: {error}")),
    }
}
