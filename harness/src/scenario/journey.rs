//! `[[journey]]`, checked: arrivals, and the acts with what they send, keep and show.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::body;
use super::check::{LONGEST_RUN, positive};
use super::complaint::Complaint;
use super::file::{ArriveTable, JourneyTable, NumberOrList, PlaceTable, ShowsTable, StepTable};
use super::spot::Spot;
use super::template::{self, Captures, Template};
use super::{Arrive, Body, Journey, Place, Request, Shows, Sign, Step};

/// Checks the journeys.
pub(super) fn checked(files: Vec<JourneyTable>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Vec<Journey> {
    if files.is_empty() {
        complaints.push(spot.complain("nobody does anything", "add a `[[journey]]`"));
    }
    let mut acts = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut journeys = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        let spot = spot.item(index);
        if !names.insert(file.name.clone()) {
            complaints.push(spot.key("name").complain("another journey has this name", "give it one of its own"));
        }
        for (index, step) in file.steps.iter().enumerate() {
            let at = spot.key("steps").item(index).key("act");
            act_name(&step.act, acts.insert(step.act.clone()), &at, complaints);
        }
        journeys.push(journey(file, &spot, complaints));
    }
    journeys
}

fn act_name(name: &str, is_new: bool, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !is_new {
        complaints.push(spot.complain(format!("another act is named `{name}`"), "give it a name of its own"));
    }
    complaints.extend(super::check::bad_name(name, spot.span()));
}

fn journey(file: JourneyTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Journey {
    if file.steps.is_empty() {
        complaints.push(spot.key("steps").complain("nobody does anything", "add a step"));
    }
    let init_data = file.init_data.map(|place| place_of_init_data(place, &spot.key("init_data"), complaints));
    let mut captures = Captures::default();
    captures.ever.extend(file.steps.iter().flat_map(|step| step.capture.keys().cloned()));
    let mut steps = Vec::new();
    for (index, step) in file.steps.into_iter().enumerate() {
        let at = spot.key("steps").item(index);
        let step = checked_step(step, &at, &mut captures, complaints);
        room_for_init_data(&step, init_data.as_ref(), &at, complaints);
        steps.push(step);
    }
    let arrive = arrive(&file.arrive, &spot.key("arrive"), complaints);
    if arrive.over().saturating_add(thinking(&steps)) > LONGEST_RUN {
        complaints.push(spot.key("steps").complain_of_key("this takes longer than a day", "a run lasts a day at most"));
    }
    Journey { name: file.name, arrive, init_data, steps }
}

/// How long the slowest player thinks in all.
fn thinking(steps: &[Step]) -> Duration {
    let of_step = |step: &Step| step.think.end().saturating_mul(u32::from(step.repeat));
    steps.iter().map(of_step).fold(Duration::ZERO, Duration::saturating_add)
}

fn arrive(file: &ArriveTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Arrive {
    match file {
        ArriveTable::Burst(burst) => {
            positive(burst.over, &spot.key("burst").key("over"), complaints);
            Arrive::Burst { over: burst.over }
        }
        ArriveTable::Constant(steady) => {
            let spot = spot.key("constant");
            rates(&[("rate", steady.rate)], steady.over, &spot, complaints);
            Arrive::Constant { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Poisson(steady) => {
            let spot = spot.key("poisson");
            rates(&[("rate", steady.rate)], steady.over, &spot, complaints);
            Arrive::Poisson { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Ramp(ramp) => {
            let spot = spot.key("ramp");
            rates(&[("from", ramp.from), ("to", ramp.to)], ramp.over, &spot, complaints);
            Arrive::Ramp { from: ramp.from, to: ramp.to, over: ramp.over }
        }
    }
}

/// A single rate must be above zero; of the two ends of a ramp, one may be zero.
fn rates(rates: &[(&str, f64)], over: Duration, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    positive(over, &spot.key("over"), complaints);
    for (key, rate) in rates {
        if !rate.is_finite() || *rate < 0.0 {
            let help = "write how many arrive in a second, such as 50";
            complaints.push(spot.key(key).complain(format!("{rate} is no rate"), help));
            return;
        }
    }
    let arrivals = rates.iter().map(|(_, rate)| rate).sum::<f64>() / rates.len() as f64 * over.as_secs_f64();
    if arrivals < 1.0 {
        let at = spot.key(rates[0].0);
        complaints.push(at.complain("nobody would come", "raise the rate, or let it last longer"));
    }
}

fn place_of_init_data(file: PlaceTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Place {
    match file {
        PlaceTable::Authorization => Place::Authorization,
        PlaceTable::Header(name) => {
            header_name(&name, &spot.key("header"), complaints);
            Place::Header(name)
        }
        PlaceTable::Query(name) => {
            not_empty(&name, &spot.key("query"), complaints);
            Place::Query(name)
        }
        PlaceTable::Field(name) => {
            not_empty(&name, &spot.key("field"), complaints);
            Place::Field(name)
        }
    }
}

fn not_empty(name: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if name.is_empty() {
        complaints.push(spot.complain("it needs a name", "write the name that the system reads initData from"));
    }
}

/// Whether the step leaves the place free that initData is put in, and has it at all.
fn room_for_init_data(step: &Step, place: Option<&Place>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let header = match place {
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
    let Some(Body::Json(_)) = step.request.body else {
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

fn checked_step(file: StepTable, spot: &Spot<'_>, captures: &mut Captures, complaints: &mut Vec<Complaint>) -> Step {
    if file.repeat == 0 {
        complaints.push(spot.key("repeat").complain("never done", "write at least 1, or drop the step"));
    }
    let request = request(&file, spot, captures, complaints);
    for (name, pointer) in &file.capture {
        capture(name, pointer, &spot.key("capture").key(name), complaints);
    }
    captures.so_far.extend(file.capture.keys().cloned());
    Step {
        act: file.act,
        request,
        repeat: file.repeat,
        think: file.think.map_or(Duration::ZERO..=Duration::ZERO, |think| think.0),
        capture: file.capture,
        expect_status: statuses(file.expect_status, &spot.key("expect_status"), complaints),
        // After the capture: what an act shows may be told by its own answer.
        shows: file.shows.map(|shows| what_it_shows(&shows, &spot.key("shows"), captures, complaints)),
    }
}

fn request(file: &StepTable, spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Request {
    let methods = [
        ("get", &file.get),
        ("post", &file.post),
        ("put", &file.put),
        ("patch", &file.patch),
        ("delete", &file.delete),
    ];
    let given: Vec<_> = methods.iter().filter_map(|(key, path)| Some((*key, path.as_deref()?))).collect();
    let (key, path) = match given.as_slice() {
        [one] => *one,
        [] => {
            let help = "add `get`, `post`, `put`, `patch` or `delete` with a path";
            complaints.push(spot.key("act").complain("this step sends nothing", help));
            ("get", "/")
        }
        [first, .., last] => {
            let says = format!("a step sends one request, and this one says `{}` as well", first.0);
            complaints.push(spot.key(last.0).complain_of_key(says, "make it two steps"));
            *first
        }
    };
    Request {
        method: key.to_ascii_uppercase(),
        path: path_template(path, &spot.key(key), captures, complaints),
        headers: headers(&file.headers, &spot.key("headers"), captures, complaints),
        body: request_body(file, spot, captures, complaints),
    }
}

fn path_template(path: &str, spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Template {
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

fn headers(
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

fn header_name(name: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
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

fn request_body(
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

fn capture(name: &str, pointer: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let fits = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if name.is_empty() || !name.chars().all(fits) {
        complaints.push(spot.complain_of_key("this cannot name a value", "use letters, digits and `_`"));
    }
    if template::is_taken(name) {
        let says = format!("`{{{name}}}` is a placeholder of the rig's own");
        complaints.push(spot.complain_of_key(says, "give the value another name"));
    }
    is_pointer(pointer, spot, complaints);
}

/// RFC 6901: empty for the whole answer, or parts that each begin with a slash.
fn is_pointer(pointer: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let help = format!("write \"/{}\"", pointer.trim_start_matches("$.").replace('.', "/"));
        complaints.push(spot.complain("a JSON pointer begins with a slash", help));
    }
}

fn statuses(file: Option<NumberOrList>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Vec<u16> {
    let (list, is_list) = match file {
        None => return Vec::new(),
        Some(NumberOrList::Number(status)) => (vec![status], false),
        Some(NumberOrList::List(list)) => (list, true),
    };
    if list.is_empty() {
        complaints.push(spot.complain("no status counts as success", "name one, or drop `expect_status` for any 2xx"));
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
