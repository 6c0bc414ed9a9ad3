//! The text of a request: a step's templates filled for one planned act, with the visit's initData in its place.
//!
//! It is written straight into the buffer that is sent, on the driving thread, right before the send.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use floodrig_reports::recording::{Outcome, RigFault};
use percent_encoding::utf8_percent_encode;

use crate::init_data::{Signed, URI_COMPONENT};
use crate::plan::{Arrival, Plan};
use crate::scenario::{Body, Piece, Place, Request, Scenario, Slot, Step, Template};
use crate::template::{Act, Escape, Values, fill};

/// What a visit has captured so far, by name.
pub(super) type Captured = BTreeMap<String, String>;

/// Writes requests.
pub(super) struct Requests {
    scenario: Arc<Scenario>,
    plan: Arc<Plan>,
    signed: Arc<Signed>,
    host: String,
    bot_token: String,
    /// By act: the captured values it cannot be sent without.
    needs: Vec<Vec<String>>,
    /// Reused: a body is written before the head that gives its length.
    body: RefCell<String>,
}

impl Requests {
    pub(super) fn new(
        scenario: Arc<Scenario>,
        plan: Arc<Plan>,
        signed: Arc<Signed>,
        host: String,
        bot_token: String,
    ) -> Self {
        let step = |act: &crate::plan::ActSpec| &scenario.journeys[act.journey].steps[act.step];
        let needs = plan.acts.iter().map(|act| captured_by(step(act))).collect();
        Self { scenario, plan, signed, host, bot_token, needs, body: RefCell::default() }
    }

    /// The step of an act.
    pub(super) fn step(&self, act: u16) -> &Step {
        let act = &self.plan.acts[usize::from(act)];
        &self.scenario.journeys[act.journey].steps[act.step]
    }

    /// What becomes of an act that cannot be sent. Without a value that the system never gave, it is abandoned, which
    /// is the system's doing; without initData that should have been signed by now, it is the rig's fault.
    pub(super) fn obstacle(&self, arrival: &Arrival, captured: &Captured) -> Option<Outcome> {
        if self.place(arrival).is_some() && self.signed.get(arrival.visit).is_none() {
            return Some(Outcome::RigFault(RigFault::Local));
        }
        let lacks = self.needs[usize::from(arrival.act)].iter().any(|name| !captured.contains_key(name));
        lacks.then_some(Outcome::Abandoned)
    }

    /// Appends the whole request. To be asked for only when nothing is in the way.
    pub(super) fn write(&self, arrival: &Arrival, captured: &Captured, out: &mut String) {
        let request = &self.step(arrival.act).request;
        let values = self.values(arrival, captured);
        let signed = self.place(arrival).zip(self.signed.get(arrival.visit));
        let body = &mut *self.body.borrow_mut();
        body.clear();
        write_body(request, &values, signed, body);
        self.write_head(request, &values, signed, out);
        if request.body.is_some() || !body.is_empty() {
            write!(out, "content-length: {}\r\n", body.len()).expect("writing to a string never fails");
        }
        out.push_str("\r\n");
        out.push_str(body);
    }

    /// The values of an act's placeholders.
    pub(super) fn values<'a>(&'a self, arrival: &'a Arrival, captured: &'a Captured) -> Values<'a> {
        Values {
            bot_token: Some(&self.bot_token),
            player: Some(&self.plan.players[arrival.player as usize]),
            act: Some(Act { seed: self.scenario.seed, arrival }),
            captured: Some(captured),
            ..Values::default()
        }
    }

    fn place(&self, arrival: &Arrival) -> Option<&Place> {
        let act = &self.plan.acts[usize::from(arrival.act)];
        self.scenario.journeys[act.journey].init_data.as_ref()
    }

    fn write_head(&self, request: &Request, values: &Values<'_>, signed: Option<(&Place, &str)>, out: &mut String) {
        out.extend([&request.method, " "]);
        put(&request.path, values, Escape::Url, out);
        if let Some((Place::Query(name), text)) = signed {
            out.push(if out.contains('?') { '&' } else { '?' });
            out.extend([name, "="]);
            out.extend(utf8_percent_encode(text, URI_COMPONENT));
        }
        out.push_str(" HTTP/1.1\r\n");
        if !has(request, "host") {
            out.extend(["host: ", &self.host, "\r\n"]);
        }
        write_headers(request, values, out);
        match signed {
            Some((Place::Authorization, text)) => out.extend(["authorization: tma ", text, "\r\n"]),
            Some((Place::Header(name), text)) => out.extend([name, ": ", text, "\r\n"]),
            Some((Place::Query(_) | Place::Field(_), _)) | None => {}
        }
    }
}

/// The names of captured values that a step's templates use.
fn captured_by(step: &Step) -> Vec<String> {
    let request = &step.request;
    let body = request.body.iter().map(|body| match body {
        Body::Json(template) | Body::Text(template) => template,
    });
    let templates = request.headers.iter().map(|(_, template)| template).chain(body).chain([&request.path]);
    let slots = templates.flat_map(|template| &template.pieces).filter_map(|piece| match piece {
        Piece::Slot(Slot::Captured(name)) => Some(name.clone()),
        Piece::Slot(_) | Piece::Text(_) => None,
    });
    slots.collect()
}

/// A body that holds the initData is a JSON object, and it becomes the first of its fields.
fn write_body(request: &Request, values: &Values<'_>, signed: Option<(&Place, &str)>, body: &mut String) {
    match &request.body {
        Some(Body::Json(template)) => put(template, values, Escape::Json, body),
        Some(Body::Text(template)) => put(template, values, Escape::None, body),
        None => {}
    }
    if let Some((Place::Field(name), text)) = signed {
        let rest = body.trim_start().strip_prefix('{').unwrap_or("}").trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        let name = serde_json::Value::from(name.as_str());
        // initData is percent-encoded and needs no escaping.
        *body = format!("{{{name}:\"{text}\"{comma}{rest}");
    }
}

fn write_headers(request: &Request, values: &Values<'_>, out: &mut String) {
    for (name, value) in &request.headers {
        out.extend([name, ": "]);
        let from = out.len();
        put(value, values, Escape::None, out);
        if out[from..].contains(['\r', '\n', '\0']) {
            let scrubbed = out[from..].replace(['\r', '\n', '\0'], " ");
            out.replace_range(from.., &scrubbed);
        }
        out.push_str("\r\n");
    }
    match &request.body {
        _ if has(request, "content-type") => {}
        Some(Body::Text(_)) => out.push_str("content-type: text/plain; charset=utf-8\r\n"),
        Some(Body::Json(_)) | None => out.push_str("content-type: application/json\r\n"),
    }
}

fn has(request: &Request, header: &str) -> bool {
    request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header))
}

/// Fills a template whose captured values are known to be there; a scenario with a placeholder that requests do not
/// have is refused when it is read.
fn put(template: &Template, values: &Values<'_>, escape: Escape, out: &mut String) {
    let filled = fill(template, values, escape, out);
    debug_assert!(filled.is_ok(), "a request's placeholders have values: {filled:?}");
}
