//! A Telegram for tests: it remembers every call and refuses those it was told to refuse.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// How long a test waits for a call before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// One call as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The method.
    pub(crate) method: String,
    /// The whole body.
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// The chat a board was sent to.
    pub(crate) fn chat(&self) -> i64 {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let (_, rest) = text.split_once("name=\"chat_id\"\r\n\r\n").expect("a chat in the form");
        rest.split_once("\r\n").expect("the end of the chat's part").0.parse().expect("a number")
    }

    /// The version a board's caption holds.
    pub(crate) fn version(&self) -> i64 {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let (_, rest) = text.split_once(" · v").expect("a caption with a version");
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
    }

    /// Whether the body holds a PNG.
    pub(crate) fn holds_png(&self) -> bool {
        self.body.windows(8).any(|bytes| bytes == b"\x89PNG\r\n\x1a\n")
    }
}

/// The recorder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    state: Arc<Mutex<Recorded>>,
    a_call: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Recorded {
    calls: Vec<Call>,
    refusals: VecDeque<(String, Value)>,
    hangs: bool,
}

impl Recorder {
    /// Starts it; the address is its root.
    pub(crate) async fn start() -> (Self, String) {
        let recorder = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/{*path}", any(answer)).with_state(recorder.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        (recorder, root)
    }

    /// The next call of this method is answered with this code and description.
    pub(crate) fn refuse(&self, method: &str, code: u16, description: &str, retry_after: Option<u64>) {
        let parameters = retry_after.map(|seconds| json!({ "retry_after": seconds }));
        let refusal = json!({ "ok": false, "error_code": code, "description": description, "parameters": parameters });
        self.state.lock().unwrap().refusals.push_back((method.to_owned(), refusal));
    }

    /// From now on no call is answered.
    pub(crate) fn hang(&self) {
        self.state.lock().unwrap().hangs = true;
    }

    /// The calls of any of these methods so far.
    pub(crate) fn calls(&self, methods: &[&str]) -> Vec<Call> {
        let state = self.state.lock().unwrap();
        state.calls.iter().filter(|call| methods.contains(&call.method.as_str())).cloned().collect()
    }

    /// Waits until what was recorded is enough.
    pub(crate) async fn until(&self, enough: impl Fn(&Self) -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !enough(self) {
                self.a_call.notified().await;
            }
        });
        assert!(waited.await.is_ok(), "only these calls came: {:?}", self.methods());
    }

    /// The methods called, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.state.lock().unwrap().calls.iter().map(|call| call.method.clone()).collect()
    }

    fn record(&self, call: Call) -> Option<Value> {
        let mut state = self.state.lock().unwrap();
        let refused = state.refusals.iter().position(|(method, _)| *method == call.method);
        let refusal = refused.and_then(|place| state.refusals.remove(place));
        let nth = state.calls.len();
        let answer = refusal.map_or_else(|| accepted(&call.method, nth), |(_, refusal)| refusal);
        state.calls.push(call);
        (!state.hangs).then_some(answer)
    }
}

fn accepted(method: &str, nth: usize) -> Value {
    let result = match method {
        "sendPhoto" | "editMessageMedia" => json!({ "message_id": nth + 1 }),
        "getUserProfilePhotos" => {
            json!({ "total_count": 1, "photos": [[{ "file_id": "small" }, { "file_id": "big" }]] })
        }
        "getFile" => json!({ "file_id": "big", "file_path": "photos/big.jpg" }),
        _ => json!(true),
    };
    json!({ "ok": true, "result": result })
}

async fn answer(State(recorder): State<Recorder>, Path(path): Path<String>, body: Bytes) -> Response {
    let method = if path.starts_with("file/") { "file" } else { path.rsplit('/').next().unwrap() };
    let answer = recorder.record(Call { method: method.to_owned(), body: body.to_vec() });
    recorder.a_call.notify_one();
    match answer {
        None => std::future::pending().await,
        Some(answer) => {
            let code = answer["error_code"].as_u64().unwrap_or(200) as u16;
            (StatusCode::from_u16(code).unwrap(), Json(answer)).into_response()
        }
    }
}
