//! What the TOML and serde libraries say of a file, in words for the person who wrote it.
//!
//! Their messages are read as text, since neither keeps more; the golden tests beside `cli::complaints` fail
//! when a new version says it otherwise.

use std::ops::Range;

use toml::de::Error;

use super::complaint::{Complaint, did_you_mean, nearest};

/// What serde could not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault<'e> {
    /// A key that its table does not have.
    UnknownKey { name: &'e str, known: Vec<&'e str> },
    /// A word that is none of those that may stand here.
    UnknownWord { name: &'e str, known: Vec<&'e str> },
    /// A key that must be there.
    Missing { name: &'e str },
    /// Not what belongs here.
    Unexpected { found: &'e str, expected: &'e str },
    /// One of several keys belongs here, and there are none or many.
    NotOne,
    /// In the words of the type's own reader.
    Said(&'e str),
}

impl<'e> Fault<'e> {
    /// Reads serde's message.
    pub(super) fn of(error: &'e Error) -> Self {
        let message = error.message();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let mut name = || quoted.next().unwrap_or_default();
        if message.starts_with("unknown field ") {
            Self::UnknownKey { name: name(), known: quoted.collect() }
        } else if message.starts_with("unknown variant ") {
            Self::UnknownWord { name: name(), known: quoted.collect() }
        } else if message.starts_with("missing field ") {
            Self::Missing { name: name() }
        } else if message.starts_with("wanted exactly 1 element") {
            Self::NotOne
        } else if message == A_CHOICE {
            Self::Unexpected { found: "this", expected: A_CHOICE }
        } else if let Some((found, expected)) = unexpected(message) {
            Self::Unexpected { found, expected }
        } else {
            Self::Said(message)
        }
    }

    /// A list, or what serde takes for one, where a table belongs.
    pub(super) fn no_table() -> Self {
        Self::Unexpected { found: "sequence", expected: A_TABLE }
    }

    /// The key that is missing, if one is.
    pub(super) fn missing(&self) -> Option<&'e str> {
        match self {
            Self::Missing { name } => Some(name),
            Self::UnknownKey { .. }
            | Self::UnknownWord { .. }
            | Self::Unexpected { .. }
            | Self::NotOne
            | Self::Said(_) => None,
        }
    }

    /// The key whose absence this fault explains: the one that a misspelt key was meant to be.
    pub(super) fn accounts_for(&self) -> Option<&'e str> {
        match self {
            Self::UnknownKey { name, known } => nearest(name, known),
            Self::UnknownWord { .. }
            | Self::Missing { .. }
            | Self::Unexpected { .. }
            | Self::NotOne
            | Self::Said(_) => None,
        }
    }

    /// The fault as a complaint about these bytes of the text; `form` says what to do where it depends on the place.
    pub(super) fn complaint(&self, at: Range<usize>, text: &str, form: Option<String>) -> Complaint {
        let written = text.get(at.clone()).unwrap_or_default();
        match self {
            Self::UnknownKey { name: A_DATE, .. } => {
                Complaint::new(at, "a date does not belong here", form.unwrap_or_else(|| advice("another value")))
            }
            Self::UnknownKey { name, known } => {
                Complaint::new(at, format!("unknown key `{name}`"), did_you_mean(name, known))
            }
            Self::UnknownWord { name, known } => {
                Complaint::new(at, format!("`{name}` is not known here"), did_you_mean(name, known))
            }
            Self::Missing { name } => {
                Complaint::new(at, format!("`{name}` is missing here"), format!("add `{name} = ..`"))
            }
            Self::Unexpected { found, expected } => mismatch(at, written, (found, expected), form),
            Self::NotOne => {
                let is_empty = written.chars().all(|character| "{}".contains(character) || character.is_whitespace());
                let help = form.filter(|_| is_empty).unwrap_or_else(|| "keep one and drop the others".to_owned());
                Complaint::new(at, "exactly one belongs here", help)
            }
            Self::Said(message) => {
                let (says, help) = message.split_once(": ").unwrap_or((message, "write another value"));
                Complaint::new(at, says, help)
            }
        }
    }
}

/// What tables say of themselves.
const A_TABLE: &str = "a table";
/// What words, and tables with one of several keys, say of anything else.
const A_CHOICE: &str = "wanted string or table";
/// The key of the parser's dates, which it hands on as tables.
const A_DATE: &str = "$__toml_private_datetime";
/// What a whole number beyond its range is not.
const WHOLE: &str = "a whole number in range";
/// What a status, or a list of them, says of itself.
const NUMBERS: &str = "a whole number or a list of them";
/// What the library of sizes expects where it finds something else.
const A_SIZE: &str = "an integer or string";
/// And where it finds a text that is none, or a number below zero.
const NO_SIZE: &str = "parsable string";
const NEGATIVE_SIZE: &str = "integer overflow";

/// Takes `invalid type: integer `250`, expected a duration` apart.
fn unexpected(message: &str) -> Option<(&str, &str)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    rest.rsplit_once(", expected ")
}

fn mismatch(at: Range<usize>, written: &str, (found, expected): (&str, &str), form: Option<String>) -> Complaint {
    let bare = found.find(['`', '"']).map_or("", |quote| found[quote + 1..].trim_end_matches(['`', '"']));
    if expected == "a duration" && is_number(bare) {
        return without_unit(at, &format!("{bare}ms"), &format!("{bare}s"));
    }
    let shown = match found {
        _ if !(written.is_empty() || written.contains('\n') || written.len() > 40) => format!("`{}`", bare_of(written)),
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        other => format!("`{}`", bare_of(other)),
    };
    let help = form.filter(|_| is_of_several(expected)).unwrap_or_else(|| advice(expected));
    Complaint::new(at, format!("{shown} is not {}", in_plain_words(expected)), help)
}

fn bare_of(text: &str) -> String {
    text.replace('`', "")
}

/// Whether how it is written depends on where it stands.
fn is_of_several(expected: &str) -> bool {
    matches!(
        in_plain_words(expected),
        "a list" | A_TABLE | "what belongs here" | "complete" | WHOLE | "a number" | NUMBERS
    )
}

/// The complaint about a quantity written as a mere number.
pub(super) fn without_unit(at: Range<usize>, example: &str, other: &str) -> Complaint {
    Complaint::new(at, "a number without its unit", format!("write \"{example}\", or \"{other}\""))
}

/// Whether this is a number that is not negative, and nothing else.
pub(super) fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.replace('_', "").parse::<f64>().is_ok_and(f64::is_finite)
}

fn in_plain_words(expected: &str) -> &str {
    match expected {
        "u16" | "u32" | "u64" => WHOLE,
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => A_TABLE,
        "newtype variant" => "complete",
        A_CHOICE => "what belongs here",
        "a boolean" => "true or false",
        A_SIZE | NO_SIZE | NEGATIVE_SIZE => "a size",
        other if other.starts_with("struct ") => A_TABLE,
        other => other,
    }
}

fn advice(expected: &str) -> String {
    match expected {
        "a duration" => "write a number and its unit, such as \"250ms\", \"30s\" or \"2min\"".to_owned(),
        A_SIZE | NO_SIZE | NEGATIVE_SIZE => "write a number and its unit, such as \"400MiB\"".to_owned(),
        "a string" => "put it in quotes".to_owned(),
        "newtype variant" => "it has settings of its own, such as `burst = { over = \"60s\" }`".to_owned(),
        other => format!("write {}", in_plain_words(other)),
    }
}

/// The complaint about text that is not TOML.
pub(super) fn syntax(error: &Error, text: &str) -> Complaint {
    let at = error.span().unwrap_or(text.len()..text.len());
    let message = error.message();
    if message.starts_with("string values must be quoted") {
        let bare = text.get(at.clone()).unwrap_or_default();
        return Complaint::new(at, "text stands in quotes", format!("write \"{bare}\""));
    }
    let help = match message {
        "duplicate key" => "each key is said once: keep one of them",
        _ => "a scenario is written in TOML: https://toml.io",
    };
    Complaint::new(at, message, help)
}
