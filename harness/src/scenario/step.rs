//! One step of a journey, checked: what it sends, keeps and shows.

use std::collections::BTreeMap;

use super::act::{Body, Does, Request, Shows, ShowsTable, Sign, Step, StepTable};
use super::answer;
use super::body;
use super::complaint::Complaint;
use super::impatience;
use super::number_or_list::NumberOrList;
use super::spot::Spot;
use super::template::{self, Captures, Template};
use super::think;
use super::{OnFailure, Place, page, socket, to_bot};

/// Checks a step, and adds what it captures; `by_default` is what players do when it fails and it does not say.
pub(super) fn checked(
    file: StepTable,
    by_default: OnFailure,
    spot: &Spot<'_>,
    captures: &mut Captures,
    complaints: &mut Vec<Complaint>,
) -> Step {
    if file.repeat == 0 {
        complaints.push(spot.key("repeat").complain("never done", "write at least 1, or drop the step"));
    }
    let before = complaints.len();
    let does = match to_bot::checked(&file, spot, captures, complaints) {
        Some(to_bot) => Does::Bot(to_bot),
        None if complaints.len() > before => Does::Request(Request::default()),
        None => does(&file, spot, captures, complaints),
    };
    let check = answer::checks(&file.check, &spot.key("check"), captures, complaints);
    captures.so_far.extend(file.capture.keys().filter(|name| !template::is_taken(name)).cloned());
    let on_failure = file.on_failure.map(|text| impatience::checked(&text, &spot.key("on_failure"), complaints));
    Step {
        act: file.act,
        does,
        repeat: file.repeat,
        think: think::checked(file.think, &spot.key("think"), complaints),
        // Known to the journey, which has the earlier steps.
        when: None,
        capture: answer::captures(file.capture, &spot.key("capture"), complaints),
        check,
        expect_status: statuses(file.expect_status, &spot.key("expect_status"), complaints),
        on_failure: on_failure.unwrap_or(by_default),
        // After the capture: what an act shows may be told by its own answer.
        shows: file.shows.map(|shows| what_it_shows(&shows, &spot.key("shows"), captures, complaints)),
    }
}

fn does(file: &StepTable, spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Does {
    let (key, path) = what(file, spot, complaints);
    if key == "page" {
        return Does::Page(page::checked(path, file, spot, captures, complaints));
    }
    if key == "websocket" {
        return Does::Converse(socket::checked(path, file, spot, captures, complaints));
    }
    if file.assets.is_some() {
        let help = "write `page` in place of the method";
        complaints.push(spot.key("assets").complain_of_key("only a page has assets", help));
    }
    if file.answer.is_some() {
        let help = "write `websocket` in place of the method, or drop it";
        complaints.push(spot.key("answer").complain_of_key("only a WebSocket's answer is looked for", help));
    }
    Does::Request(request((key, path), file, spot, captures, complaints))
}

/// The one thing that the step does, by its key.
fn what<'f>(file: &'f StepTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> (&'static str, &'f str) {
    let methods = [
        ("page", &file.page),
        ("websocket", &file.websocket),
        ("get", &file.get),
        ("post", &file.post),
        ("put", &file.put),
        ("patch", &file.patch),
        ("delete", &file.delete),
    ];
    let given: Vec<_> = methods.iter().filter_map(|(key, path)| Some((*key, path.as_deref()?))).collect();
    match given.as_slice() {
        [one] => *one,
        [] => {
            let help = "add `get`, `post`, `put`, `patch`, `delete`, `page` or `websocket` with a path, or `says` or \
                        `taps` for the bot";
            complaints.push(spot.key("act").complain("this step does nothing", help));
            ("get", "/")
        }
        [first, .., last] => {
            let says = format!("a step sends one request, and this one says `{}` as well", first.0);
            complaints.push(spot.key(last.0).complain_of_key(says, "make it two steps"));
            *first
        }
    }
}

fn request(
    (key, path): (&str, &str),
    file: &StepTable,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Request {
    Request {
        method: key.to_ascii_uppercase(),
        path: path_template(path, &spot.key(key), captures, complaints),
        headers: headers(&file.headers, &spot.key("headers"), captures, complaints),
        body: request_body(file, spot, captures, complaints),
    }
}

pub(super) fn path_template(
    path: &str,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Template {
    path_stands(path, spot, complaints);
    Template::parse(path, spot, template::Place::Act(captures), complaints)
}

/// Complains of a path that cannot stand in the first line of a request.
pub(super) fn path_stands(path: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !path.starts_with('/') {
        let help = match path.split_once("://").and_then(|(_, rest)| rest.split_once('/')) {
            Some((_, rest)) => format!("write \"/{rest}\": the rig knows where the system listens"),
            None => format!("write \"/{path}\""),
        };
        complaints.push(spot.complain("a path begins with a slash", help));
    }
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
    if let Some(at) = path.bytes().position(|byte| !fits(byte)) {
        let width = path[at..].chars().next().map_or(1, char::len_utf8);
        let says = "this cannot stand in a path";
        complaints.push(spot.complain_within(at..at + width, says, "percent-encode it, such as %20 for a space"));
    }
}

pub(super) fn headers(
    file: &BTreeMap<String, String>,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Vec<(String, Template)> {
    let mut headers = Vec::new();
    for (name, value) in file {
        let at = spot.key(name);
        header_name(name, &at, complaints);
        if value.contains(|character: char| character.is_control()) {
            complaints.push(at.complain("a header is one line", "drop the control characters"));
        }
        headers.push((name.clone(), Template::parse(value, &at, template::Place::Act(captures), complaints)));
    }
    headers
}

/// Complains of a name that no header can have, or that is not the scenario's to write.
pub(super) fn header_name(name: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    // RFC 9110, 5.6.2: a field name is a token.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        complaints.push(spot.complain_of_key("this cannot name a header", "use letters, digits and `-`"));
    }
    let own = ["host", "connection", "content-length", "transfer-encoding"];
    if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        complaints.push(spot.complain_of_key("the rig writes this header itself", "drop it"));
    }
}

pub(super) fn request_body(
    file: &StepTable,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Option<Body> {
    match (&file.json, &file.text) {
        (None, None) => None,
        (Some(_), None) => Some(Body::Json(body::json(&spot.key("json"), captures, complaints))),
        (None, Some(text)) => {
            let place = template::Place::Act(captures);
            Some(Body::Text(Template::parse(text, &spot.key("text"), place, complaints)))
        }
        (Some(_), Some(_)) => {
            complaints.push(spot.key("text").complain_of_key("a request has one body", "keep `json` or `text`"));
            None
        }
    }
}

/// Complains of what is no JSON pointer (RFC 6901): empty for the whole answer, or parts that each begin with a slash.
pub(super) fn is_pointer(pointer: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let help = format!("write \"/{}\"", pointer.trim_start_matches("$.").replace('.', "/"));
        complaints.push(spot.complain("a JSON pointer begins with a slash", help));
    }
}

/// Checks the statuses that end an exchange as wanted.
pub(super) fn statuses(file: Option<NumberOrList>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Vec<u16> {
    let (list, is_list) = match file {
        None => return Vec::new(),
        Some(NumberOrList::Number(status)) => (vec![status], false),
        Some(NumberOrList::List(list)) => (list, true),
    };
    if list.is_empty() {
        complaints.push(spot.complain("no status at all", "name one, or drop the key"));
    }
    for (index, status) in list.iter().enumerate() {
        // RFC 9110, 15: 1xx are interim and never end an exchange.
        if !(200..=599).contains(status) {
            let at = if is_list { spot.item(index) } else { spot.clone() };
            complaints.push(at.complain(format!("{status} does not end an exchange"), "write one from 200 to 599"));
        }
    }
    list.into_iter().filter_map(|status| u16::try_from(status).ok()).collect()
}

fn what_it_shows(file: &ShowsTable, spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Shows {
    let place = template::Place::Act(captures);
    if file.chat.is_empty() {
        complaints.push(spot.key("chat").complain("in which chat?", "write \"{chat.id}\""));
    }
    let sign = match (&file.marker, &file.version) {
        (None, None) => Sign::Any,
        (Some(marker), None) => {
            if marker.is_empty() {
                complaints.push(spot.key("marker").complain("every text holds nothing", "write \"{marker}\""));
            }
            Sign::Marker(Template::parse(marker, &spot.key("marker"), place, complaints))
        }
        (None, Some(version)) => {
            is_pointer(version, &spot.key("version"), complaints);
            Sign::Version(version.clone())
        }
        (Some(_), Some(_)) => {
            let says = "an effect is recognised by one sign";
            complaints.push(spot.key("version").complain_of_key(says, "keep `marker` or `version`"));
            Sign::Any
        }
    };
    Shows { chat: Template::parse(&file.chat, &spot.key("chat"), place, complaints), sign }
}

/// Whether the step leaves the place free that initData is put in, and has it at all.
pub(super) fn room_for_init_data(step: &Step, place: Option<&Place>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let header = match place.filter(|_| step.does.sends_init_data()) {
        Some(Place::Authorization) => "authorization",
        Some(Place::Header(name)) => name,
        Some(Place::Field(name)) => return room_in_body(step, name, spot, complaints),
        Some(Place::Query(_)) | None => return,
    };
    for (name, at) in spot.key("headers").entries() {
        if name.eq_ignore_ascii_case(header) {
            complaints.push(at.complain_of_key("initData goes into this header", "drop it, or `init_data`"));
        }
    }
}

fn room_in_body(step: &Step, field: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let body = match &step.does {
        Does::Request(request) => request.body.as_ref(),
        Does::Converse(conversation) => conversation.message.as_ref(),
        Does::Page(_) => None,
        Does::Bot(_) => return,
    };
    let Some(Body::Json(_)) = body else {
        let says = format!("initData goes into the field `{field}`, and this step has no JSON body");
        complaints.push(spot.key("act").complain(says, "add `json = {}`, or say another `init_data`"));
        return;
    };
    match spot.key("json").entries().iter().find(|(name, _)| *name == field) {
        Some((_, at)) => {
            complaints.push(at.complain_of_key("initData goes into this field", "drop it, or `init_data`"));
        }
        None if spot.key("json").is_table() => {}
        None => complaints.push(spot.key("json").complain("initData goes into a field of a table", "write { .. }")),
    }
}
/// Whether it is a user's act towards the bot.
pub(super) fn is_to_bot(step: &Step) -> bool {
    matches!(step.does, Does::Bot(_))
}
