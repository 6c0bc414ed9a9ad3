//! The text of a request: a step's templates filled for one planned act, with the visit's initData in its place.
//!
//! It is written straight into the buffer that is sent, on the driving thread, right before the send.

mod needs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use floodrig_reports::recording::{Outcome, RigFault};
use floodrig_stub::Gesture;
use percent_encoding::utf8_percent_encode;

use self::needs::captured_by;
use super::hands::Way;
use crate::init_data::{Signed, URI_COMPONENT};
use crate::plan::{ActSpec, Arrival, Plan};
use crate::scenario::{
    self, Body, Conversation, Does, OnFailure, Page, Place, Request, Scenario, Step, Template, Where,
};
use crate::template::{Act, Escape, Values, fill};

/// What a visit has captured so far, by name.
pub(super) type Captured = BTreeMap<String, String>;

/// A part of a page: the document or an asset.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) page: &'a Page,
    pub(super) path: &'a Template,
}

/// Writes requests.
pub(super) struct Requests {
    scenario: Arc<Scenario>,
    plan: Arc<Plan>,
    signed: Arc<Signed>,
    host: String,
    bot_token: String,
    /// By act: the captured values it cannot be sent without.
    needs: Vec<Vec<String>>,
    /// By act: its step, where a later step asks how it ended.
    asked_of: Vec<Option<usize>>,
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
        let step = |act: &ActSpec| &scenario.journeys[act.journey].steps[act.step];
        let needs = plan.acts.iter().map(|act| captured_by(step(act))).collect();
        let asked_of = |act: &ActSpec| {
            let steps = &scenario.journeys[act.journey].steps;
            let asks = |step: &Step| step.when.as_ref().is_some_and(|when| when.step == act.step);
            steps.iter().any(asks).then_some(act.step)
        };
        let asked_of = plan.acts.iter().map(asked_of).collect();
        Self { scenario, plan, signed, host, bot_token, needs, asked_of, body: RefCell::default() }
    }

    /// The step of an act.
    pub(super) fn step(&self, act: u16) -> &Step {
        let act = &self.plan.acts[usize::from(act)];
        &self.scenario.journeys[act.journey].steps[act.step]
    }

    /// The step of an act, where a later step asks how it ended.
    pub(super) fn asked_of(&self, act: u16) -> Option<usize> {
        self.asked_of[usize::from(act)]
    }

    /// The statuses that an act must be refused with, when its initData is such that it must be refused.
    pub(super) fn refusal(&self, act: u16) -> Option<&[u16]> {
        self.plan.acts[usize::from(act)].refusal(&self.scenario)
    }

    /// What a player does when an act fails. Where a refusal is awaited, nothing: there is nobody to be impatient.
    pub(super) fn on_failure(&self, act: u16) -> OnFailure {
        let awaited = self.refusal(act).is_some();
        if awaited { OnFailure::default() } else { self.step(act).on_failure }
    }

    /// How an act goes to the system.
    pub(super) fn way(&self, act: u16) -> Way {
        match self.step(act).does {
            Does::Request(_) | Does::Page(_) => Way::Wire,
            Does::Converse(_) => Way::Socket,
            Does::Bot(_) => Way::Bot,
        }
    }

    /// What an act does towards the bot, and the chat and the user that it is done in and by. To be asked for only when
    /// nothing is in the way.
    pub(super) fn gesture(&self, arrival: &Arrival, captured: &Captured) -> ((i64, i64), Gesture) {
        let player = &self.plan.players[arrival.player as usize];
        let Does::Bot(to_bot) = &self.step(arrival.act).does else { unreachable!("a request is no gesture") };
        let chat = match to_bot.chat {
            Where::Private => player.user_id,
            Where::Group => player.chat_id,
        };
        let values = self.values(arrival, captured);
        let mut text = String::new();
        let gesture = match &to_bot.gesture {
            scenario::Gesture::Says(template) => {
                put(template, &values, Escape::None, &mut text);
                Gesture::Says(text)
            }
            scenario::Gesture::Taps(template) => {
                put(template, &values, Escape::None, &mut text);
                Gesture::Taps(text)
            }
        };
        ((chat, player.user_id), gesture)
    }

    /// What becomes of an act that cannot be sent. Without a value that the system never gave, it is abandoned, which
    /// is the system's doing, or skipped where the system had to refuse it; without initData that should have been signed
    /// by now, it is the rig's fault.
    pub(super) fn obstacle(&self, arrival: &Arrival, captured: &Captured) -> Option<Outcome> {
        let is_signed = self.place(arrival).is_some() && self.step(arrival.act).does.sends_init_data();
        if is_signed && self.signed.get(arrival.visit).is_none() {
            return Some(Outcome::RigFault(RigFault::Unsigned));
        }
        let lacks = self.needs[usize::from(arrival.act)].iter().any(|name| !captured.contains_key(name));
        let refused = || self.refusal(arrival.act).is_some();
        lacks.then(|| if refused() { Outcome::Skipped { left: false } } else { Outcome::Abandoned })
    }

    /// Appends the whole request. To be asked for only when nothing is in the way.
    pub(super) fn write(&self, request: &Request, arrival: &Arrival, captured: &Captured, out: &mut String) {
        let values = self.values(arrival, captured);
        let signed = self.place(arrival).zip(self.signed.get(arrival.visit));
        let body = &mut *self.body.borrow_mut();
        body.clear();
        write_body(request.body.as_ref(), &values, signed, body);
        write_line((&request.method, &request.path), &values, signed, out);
        self.write_host_and_headers(&request.headers, &values, out);
        write_signed(signed, out);
        write_length(request, body, out);
        out.push_str("\r\n");
        out.push_str(body);
    }

    /// Appends a request for a part of a page. Without initData: an app has it only once its page is there.
    pub(super) fn write_part(&self, part: Part<'_>, arrival: &Arrival, captured: &Captured, out: &mut String) {
        let values = self.values(arrival, captured);
        write_line(("GET", part.path), &values, None, out);
        self.write_host_and_headers(&part.page.headers, &values, out);
        out.push_str("\r\n");
    }

    /// Appends the request that a WebSocket is opened with, as far as it is the scenario's.
    pub(super) fn write_greeting(
        &self,
        conversation: &Conversation,
        arrival: &Arrival,
        captured: &Captured,
        out: &mut String,
    ) {
        let values = self.values(arrival, captured);
        let signed = self.place(arrival).zip(self.signed.get(arrival.visit));
        write_line(("GET", &conversation.path), &values, signed, out);
        self.write_host_and_headers(&conversation.headers, &values, out);
        write_signed(signed, out);
        out.push_str("\r\n");
    }

    /// Appends a message over a WebSocket.
    pub(super) fn write_message(
        &self,
        conversation: &Conversation,
        arrival: &Arrival,
        captured: &Captured,
        out: &mut String,
    ) {
        let values = self.values(arrival, captured);
        let signed = self.place(arrival).zip(self.signed.get(arrival.visit));
        write_body(conversation.message.as_ref(), &values, signed, out);
    }

    /// Path and query of a part of a page.
    pub(super) fn path(&self, part: &Template, arrival: &Arrival, captured: &Captured) -> String {
        let mut path = String::new();
        put(part, &self.values(arrival, captured), Escape::Url, &mut path);
        path
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

    fn write_host_and_headers(&self, headers: &[(String, Template)], values: &Values<'_>, out: &mut String) {
        if !has(headers, "host") {
            out.extend(["host: ", &self.host, "\r\n"]);
        }
        write_headers(headers, values, out);
    }
}

fn write_line(
    (method, path): (&str, &Template),
    values: &Values<'_>,
    signed: Option<(&Place, &str)>,
    out: &mut String,
) {
    out.extend([method, " "]);
    put(path, values, Escape::Url, out);
    if let Some((Place::Query(name), text)) = signed {
        out.push(if out.contains('?') { '&' } else { '?' });
        out.extend([name, "="]);
        out.extend(utf8_percent_encode(text, URI_COMPONENT));
    }
    out.push_str(" HTTP/1.1\r\n");
}

fn write_signed(signed: Option<(&Place, &str)>, out: &mut String) {
    match signed {
        Some((Place::Authorization, text)) => out.extend(["authorization: tma ", text, "\r\n"]),
        Some((Place::Header(name), text)) => out.extend([name, ": ", text, "\r\n"]),
        Some((Place::Query(_) | Place::Field(_), _)) | None => {}
    }
}

/// A body that holds the initData is a JSON object, and it becomes the first of its fields.
fn write_body(content: Option<&Body>, values: &Values<'_>, signed: Option<(&Place, &str)>, body: &mut String) {
    match content {
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

fn write_headers(headers: &[(String, Template)], values: &Values<'_>, out: &mut String) {
    for (name, value) in headers {
        out.extend([name, ": "]);
        let from = out.len();
        put(value, values, Escape::None, out);
        if out[from..].contains(['\r', '\n', '\0']) {
            let scrubbed = out[from..].replace(['\r', '\n', '\0'], " ");
            out.replace_range(from.., &scrubbed);
        }
        out.push_str("\r\n");
    }
}

/// The headers that go with a body. A method that usually has one says so when it has none (RFC 9110, section 8.6).
fn write_length(request: &Request, body: &str, out: &mut String) {
    let bodiless = request.body.is_none() && body.is_empty();
    if bodiless && matches!(request.method.as_str(), "GET" | "DELETE") {
        return;
    }
    match &request.body {
        _ if bodiless || has(&request.headers, "content-type") => {}
        Some(Body::Text(_)) => out.push_str("content-type: text/plain; charset=utf-8\r\n"),
        // Without a template of its own, the body is the object that holds the initData.
        Some(Body::Json(_)) | None => out.push_str("content-type: application/json\r\n"),
    }
    write!(out, "content-length: {}\r\n", body.len()).expect("writing to a string never fails");
}

fn has(headers: &[(String, Template)], header: &str) -> bool {
    headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header))
}

/// Fills a template whose captured values are known to be there; a scenario with a placeholder that requests do not
/// have is refused when it is read.
fn put(template: &Template, values: &Values<'_>, escape: Escape, out: &mut String) {
    let filled = fill(template, values, escape, out);
    debug_assert!(filled.is_ok(), "a request's placeholders have values: {filled:?}");
}

#[cfg(test)]
mod tests;
