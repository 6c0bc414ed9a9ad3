//! A scenario: what a user writes, parsed and checked. Only valid ones exist.
//!
//! ```text
//! text --merge--> one TOML table --shape--> File (serde) --check--> Scenario
//! ```
//! Every complaint carries the bytes at fault; drawing it with its line and a caret is the command line's.
//! Complaints of one stage are reported together; a later stage runs only when the one before found nothing.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::time::Duration;

use floodrig_reports::{Budgets, FindingId, VerdictKind};
use floodrig_stub::Limits;

use crate::exchange::Speech;

mod answer;
mod arrive;
mod beside;
mod body;
mod check;
mod complaint;
mod connections;
mod event;
mod faults;
mod file;
mod heartbeat;
mod impatience;
mod journey;
mod lists;
mod merge;
mod network;
mod number_or_list;
mod page;
mod quick;
mod rates;
mod replay;
mod schema;
mod service;
mod shape;
mod socket;
mod source;
mod speech;
mod spot;
mod spread;
mod step;
mod system;
mod template;
mod think;
mod to_bot;
mod words;
mod world;

#[cfg(test)]
mod tests;

pub use answer::{Check, Ended, InAnswer, Must, When};
pub use arrive::{Arrivals, Arrive};
pub use complaint::Complaint;
pub use connections::Connections;
pub use event::{Deed, Event};
pub use faults::{Fault, Faults};
pub use heartbeat::Heartbeat;
pub use impatience::{OnFailure, Retry};
pub use page::{Assets, Page};
pub use schema::schema;
pub use socket::{Conversation, Sought};
pub use source::{Source, Unreadable};
pub use template::{Draw, Piece, Pool, Slot, Template};
pub use think::Think;
pub use world::world;

/// Reads a scenario from its text, with one of its variants merged in.
///
/// The path names the file in messages and is where the search for [`System::dir`] begins.
pub fn parse(path: &Path, text: &str, variant: Option<&str>) -> Result<Scenario, Vec<Complaint>> {
    let table = merge::merged(text, variant)?;
    let file = shape::read(&table, text)?;
    let source = Source { path: path.to_owned(), text: text.to_owned() };
    check::scenario(file, &table, source, variant)
}

/// The bytes of a key of the file, tables outermost first; its table's when the key is not there.
pub fn span_of(text: &str, variant: Option<&str>, keys: &[&str]) -> Range<usize> {
    let Some((first, rest)) = keys.split_first() else { return 0..0 };
    let merged = merge::merged(text, variant);
    merged.map_or(0..0, |table| rest.iter().fold(spot::Spot::top(&table, first), |spot, key| spot.key(key)).span())
}

/// Reads a scenario in each of its variants, in file order; one without variants is read as it stands.
pub fn parse_each(path: &Path, text: &str) -> Result<Vec<Scenario>, Vec<Complaint>> {
    let names = variants(text)?;
    if names.is_empty() {
        return Ok(vec![parse(path, text, None)?]);
    }
    let mut scenarios = Vec::new();
    let mut complaints = Vec::new();
    for name in &names {
        match parse(path, text, Some(name)) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => complaints.extend(found),
        }
    }
    complaint::settle(scenarios, complaints)
}

/// The names of a scenario's variants, in file order.
pub fn variants(text: &str) -> Result<Vec<String>, Vec<Complaint>> {
    merge::variants(text)
}

/// One scenario with one of its variants merged in.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Names the runs; letters, digits, `-` and `_`.
    pub name: String,
    /// One line for reports.
    pub about: String,
    /// The seed of everything drawn.
    pub seed: u64,
    /// What the machine must have, such as `node >= 20`.
    pub needs: Vec<String>,
    /// The system under test.
    pub system: System,
    /// What runs beside it.
    pub services: Vec<Service>,
    /// The ceilings.
    pub telegram: Limits,
    /// Groups and players.
    pub crowd: Crowd,
    /// What players do.
    pub journeys: Vec<Journey>,
    /// What happens to the system in the middle of the load.
    pub events: Vec<Event>,
    /// What a run must keep to.
    pub budgets: Budgets,
    /// The variant merged in.
    pub variant: Option<String>,
    /// How the run is expected to end; nothing: it must pass.
    pub expect: Option<Expect>,
    /// The file.
    pub source: Source,
}

impl Scenario {
    /// When the system is ordered to stop, since the start of the load, if it is.
    pub fn terminate_at(&self) -> Option<Duration> {
        self.events.iter().find(|event| event.deed == Deed::Terminate).map(|event| event.at)
    }

    /// How long the system is left alone after the load.
    pub fn idle(&self) -> Duration {
        self.crowd.idle.unwrap_or(event::IDLE)
    }
}

/// How a run is expected to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// The verdict.
    pub verdict: VerdictKind,
    /// Findings that the report must open with.
    pub findings: Vec<FindingId>,
}

/// The system under test.
#[derive(Debug, Clone)]
pub struct System {
    /// Where `build` and `command` run.
    pub dir: PathBuf,
    /// Run before the system starts.
    pub build: Option<Vec<String>>,
    /// The system itself; empty where the rig attaches to one.
    pub command: Vec<String>,
    /// The system that runs already, in place of a command.
    pub attach: Option<Attach>,
    /// Which cores it gets.
    pub cores: Cores,
    /// As many bytes of memory as its whole tree may use.
    pub memory: Option<u64>,
    /// How many cores' worth of CPU time it may use.
    pub cpu: Option<f64>,
    /// How many open files it may have.
    pub open_files: Option<u64>,
    /// Its environment beyond the rig's own: names and templated values.
    pub env: BTreeMap<String, Template>,
    /// The port it listens on; nothing: a free one.
    pub port: Option<u16>,
    /// How it is spoken to.
    pub speech: Speech,
    /// When it counts as ready.
    pub ready: Ready,
    /// Whether its own loop tells of its stalls.
    pub heartbeat: Heartbeat,
    /// How long it may take to become ready.
    pub ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    pub stop_within: Duration,
}

/// Something that runs beside the system, such as a database.
#[derive(Debug, Clone)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The command that starts it.
    pub start: Vec<String>,
    /// A command that asks it to stop.
    pub stop: Option<Vec<String>>,
    /// When it counts as ready.
    pub ready: Ready,
    /// Its environment beyond the rig's own.
    pub env: BTreeMap<String, Template>,
    /// The port it listens on; nothing: a free one.
    pub port: Option<u16>,
    /// How long it may take to become ready.
    pub ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    pub stop_within: Duration,
}

/// A system that runs already and that the rig neither starts nor stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// Where it listens; checked to be a URL of a host alone.
    pub url: String,
    /// Its process, when that is known.
    pub pid: Option<u32>,
}

/// Which cores the system gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cores {
    /// That many, the last ones of the machine.
    Count(u32),
    /// Exactly these.
    List(Vec<u32>),
}

/// When a system or a service counts as ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// It accepts a connection.
    Accepts,
    /// A GET of this path is answered 2xx.
    Path(String),
    /// This command, in the same environment, exits with 0.
    Command(Vec<String>),
    /// The bot asks for its updates, by `getUpdates` or `setWebhook`. It need not listen anywhere.
    Bot,
}

/// Groups and players, and what their network is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// How many groups.
    pub groups: u32,
    /// How many players in each.
    pub players_per_group: u32,
    /// How players arrive for the journeys that share their arrivals.
    pub arrive: Option<Arrive>,
    /// Whose connections are.
    pub connections: Connections,
    /// How long it takes from a player to the system and back; nothing: no time.
    pub rtt: Option<RangeInclusive<Duration>>,
    /// How many bytes a player reads in a second; nothing: as many as come.
    pub reads_at: Option<RangeInclusive<u64>>,
    /// How long a handshake may take.
    pub connect_timeout: Duration,
    /// How long an answer may take once connected, or the bot's once it could have the update.
    pub timeout: Duration,
    /// How long after the load deliveries are waited for.
    pub settle: Duration,
    /// How long the system is then left alone before it is looked at again; nothing: it is not said.
    pub idle: Option<Duration>,
    /// The `start_param` of a player's direct link; empty: the link has none.
    pub start_param: Template,
}

/// What some of the crowd do.
#[derive(Debug, Clone)]
pub struct Journey {
    /// Names it in messages.
    pub name: String,
    /// Whose arrivals its visits are.
    pub arrive: Arrivals,
    /// Where the signed initData goes; nothing: it is not sent.
    pub init_data: Option<Place>,
    /// Visits with faulty initData.
    pub faults: Option<Faults>,
    /// The acts, in order.
    pub steps: Vec<Step>,
}

/// Where the signed initData goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `Authorization: tma <initData>`.
    Authorization,
    /// A header of this name.
    Header(String),
    /// A query parameter of this name.
    Query(String),
    /// A top-level field of the JSON body of this name.
    Field(String),
}

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

/// What a user does towards the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToBot {
    /// In which chat.
    pub chat: Where,
    /// What.
    pub gesture: Gesture,
}

/// In which chat a user does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Their own with the bot.
    Private,
    /// Their group.
    Group,
}

/// What a user does in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gesture {
    /// Writes this; a command is a text that begins with a slash.
    Says(Template),
    /// Taps the button of this label or callback data, on the bot's last message with a keyboard.
    Taps(Template),
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
