//! What an answer means for the act: whether it succeeded, what is kept of it, and what it is expected to show. Pure.

use std::ops::RangeInclusive;

use floodrig_reports::recording::{Outcome, RigFault};
use serde_json::Value;

use crate::deliveries::Awaited;
use crate::exchange::{Answered, Body};
use crate::scenario::{Check, Does, InAnswer, Must, Shows, Sign, Step};
use crate::template::{Escape, Values, fill};

use super::request::Captured;

/// An answer as expected, and what it holds.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    captures: Vec<(String, String)>,
    version: Option<i64>,
}

/// Whether a step's answer has to be kept to be judged.
pub(super) fn wants(step: &Step) -> Body {
    let version = step.shows.as_ref().is_some_and(|shows| matches!(shows.sign, Sign::Version(_)));
    let captures = || step.capture.values().any(|from| matches!(from, InAnswer::Pointer(_)));
    if version || !step.check.is_empty() || captures() { Body::Kept } else { Body::Drained }
}

/// Whether something is captured from the answer's headers.
pub(super) fn wants_headers(step: &Step) -> bool {
    step.capture.values().any(|from| matches!(from, InAnswer::Header(_)))
}

/// Judges an answer: its status, what must hold of it, and whether everything that is to be kept of it is there.
pub(super) fn judge(step: &Step, answered: &Answered, values: &Values<'_>) -> Result<Accepted, Outcome> {
    let expected = match step.expect_status.as_slice() {
        [] => goes_well(&step.does).contains(&answered.status),
        statuses => statuses.contains(&answered.status),
    };
    if !expected {
        return Err(Outcome::Status(answered.status));
    }
    let body = match wants(step) {
        Body::Drained if step.capture.is_empty() => return Ok(Accepted::default()),
        Body::Drained => Value::Null,
        Body::Kept if answered.too_long => return Err(Outcome::RigFault(RigFault::AnswerTooLong)),
        Body::Kept => serde_json::from_slice(&answered.body).map_err(|_| Outcome::CheckFailed)?,
    };
    if !step.check.iter().all(|check| holds(check, &body, values)) {
        return Err(Outcome::CheckFailed);
    }
    read(step, answered, &body).ok_or(Outcome::CheckFailed)
}

/// The statuses of an answer that succeeds; a WebSocket opens with 101 (RFC 6455, section 4.1).
fn goes_well(does: &Does) -> RangeInclusive<u16> {
    match does {
        Does::Request(_) | Does::Page(_) | Does::Bot(_) => 200..=299,
        Does::Converse(_) => 101..=101,
    }
}

fn read(step: &Step, answered: &Answered, body: &Value) -> Option<Accepted> {
    let find = |from: &InAnswer| match from {
        InAnswer::Pointer(pointer) => text(body.pointer(pointer)?),
        InAnswer::Header(name) => answered.header(name).map(str::to_owned),
    };
    let captures = step.capture.iter().map(|(name, from)| Some((name.clone(), find(from)?))).collect::<Option<_>>()?;
    let version = match step.shows.as_ref().map(|shows| &shows.sign) {
        Some(Sign::Version(pointer)) => Some(body.pointer(pointer)?.as_i64()?),
        Some(Sign::Any | Sign::Marker(_)) | None => None,
    };
    Some(Accepted { captures, version })
}

/// Whether what must be in an answer is.
fn holds(check: &Check, body: &Value, values: &Values<'_>) -> bool {
    let found = body.pointer(&check.pointer).filter(|found| !found.is_null());
    match &check.must {
        Must::Exist => found.is_some(),
        Must::BeAbsent => found.is_none(),
        Must::Equal(value) if value.is_null() => found.is_none(),
        Must::Equal(value) => found.is_some_and(|found| same(found, value)),
        Must::EqualFilled(template) => {
            let mut json = String::new();
            let filled = fill(template, values, Escape::Json, &mut json).is_ok();
            let wanted: Option<Value> = serde_json::from_str(&json).ok().filter(|_| filled);
            // A placeholder stands in a text; what it stands for may be a number.
            found.zip(wanted).is_some_and(|(found, wanted)| same(found, &wanted) || text(found) == text(&wanted))
        }
    }
}

/// JSON has one kind of number.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one_number), Some(other_number)) => one == other || one_number.total_cmp(&other_number).is_eq(),
        _ => one == other,
    }
}

/// A captured value as it stands in later requests; `null` is no value.
pub(super) fn text(value: &Value) -> Option<String> {
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
    pub(super) fn shows(&self, shows: &Shows, values: &Values<'_>) -> Option<(i64, Awaited)> {
        let filled = |template| {
            let mut text = String::new();
            fill(template, values, Escape::None, &mut text).ok().map(|()| text)
        };
        let sign = match &shows.sign {
            Sign::Any => Awaited::Any,
            Sign::Marker(template) => Awaited::Marker(filled(template)?),
            Sign::Version(_) => Awaited::Version(self.version?),
        };
        Some((filled(&shows.chat)?.trim().parse().ok()?, sign))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::plan::by_hand::step;
    use crate::scenario::{Piece, Slot, Template};

    fn plain() -> Step {
        step("act", 1, Duration::ZERO..=Duration::ZERO)
    }

    fn capturing(pointer: &str) -> Step {
        Step { capture: BTreeMap::from([("it".to_owned(), InAnswer::Pointer(pointer.to_owned()))]), ..plain() }
    }

    fn showing(sign: Sign) -> Step {
        let chat = Template { pieces: vec![Piece::Slot(Slot::Captured("it".to_owned()))] };
        Step { shows: Some(Shows { chat, sign }), ..plain() }
    }

    fn answered(status: u16, body: &str) -> Answered {
        let headers = vec![("etag".to_owned(), "w\"1".to_owned())];
        Answered { status, headers, body: body.as_bytes().to_vec(), too_long: false }
    }

    fn judged(step: &Step, status: u16) -> Result<(), Outcome> {
        judge(step, &answered(status, ""), &Values::default()).map(|_| ())
    }

    fn captured(step: &Step, body: &str) -> Result<String, Outcome> {
        let mut captured = Captured::new();
        judge(step, &answered(200, body), &Values::default())?.keep(&mut captured);
        Ok(captured.remove("it").unwrap())
    }

    #[test]
    fn any_2xx_is_a_success_unless_statuses_are_named() {
        for (status, ok) in [(199, false), (200, true), (299, true), (300, false), (404, false)] {
            assert_eq!(judged(&plain(), status).is_ok(), ok, "{status}");
        }
        let strict = Step { expect_status: vec![404, 409], ..plain() };
        assert_eq!([404, 409, 200].map(|status| judged(&strict, status)), [Ok(()), Ok(()), Err(Outcome::Status(200))]);
    }

    #[test]
    fn a_body_is_wanted_only_to_read_something_from_it() {
        assert_eq!(wants(&plain()), Body::Drained);
        assert_eq!(wants(&showing(Sign::Any)), Body::Drained);
        assert_eq!(wants(&showing(Sign::Version("/v".to_owned()))), Body::Kept);
        assert_eq!(wants(&capturing("/it")), Body::Kept);
    }

    #[test]
    fn a_captured_value_stands_as_a_person_would_write_it() {
        let body = r#"{"s":"a\"b","n":-7,"b":true,"l":[1,{"x":null}],"a/b":{"~":1}}"#;
        for (pointer, value) in
            [("/s", "a\"b"), ("/n", "-7"), ("/b", "true"), ("/l/0", "1"), ("/l/1", r#"{"x":null}"#), ("/a~1b/~0", "1")]
        {
            assert_eq!(captured(&capturing(pointer), body).as_deref(), Ok(value), "{pointer}");
        }
    }

    #[test]
    fn an_answer_that_lacks_what_is_captured_fails_its_check() {
        for body in [r#"{"other":1}"#, r#"{"it":null}"#, "not json", ""] {
            assert_eq!(captured(&capturing("/it"), body), Err(Outcome::CheckFailed), "{body}");
        }
    }

    #[test]
    fn an_answer_too_long_to_be_kept_is_judged_by_its_status_alone_and_where_more_is_asked_the_rigs_own_bound() {
        let long = |status| Answered { too_long: true, ..answered(status, "") };
        let judged = |step: &Step, status| judge(step, &long(status), &Values::default()).map(|_| ());
        let bound = Err(Outcome::RigFault(RigFault::AnswerTooLong));
        let check = vec![Check { pointer: "/it".to_owned(), must: Must::BeAbsent }];
        for step in [capturing("/it"), showing(Sign::Version("/v".to_owned())), Step { check, ..plain() }] {
            assert_eq!((judged(&step, 200), judged(&step, 503)), (bound, Err(Outcome::Status(503))));
        }
        assert_eq!(judged(&plain(), 200), Ok(()));
    }

    #[test]
    fn a_header_is_captured_whatever_the_body_is() {
        let from = |header: &str| {
            let capture = BTreeMap::from([("it".to_owned(), InAnswer::Header(header.to_owned()))]);
            let step = Step { capture, ..plain() };
            assert_eq!((wants(&step), wants_headers(&step)), (Body::Drained, true));
            captured(&step, "not json")
        };
        assert_eq!(from("ETag").as_deref(), Ok("w\"1"));
        assert_eq!(from("x-other"), Err(Outcome::CheckFailed));
    }

    #[test]
    fn a_check_holds_by_value_and_null_is_nothing() {
        use serde_json::json;
        let check = |pointer: &str, must: Must| {
            let check = vec![Check { pointer: pointer.to_owned(), must }];
            let body = answered(200, r#"{"n":12,"l":[1],"o":{"a":null}}"#);
            judge(&Step { check, ..plain() }, &body, &Values::default()).map(|_| ())
        };
        let failed = Err(Outcome::CheckFailed);
        assert_eq!([json!(12), json!(12.0)].map(|value| check("/n", Must::Equal(value))), [Ok(()), Ok(())]);
        assert_eq!([json!(13), json!("12")].map(|value| check("/n", Must::Equal(value))), [failed, failed]);
        assert_eq!([json!([1]), json!([1, 2])].map(|value| check("/l", Must::Equal(value))), [Ok(()), failed]);
        assert_eq!(["/n", "/o", "/o/a", "/x"].map(|at| check(at, Must::Exist)), [Ok(()), Ok(()), failed, failed]);
        assert_eq!(["/n", "/o", "/o/a", "/x"].map(|at| check(at, Must::BeAbsent)), [failed, failed, Ok(()), Ok(())]);
    }

    #[test]
    fn a_placeholder_in_a_check_stands_for_a_number_or_a_text() {
        let quotes = || Piece::Text("\"".to_owned());
        let filled = Template { pieces: vec![quotes(), Piece::Slot(Slot::Captured("it".to_owned())), quotes()] };
        let captured = Captured::from([("it".to_owned(), "12".to_owned())]);
        let values = Values { captured: Some(&captured), ..Values::default() };
        for (body, holds) in [(r#"{"id":12}"#, true), (r#"{"id":"12"}"#, true), (r#"{"id":13}"#, false), ("{}", false)]
        {
            let check = vec![Check { pointer: "/id".to_owned(), must: Must::EqualFilled(filled.clone()) }];
            let judged = judge(&Step { check, ..plain() }, &answered(200, body), &values);
            assert_eq!(judged.is_ok(), holds, "{body}");
        }
    }

    #[test]
    fn a_version_is_a_whole_number() {
        let step = showing(Sign::Version("/v".to_owned()));
        for (body, version) in [(r#"{"v":12}"#, Some(12)), (r#"{"v":1.5}"#, None), (r#"{"v":"12"}"#, None)] {
            assert_eq!(
                judge(&step, &answered(200, body), &Values::default()).ok().and_then(|accepted| accepted.version),
                version,
                "{body}"
            );
        }
    }

    #[test]
    fn what_an_act_shows_is_told_with_its_chat_and_sign() {
        let marker = Template { pieces: vec![Piece::Text("hello".to_owned())] };
        let version = Accepted { version: Some(3), ..Accepted::default() };
        let with = |chat: &str, sign, accepted: &Accepted| {
            let captured = Captured::from([("it".to_owned(), chat.to_owned())]);
            let values = Values { captured: Some(&captured), ..Values::default() };
            accepted.shows(showing(sign).shows.as_ref().unwrap(), &values)
        };
        let nothing = Accepted::default();
        assert_eq!(with("-100", Sign::Any, &nothing), Some((-100, Awaited::Any)));
        assert_eq!(with("-100", Sign::Marker(marker), &nothing), Some((-100, Awaited::Marker("hello".to_owned()))));
        assert_eq!(with("-100", Sign::Version(String::new()), &version), Some((-100, Awaited::Version(3))));
        assert_eq!(with("no chat", Sign::Any, &nothing), None);
    }
}
