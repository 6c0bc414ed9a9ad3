//! A scenario file as it is written: what serde reads and what the JSON schema describes. Shapes only, those of its
//! tables beside what checks them; whether the values make sense is for `check`.

use std::collections::BTreeMap;
use std::time::Duration;

use floodrig_reports::{Budgets, FindingId, VerdictKind};
use floodrig_stub::Limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::crowd::CrowdTable;
use super::event::EventTable;
use super::journey::JourneyTable;
use super::lists::WordsTable;
use super::service::ServiceTable;
use super::system::SystemTable;

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
    /// Programs that the machine must have, in PATH: `node`, or with the least version `node >= 20`. Without them a scenario that
    /// was named is refused, and one that was found in a folder is skipped.
    #[serde(default)]
    pub(super) needs: Vec<String>,
    /// The system under test.
    pub(super) system: SystemTable,
    /// What runs beside the system, such as a database: started before it, ended after it.
    #[serde(default)]
    pub(super) service: Vec<ServiceTable>,
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
    /// What the rig does to the system in the middle of the load.
    #[serde(default)]
    pub(super) event: Vec<EventTable>,
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

pub(super) fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

pub(super) fn thirty_seconds() -> Duration {
    Duration::from_secs(30)
}
