//! A message over a WebSocket: `websocket = "/live"`, checked.

use schemars::JsonSchema;
use serde::Deserialize;

use super::act::{Body, StepTable};
use super::complaint::Complaint;
use super::spot::Spot;
use super::step::{headers, is_pointer, path_template, request_body};
use super::template::{Captures, Place, Template};

/// A message over the visit's WebSocket, which is opened by the first act that uses it.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Path and query of the opening.
    pub path: Template,
    /// Headers of the opening.
    pub headers: Vec<(String, Template)>,
    /// What is sent; nothing: only the opening.
    pub message: Option<Body>,
    /// What is waited for; nothing: the act ends when the message has been sent.
    pub answer: Option<Sought>,
}

/// What is waited for.
#[derive(Debug, Clone)]
pub enum Sought {
    /// Any message.
    Anything,
    /// A message that holds this text.
    Containing(Template),
    /// A JSON message with this value at this pointer.
    Equal {
        /// Where.
        pointer: String,
        /// What, as a person would write it.
        value: Template,
    },
}

/// The message that is waited for: any, one that contains a text, or one with a value at a JSON pointer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Answer")]
pub(super) struct AnswerTable {
    /// A text that occurs in it.
    pub(super) contains: Option<String>,
    /// Where in it, as JSON, `equals` stands: such as `/type`.
    pub(super) pointer: Option<String>,
    /// The value that stands there.
    pub(super) equals: Option<String>,
}

/// Checks a step that uses the WebSocket of this path.
pub(super) fn checked(
    path: &str,
    file: &StepTable,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Conversation {
    if reads_answer(file) && file.answer.is_none() {
        let help = "add `answer = {}` for any message, or say which";
        complaints.push(spot.key("act").complain("nothing can be read from an answer that is not waited for", help));
    }
    for name in file.capture.iter().filter(|(_, from)| !from.is_in_body()).map(|(name, _)| name) {
        let help = "write a JSON pointer such as \"/token\"";
        complaints.push(spot.key("capture").key(name).complain("a message has no headers", help));
    }
    let answer = file.answer.as_ref().map(|answer| sought(answer, &spot.key("answer"), captures, complaints));
    Conversation {
        path: path_template(path, &spot.key("websocket"), captures, complaints),
        headers: headers(&file.headers, &spot.key("headers"), captures, complaints),
        message: request_body(file, spot, captures, complaints),
        answer,
    }
}

/// Whether something of the answer is captured, checked or shown.
fn reads_answer(file: &StepTable) -> bool {
    let version = file.shows.as_ref().is_some_and(|shows| shows.version.is_some());
    version || !file.capture.is_empty() || !file.check.is_empty()
}

fn sought(file: &AnswerTable, spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Sought {
    let mut template = |key: &str, text: &str| Template::parse(text, &spot.key(key), Place::Act(captures), complaints);
    match (&file.contains, &file.pointer, &file.equals) {
        (None, None, None) => Sought::Anything,
        (Some(text), None, None) => Sought::Containing(template("contains", text)),
        (None, Some(pointer), Some(value)) => {
            let value = template("equals", value);
            is_pointer(pointer, &spot.key("pointer"), complaints);
            Sought::Equal { pointer: pointer.clone(), value }
        }
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            let says = "an answer is recognised in one way";
            complaints.push(spot.key("contains").complain_of_key(says, "keep `contains`, or `pointer` and `equals`"));
            Sought::Anything
        }
        (None, Some(_), None) | (None, None, Some(_)) => {
            let help = "write { pointer = \"/type\", equals = \"joined\" }";
            complaints.push(spot.complain("`pointer` and `equals` go together", help));
            Sought::Anything
        }
    }
}
