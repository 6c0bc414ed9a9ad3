//! A scenario file as it is written: what serde reads and what the JSON schema describes. Shapes only; whether
//! the values make sense is for `check`.

use std::collections::BTreeMap;
use std::time::Duration;

use floodrig_reports::{Budgets, FindingId, VerdictKind};
use floodrig_stub::Limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::answer::{CaptureTable, CheckTable, WhenTable};
use super::arrive::ArriveTable;
use super::connections::Connections;
use super::faults::FaultsTable;
use super::heartbeat::Heartbeat;
use super::lists::WordsTable;
use super::number_or_list::NumberOrList;
use super::think::ThinkTable;

/// How a duration is written: numbers with their units, such as `1min 30s`; for editors, which cannot read it.
pub(super) const DURATION: &str = r"^([0-9]+(\.[0-9]+)? *[a-zA-Z]+ *)+$";
/// How a spread of durations is written: two of them around `..`, or one.
pub(super) const SPREAD: &str = r"^([0-9]+(\.[0-9]+)? *[a-zA-Z]+ *)+(\.\. *([0-9]+(\.[0-9]+)? *[a-zA-Z]+ *)+)?$";

/// A load test: the system, the crowd, what the crowd does, and what must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(title = "Floodrig scenario")]
pub(super) struct File {
    /// Names the runs: letters, digits, `-` and `_`.
    pub(super) name: String,
    /// One line for reports.
    #[serde(default)]
    pub(super) about: String,
    /// The seed of everything drawn: the same seed, the same plan.
    #[serde(default)]
    pub(super) seed: u64,
    /// What the machine must have, such as `node >= 20`.
    #[serde(default)]
    pub(super) needs: Vec<String>,
    /// The system under test.
    pub(super) system: SystemTable,
    /// The ceilings of Telegram.
    #[serde(default)]
    pub(super) telegram: Limits,
    /// Groups and players.
    pub(super) crowd: CrowdTable,
    /// Lists that placeholders draw from: `{word.city}` is one of the list `city`, and a list `word` stands in place of
    /// the rig's own words.
    #[serde(default)]
    pub(super) words: BTreeMap<String, WordsTable>,
    /// What players do.
    pub(super) journey: Vec<JourneyTable>,
    /// What a run must keep to.
    #[serde(default)]
    pub(super) budgets: Budgets,
    /// How the run is expected to end; without it, the run must pass.
    pub(super) expect: Option<ExpectTable>,
    /// What differs, by name of the variant. Taken out before the rest is read.
    #[serde(default, rename = "variants")]
    #[schemars(schema_with = "variants")]
    pub(super) _variants: Option<IgnoredAny>,
}

/// The system under test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "System")]
pub(super) struct SystemTable {
    /// Where `build` and `command` run, from the scenario's folder; by default the nearest folder above that
    /// has a `.git` or a manifest.
    pub(super) dir: Option<String>,
    /// A command and its arguments, run before the system starts.
    pub(super) build: Option<Vec<String>>,
    /// The command that starts the system, and its arguments.
    pub(super) command: Option<Vec<String>>,
    /// Where a system listens that runs already, such as `http://127.0.0.1:8080`, instead of a command: nothing is
    /// started or stopped.
    pub(super) url: Option<String>,
    /// The process of the system at `url`, when it runs on this machine: then its memory, CPU and death are watched.
    pub(super) pid: Option<u32>,
    /// How many cores it gets, or which ones; the rig keeps off them.
    #[serde(default = "one_core")]
    pub(super) cores: NumberOrList,
    /// Its environment beyond `PORT`, `BOT_TOKEN` and `TELEGRAM_API_ROOT`; `{system.port}`, `{stub.url}` and
    /// `{bot.token}` stand for what the rig chose.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The port it listens on; by default a free one.
    pub(super) port: Option<u16>,
    /// A path that is answered 2xx once it is ready, or `bot`: once it asks Telegram for updates. By default it is
    /// ready once it accepts a connection; a scenario that only says and taps waits for the bot.
    pub(super) ready: Option<String>,
    /// Whether the event loop of a Node or Python system tells of its own stalls.
    #[serde(default)]
    pub(super) heartbeat: Heartbeat,
    /// How long it may take to become ready.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    #[serde(default = "ten_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) stop_within: Duration,
}

/// Groups and players.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Crowd")]
pub(super) struct CrowdTable {
    /// How many groups.
    pub(super) groups: u32,
    /// How many players in each.
    pub(super) players_per_group: u32,
    /// How players arrive for the journeys that have no `arrive` of their own: each arrival is for one of them, drawn
    /// by their `weight`.
    pub(super) arrive: Option<ArriveTable>,
    /// Whose connections are.
    #[serde(default)]
    pub(super) connections: Connections,
    /// How long a handshake may take.
    #[serde(default = "ten_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) connect_timeout: Duration,
    /// How long an answer may take once connected, or the bot's once it could have the update.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) timeout: Duration,
    /// How long after the load deliveries are waited for.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) settle: Duration,
    /// The `start_param` of a player's direct link; empty: it has none.
    #[serde(default = "chat_id")]
    pub(super) start_param: String,
}

/// What players do from opening the app on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Journey")]
pub(super) struct JourneyTable {
    /// Names it in messages.
    pub(super) name: String,
    /// How players arrive; without it, the journey shares the crowd's arrivals.
    pub(super) arrive: Option<ArriveTable>,
    /// Its weight among the journeys that share the crowd's arrivals: of two with 3 and 1, three in four arrivals are
    /// for the first. 1 when it is not said.
    pub(super) weight: Option<u32>,
    /// Where the signed initData goes; without it, it is not sent.
    pub(super) init_data: Option<PlaceTable>,
    /// Shares of visits with stale, tampered or reused initData.
    pub(super) init_data_faults: Option<FaultsTable>,
    /// What players do when an act fails, for the steps that do not say it themselves.
    pub(super) on_failure: Option<String>,
    /// The acts, in order.
    pub(super) steps: Vec<StepTable>,
}

/// Where the signed initData goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "a place for initData")]
#[schemars(rename = "Place")]
pub(super) enum PlaceTable {
    /// `Authorization: tma <initData>`.
    Authorization,
    /// A header of this name.
    Header(String),
    /// A query parameter of this name.
    Query(String),
    /// A top-level field of the JSON body of this name.
    Field(String),
}

/// One act: exactly one of `get`, `post`, `put`, `patch`, `delete`, `says` and `taps`, and what goes with it.
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

/// A chat of a player.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`private` or `group`")]
#[schemars(rename = "Chat")]
pub(super) enum ChatWord {
    /// Their own with the bot.
    Private,
    /// Their group.
    Group,
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

/// How a run is expected to end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Expect")]
pub(super) struct ExpectTable {
    /// The verdict.
    pub(super) verdict: VerdictKind,
    /// Findings that the report must open with.
    #[serde(default)]
    pub(super) findings: Vec<FindingId>,
}

fn variants(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/Variant" } })
}

pub(super) fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

fn one_core() -> NumberOrList {
    NumberOrList::Number(1)
}

fn once() -> u16 {
    1
}

fn chat_id() -> String {
    "{chat.id}".to_owned()
}

fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

fn thirty_seconds() -> Duration {
    Duration::from_secs(30)
}
