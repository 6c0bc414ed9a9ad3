//! The scenario's own words: lists that placeholders draw from, written in `[words]` or in files beside it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::beside;
use super::complaint::Complaint;
use super::spot::Spot;

/// The words of each list.
pub(super) type Lists = BTreeMap<String, Arc<[String]>>;

/// How a list is written: `["Oslo", "Rome"]`, or `{ file = "cities.txt" }`.
#[derive(Debug)]
pub(super) enum WordsTable {
    Here(Vec<String>),
    File(String),
}

/// A list in a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "WordsFile")]
struct FileTable {
    /// A file, from the scenario's folder: one word or phrase a line.
    file: String,
}

impl<'de> Deserialize<'de> for WordsTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ListOrFile)
    }
}

struct ListOrFile;

impl<'de> Visitor<'de> for ListOrFile {
    type Value = WordsTable;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("a list of words, or { file = \"words.txt\" }")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<WordsTable, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(WordsTable::Here)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<WordsTable, A::Error> {
        let table = FileTable::deserialize(MapAccessDeserializer::new(table))?;
        Ok(WordsTable::File(table.file))
    }
}

impl JsonSchema for WordsTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<FileTable>();
        json_schema!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, table] })
    }
}

/// Checks the lists, and reads those in files.
pub(super) fn checked(
    files: BTreeMap<String, WordsTable>,
    scenario: &Path,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Lists {
    let mut lists = Lists::new();
    for (name, file) in files {
        let at = spot.key(&name);
        let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if name.is_empty() || !name.chars().all(fits) {
            complaints.push(at.complain_of_key("this cannot name a list", "use letters, digits and `_`"));
        }
        let words = match file {
            WordsTable::Here(words) => Ok(words),
            WordsTable::File(file) => beside::read(scenario, &file, &at.key("file")).map(|text| lines(&text)),
        };
        let words = words.unwrap_or_else(|complaint| {
            complaints.push(complaint);
            // What draws from the list is not wrong for that.
            vec![name.clone()]
        });
        if words.is_empty() {
            complaints.push(at.complain("no word in it", "add one"));
        }
        lists.insert(name, words.into());
    }
    lists
}

/// One word or phrase a line; blank lines are none.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
