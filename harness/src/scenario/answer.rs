//! What a step reads of its answer, and of how earlier acts ended: `capture`, `check` and `when`.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::body;
use super::complaint::{Complaint, did_you_mean};
use super::file::anything;
use super::number_or_list::NumberOrList;
use super::spot::Spot;
use super::step::{header_name, is_pointer, statuses};
use super::template::{self, Captures, Piece, Template};
use super::{Does, Step};

/// Where in an answer a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InAnswer {
    /// At this JSON pointer (RFC 6901) of its body.
    Pointer(String),
    /// In the header of this name.
    Header(String),
}

/// What must hold of an answer's JSON body for the act to succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Where to look, a JSON pointer.
    pub pointer: String,
    /// What must be there.
    pub must: Must,
}

/// What must be at a place of an answer. `null` is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Must {
    /// This very value; numbers are equal when they count the same.
    Equal(Value),
    /// The JSON that this becomes once its placeholders are filled; a text stands for a number that is written so.
    EqualFilled(Template),
    /// Anything.
    Exist,
    /// Nothing.
    BeAbsent,
}

/// A condition on how an earlier act of the same visit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// Its index among the steps of the journey.
    pub step: usize,
    /// How it must have ended.
    pub ended: Ended,
}

/// How an act ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded, or it did not.
    Ok(bool),
    /// It was answered with one of these statuses.
    Status(Vec<u16>),
}

/// How a captured value is written: a JSON pointer, or `{ header = ".." }`.
#[derive(Debug)]
pub(super) struct CaptureTable(InAnswer);

/// A value kept from a header.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "FromHeader")]
struct HeaderTable {
    /// The header's name.
    header: String,
}

/// What must hold of the answer: `equals` or `exists`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Check")]
pub(super) struct CheckTable {
    /// A JSON pointer into the answer, such as `/ok`.
    pointer: String,
    /// The JSON value that must be there; its strings may hold placeholders such as `{player.id}`.
    #[serde(default)]
    #[schemars(schema_with = "anything")]
    equals: Option<IgnoredAny>,
    /// Whether anything but null must be there, or nothing may.
    exists: Option<bool>,
}

/// An act is only done when an earlier one of the visit ended so: `ok` or `status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "When")]
pub(super) struct WhenTable {
    /// An act of an earlier step of the journey.
    act: String,
    /// Whether it must have succeeded, or must not have.
    ok: Option<bool>,
    /// The status or statuses that it must have been answered with.
    status: Option<NumberOrList>,
}

impl<'de> Deserialize<'de> for CaptureTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PointerOrHeader)
    }
}

struct PointerOrHeader;

impl<'de> Visitor<'de> for PointerOrHeader {
    type Value = CaptureTable;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("a JSON pointer such as \"/token\", or { header = \"..\" }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CaptureTable, E> {
        Ok(CaptureTable(InAnswer::Pointer(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<CaptureTable, A::Error> {
        let table = HeaderTable::deserialize(MapAccessDeserializer::new(table))?;
        Ok(CaptureTable(InAnswer::Header(table.header)))
    }
}

impl JsonSchema for CaptureTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Capture".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<HeaderTable>();
        json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

/// Checks what a step keeps of its answer.
pub(super) fn captures(
    file: BTreeMap<String, CaptureTable>,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> BTreeMap<String, InAnswer> {
    for (name, CaptureTable(from)) in &file {
        let at = spot.key(name);
        can_be_named(name, &at, complaints);
        match from {
            InAnswer::Pointer(pointer) => is_pointer(pointer, &at, complaints),
            InAnswer::Header(header) => header_name(header, &at.key("header").as_key(), complaints),
        }
    }
    file.into_iter().map(|(name, CaptureTable(from))| (name, from)).collect()
}

fn can_be_named(name: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if name.is_empty() || !name.chars().all(fits) {
        complaints.push(spot.complain_of_key("this cannot name a value", "use letters, digits and `_`"));
    }
    if template::is_taken(name) {
        let says = format!("`{{{name}}}` is a placeholder of the rig's own");
        complaints.push(spot.complain_of_key(says, "give the value another name"));
    }
}

/// Checks what must hold of a step's answer.
pub(super) fn checks(
    files: &[CheckTable],
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (file, spot) in files.iter().zip((0..).map(|nth| spot.item(nth))) {
        is_pointer(&file.pointer, &spot.key("pointer"), complaints);
        let must = match (&file.equals, file.exists) {
            (Some(_), None) => equal(body::json(&spot.key("equals"), captures, complaints)),
            (None, Some(true)) => Must::Exist,
            (None, Some(false)) => Must::BeAbsent,
            (None, None) | (Some(_), Some(_)) => {
                complaints.push(spot.complain("a check wants one thing", "say `equals = ..` or `exists = true`"));
                Must::Exist
            }
        };
        checks.push(Check { pointer: file.pointer.clone(), must });
    }
    checks
}

/// A value without placeholders is read once.
fn equal(json: Template) -> Must {
    let text = match json.pieces.as_slice() {
        [Piece::Text(text)] => text.as_str(),
        _ => return Must::EqualFilled(json),
    };
    serde_json::from_str(text).map_or(Must::EqualFilled(json.clone()), Must::Equal)
}

/// Checks when a step is done, after these earlier ones; nothing when there is no such act.
pub(super) fn when(
    file: &WhenTable,
    spot: &Spot<'_>,
    earlier: &[Step],
    complaints: &mut Vec<Complaint>,
) -> Option<When> {
    let ended = match (file.ok, &file.status) {
        (Some(ok), None) => Ended::Ok(ok),
        (None, Some(_)) => Ended::Status(statuses(file.status.clone(), &spot.key("status"), complaints)),
        (None, None) | (Some(_), Some(_)) => {
            complaints.push(spot.complain("a condition wants one thing", "say `ok = false` or `status = 404`"));
            Ended::Ok(true)
        }
    };
    let Some(step) = earlier.iter().position(|step| step.act == file.act) else {
        let known: Vec<&str> = earlier.iter().map(|step| step.act.as_str()).collect();
        let says = format!("no earlier step of this journey is the act `{}`", file.act);
        complaints.push(spot.key("act").complain(says, did_you_mean(&file.act, &known)));
        return None;
    };
    if matches!((&earlier[step].does, &ended), (Does::Bot(_), Ended::Status(_))) {
        let says = format!("a bot's answer has no status, and `{}` is an act towards the bot", file.act);
        complaints.push(spot.key("status").complain_of_key(says, "ask whether it was answered: `ok = true`"));
    }
    Some(When { step, ended })
}
