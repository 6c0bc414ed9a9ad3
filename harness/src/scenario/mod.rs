//! A scenario: what a user writes, parsed and checked. Only valid ones exist.
//!
//! ```text
//! text --merge--> one TOML table --shape--> File (serde) --check--> Scenario
//! ```
//! Every complaint carries the bytes at fault; drawing it with its line and a caret is the command line's.
//! Complaints of one stage are reported together; a later stage runs only when the one before found nothing.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use floodrig_reports::{Budgets, FindingId, VerdictKind};
use floodrig_stub::Limits;

mod act;
mod answer;
mod arrive;
mod attach;
mod beside;
mod body;
mod check;
mod complaint;
mod connections;
mod crowd;
mod event;
mod faults;
mod file;
mod form;
mod heartbeat;
mod impatience;
mod journey;
mod lists;
mod merge;
mod needs;
mod network;
mod number_or_list;
mod outside;
mod page;
mod program;
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

pub use act::{Body, Does, Request, Shows, Sign, Step};
pub use answer::{Check, Ended, InAnswer, Must, When};
pub use arrive::{Arrivals, Arrive};
pub use attach::Attach;
pub use complaint::Complaint;
pub use connections::Connections;
pub use crowd::Crowd;
pub use event::{Deed, Event};
pub use faults::{Fault, Faults};
pub use heartbeat::Heartbeat;
pub use impatience::{OnFailure, Retry};
pub use journey::{Journey, Place};
pub use needs::{Need, Version};
pub use outside::{Outside, Unseen};
pub use page::{Assets, Page};
pub use program::Ready;
pub use schema::schema;
pub use service::Service;
pub use socket::{Conversation, Sought};
pub use source::{Source, Unreadable, is_scenario, nearly_named};
pub use system::{Cores, System};
pub use template::{Draw, Piece, Pool, Slot, Template};
pub use think::Think;
pub use to_bot::{Gesture, ToBot, Where};
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
    pub needs: Vec<Need>,
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
