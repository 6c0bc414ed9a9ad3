//! One act of a journey, as it is written and as it is once it was checked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::{CaptureTable, Check, CheckTable, InAnswer, When, WhenTable};
use super::file::anything;
use super::impatience::OnFailure;
use super::number_or_list::NumberOrList;
use super::page::Page;
use super::socket::{AnswerTable, Conversation};
use super::template::Template;
use super::think::{Think, ThinkTable};
use super::to_bot::{ChatWord, ToBot};

/// One act of a journey.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name, unique in the scenario.
    pub act: String,
    /// What the player does.
    pub does: Does,
    /// How many times it is done.
    pub repeat: u16,
    /// How long the player thinks before each time.
    pub think: Think,
    /// It is done only when this holds.
    pub when: Option<When>,
    /// Values kept from the answer: a name for later templates, and where they stand.
    pub capture: BTreeMap<String, InAnswer>,
    /// What must hold of the answer.
    pub check: Vec<Check>,
    /// The statuses that count as success; empty: any 2xx.
    pub expect_status: Vec<u16>,
    /// What the player does when it fails.
    pub on_failure: OnFailure,
    /// What its effect shows in a chat.
    pub shows: Option<Shows>,
}

/// What a player does in an act.
#[derive(Debug, Clone)]
pub enum Does {
    /// Sends one request and waits for its answer.
    Request(Request),
    /// Loads a page with everything that belongs to it, as a browser does.
    Page(Page),
    /// Says something over a WebSocket.
    Converse(Conversation),
    /// Does something in a chat and waits for the bot's call that answers it.
    Bot(ToBot),
}

impl Does {
    /// Whether the visit's initData goes with it: a page is loaded before its app has any.
    pub fn sends_init_data(&self) -> bool {
        match self {
            Self::Request(_) | Self::Converse(_) => true,
            Self::Page(_) | Self::Bot(_) => false,
        }
    }
}

/// What is sent.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: String,
    /// Path and query.
    pub path: Template,
    /// Headers.
    pub headers: Vec<(String, Template)>,
    /// The body and its content type.
    pub body: Option<Body>,
}

/// A request's body.
#[derive(Debug, Clone)]
pub enum Body {
    /// JSON; the template's text is JSON with placeholders inside its strings.
    Json(Template),
    /// Anything else, as it stands.
    Text(Template),
}

/// What an act's effect shows.
#[derive(Debug, Clone)]
pub struct Shows {
    /// The chat it becomes visible in.
    pub chat: Template,
    /// How it is recognised.
    pub sign: Sign,
}

/// How an effect is recognised in a chat.
#[derive(Debug, Clone)]
pub enum Sign {
    /// The first accepted call begun after the act ended.
    Any,
    /// This text occurs in the message or caption.
    Marker(Template),
    /// A number at this JSON pointer of the answer; a message or caption with `v<n>`, n at least it, shows it.
    Version(String),
}

/// One act: exactly one of `get`, `post`, `put`, `patch`, `delete`, `page`, `websocket`, `says` and `taps`, and what
/// goes with it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Step")]
pub(super) struct StepTable {
    /// Its name, unique in the scenario.
    pub(super) act: String,
    /// GET this path.
    pub(super) get: Option<String>,
    /// POST to this path.
    pub(super) post: Option<String>,
    /// PUT to this path.
    pub(super) put: Option<String>,
    /// PATCH this path.
    pub(super) patch: Option<String>,
    /// DELETE this path.
    pub(super) delete: Option<String>,
    /// Load the page of this path as a browser does: the document, and then its assets over up to six connections. The
    /// act ends when all are in. No initData goes with it: an app has it only once it runs.
    pub(super) page: Option<String>,
    /// The paths of the page's assets; by default those of its own origin that the document names.
    pub(super) assets: Option<Vec<String>>,
    /// Say something over the visit's WebSocket of this path: it is opened by the first act that uses it, with initData
    /// in its place, and kept until the visit ends. `json` or `text` is the message.
    pub(super) websocket: Option<String>,
    /// The message over the WebSocket that ends the act; others are passed over. Without it the act ends when its own
    /// message has been sent.
    pub(super) answer: Option<AnswerTable>,
    /// Write this to the bot; a command is a text that begins with a slash, such as `/start`.
    pub(super) says: Option<String>,
    /// Tap the button of this label or callback data, on the last message with a keyboard that the bot sent.
    pub(super) taps: Option<String>,
    /// Where it is said or tapped; by default in the player's private chat with the bot.
    #[serde(rename = "in")]
    pub(super) place: Option<ChatWord>,
    /// Headers by name.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    /// A JSON body; its strings may hold placeholders such as `{word}`. Read from the table, for its spans.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    pub(super) json: Option<IgnoredAny>,
    /// Any other body, as it stands.
    pub(super) text: Option<String>,
    /// How many times it is done.
    #[serde(default = "once")]
    #[schemars(range(min = 1))]
    pub(super) repeat: u16,
    /// How long the player thinks before each time: `"3s..9s"`, `"5s"`, or a distribution such as
    /// `{ lognormal = { median = "4s", p90 = "12s" } }`.
    pub(super) think: Option<ThinkTable>,
    /// It is done only when an earlier act of the visit ended so, and skipped otherwise.
    pub(super) when: Option<WhenTable>,
    /// Values kept from the answer for later steps: a name, and a JSON pointer such as `/token`, or
    /// `{ header = "etag" }`.
    #[serde(default)]
    pub(super) capture: BTreeMap<String, CaptureTable>,
    /// What must hold of the answer's JSON for the act to succeed.
    #[serde(default)]
    pub(super) check: Vec<CheckTable>,
    /// The status or statuses that count as success; by default any 2xx.
    pub(super) expect_status: Option<NumberOrList>,
    /// What the player does when it fails: `"retry 2 within 5s"`, `"leave"`, or `"retry 2 within 5s, then leave"`.
    /// Tries are spread evenly over that time and are requests of the same act.
    pub(super) on_failure: Option<String>,
    /// What its effect shows in a chat.
    pub(super) shows: Option<ShowsTable>,
}

fn once() -> u16 {
    1
}

/// What an act's effect shows in a chat: a marker, a version, or, with neither, any accepted call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Shows")]
pub(super) struct ShowsTable {
    /// The chat, such as `{chat.id}`.
    pub(super) chat: String,
    /// This text occurs in the message or caption.
    pub(super) marker: Option<String>,
    /// A JSON pointer to a number of the answer; a caption with `v<n>`, n at least that number, shows it.
    pub(super) version: Option<String>,
}
