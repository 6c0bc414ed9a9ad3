//! What an answer means for the act: whether it succeeded, what is kept of it, and what it is expected to show. Pure.

use std::time::Duration;

use floodrig_reports::recording::Outcome;
use serde_json::Value;

use crate::exchange::{Answered, Body};
use crate::scenario::{Shows, Sign, Step};
use crate::template::{Escape, Values, fill};

use super::request::Captured;

/// An effect that is now awaited in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The chat.
    pub chat: i64,
    /// How it is recognised.
    pub sign: ExpectedSign,
    /// The planned instant of the act that causes it, since the epoch.
    pub scheduled: Duration,
    /// When that act ended, since the epoch.
    pub ended: Duration,
}

/// How an awaited effect is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedSign {
    /// The first accepted call begun after the act ended.
    Any,
    /// This text.
    Marker(String),
    /// `v<n>` with n at least this.
    Version(i64),
}

/// An answer as expected, and what it holds.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    captures: Vec<(String, String)>,
    version: Option<i64>,
}

/// Whether a step's answer has to be kept to be judged.
pub(super) fn wants(step: &Step) -> Body {
    let version = step.shows.as_ref().is_some_and(|shows| matches!(shows.sign, Sign::Version(_)));
    if version || !step.capture.is_empty() { Body::Kept } else { Body::Drained }
}

/// Judges an answer: its status, and whether everything that is to be kept of it is there.
pub(super) fn judge(step: &Step, answered: &Answered) -> Result<Accepted, Outcome> {
    let expected = match step.expect_status.as_slice() {
        [] => (200..300).contains(&answered.status),
        statuses => statuses.contains(&answered.status),
    };
    if !expected {
        return Err(Outcome::Status(answered.status));
    }
    match wants(step) {
        Body::Drained => Ok(Accepted::default()),
        Body::Kept => read(step, &answered.body).ok_or(Outcome::CheckFailed),
    }
}

fn read(step: &Step, body: &[u8]) -> Option<Accepted> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let capture = |(name, pointer): (&String, &String)| Some((name.clone(), text(body.pointer(pointer)?)?));
    let captures = step.capture.iter().map(capture).collect::<Option<_>>()?;
    let version = match step.shows.as_ref().map(|shows| &shows.sign) {
        Some(Sign::Version(pointer)) => Some(body.pointer(pointer)?.as_i64()?),
        Some(Sign::Any | Sign::Marker(_)) | None => None,
    };
    Some(Accepted { captures, version })
}

/// A captured value as it stands in later requests; `null` is no value.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

impl Accepted {
    /// Adds what was captured to what the visit has.
    pub(super) fn keep(&mut self, captured: &mut Captured) {
        captured.extend(self.captures.drain(..));
    }

    /// The chat and the sign of what the act shows. Nothing when the chat, a captured value, is no chat id.
    pub(super) fn shows(&self, shows: &Shows, values: &Values<'_>) -> Option<(i64, ExpectedSign)> {
        let filled = |template| {
            let mut text = String::new();
            fill(template, values, Escape::None, &mut text).ok().map(|()| text)
        };
        let sign = match &shows.sign {
            Sign::Any => ExpectedSign::Any,
            Sign::Marker(template) => ExpectedSign::Marker(filled(template)?),
            Sign::Version(_) => ExpectedSign::Version(self.version?),
        };
        Some((filled(&shows.chat)?.trim().parse().ok()?, sign))
    }
}
