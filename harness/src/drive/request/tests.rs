//! Requests as they are written, byte by byte.

use std::time::Duration;

use super::*;
use crate::plan::by_hand::{SECOND, journey, scenario, step};
use crate::plan::{Visit, crowd};
use crate::scenario::{Arrive, Piece, Slot};

const ARRIVAL: Arrival = Arrival { at: Duration::ZERO, player: 0, visit: 0, act: 0, nth: 3 };

fn text(text: &str) -> Template {
    Template { pieces: vec![Piece::Text(text.to_owned())] }
}

fn captured(name: &str) -> Template {
    Template { pieces: vec![Piece::Slot(Slot::Captured(name.to_owned()))] }
}

fn post(body: Option<Body>) -> Request {
    Request { method: "POST".to_owned(), path: text("/api"), headers: Vec::new(), body }
}

fn requests(request: Request, init_data: Option<Place>) -> Requests {
    let mut journey = journey(
        Arrive::Burst { over: SECOND },
        vec![Step { does: Does::Request(request), ..step("act", 1, SECOND..=SECOND) }],
    );
    journey.init_data = init_data;
    let plan = Arc::new(Plan {
        acts: vec![ActSpec { name: "act".to_owned(), journey: 0, step: 0, fault: None }],
        players: crowd(7, 1, 1),
        visits: vec![Visit { at: Duration::ZERO, player: 0, journey: 0, fault: None }],
        arrivals: vec![ARRIVAL],
        digest: [0; 32],
    });
    let scenario = Arc::new(scenario(vec![journey]));
    let signed = Signed::start(&scenario, &plan, "1:A", SECOND).unwrap();
    assert!(signed.wait(SECOND, 20 * SECOND));
    Requests::new(scenario, plan, Arc::new(signed), "system.test:80".to_owned(), "1:A".to_owned())
}

fn written(requests: &Requests, value: &str) -> String {
    let captured = Captured::from([("it".to_owned(), value.to_owned())]);
    assert_eq!(requests.obstacle(&ARRIVAL, &captured), None);
    let mut out = String::new();
    let Does::Request(request) = &requests.step(0).does else { panic!("a request") };
    requests.write(request, &ARRIVAL, &captured, &mut out);
    out
}

#[test]
fn a_request_without_a_body_is_its_line_and_its_host() {
    let request = Request { method: "GET".to_owned(), ..post(None) };
    assert_eq!(written(&requests(request, None), ""), "GET /api HTTP/1.1\r\nhost: system.test:80\r\n\r\n");
    let posted = written(&requests(post(None), None), "");
    assert_eq!(posted, "POST /api HTTP/1.1\r\nhost: system.test:80\r\ncontent-length: 0\r\n\r\n");
}

#[test]
fn values_are_escaped_for_where_they_stand() {
    let quoted = ["{\"word\":\"", "\"}"].map(|text| Piece::Text(text.to_owned()));
    let [before, after] = quoted;
    let body = Template { pieces: vec![before, Piece::Slot(Slot::Captured("it".to_owned())), after] };
    let path = Template { pieces: vec![Piece::Text("/of/".to_owned()), captured("it").pieces.remove(0)] };
    let headers = vec![("X-It".to_owned(), captured("it"))];
    let request = Request { path, headers, ..post(Some(Body::Json(body))) };
    let expected = "POST /of/a%22%0D%0Ab HTTP/1.1\r\nhost: system.test:80\r\nX-It: a\"  b\r\n\
        content-type: application/json\r\ncontent-length: 27\r\n\r\n{\"word\":\"a\\\"\\u000d\\u000ab\"}";
    assert_eq!(written(&requests(request, None), "a\"\r\nb"), expected);
}

#[test]
fn a_header_of_the_step_stands_in_place_of_ours() {
    let headers = vec![("Host".to_owned(), text("other")), ("Content-Type".to_owned(), text("text/csv"))];
    let request = Request { headers, ..post(Some(Body::Text(text("a,b")))) };
    let expected = "POST /api HTTP/1.1\r\nHost: other\r\nContent-Type: text/csv\r\ncontent-length: 3\r\n\r\na,b";
    assert_eq!(written(&requests(request, None), ""), expected);
}

#[test]
fn init_data_goes_where_the_journey_says() {
    let place = |place, request| {
        let requests = requests(request, Some(place));
        let signed = requests.signed.get(0).unwrap().to_owned();
        (written(&requests, ""), signed)
    };
    let (request, signed) = place(Place::Authorization, post(None));
    assert!(request.contains(&format!("\r\nauthorization: tma {signed}\r\n")), "{request}");
    let (request, signed) = place(Place::Header("X-Init".to_owned()), post(None));
    assert!(request.contains(&format!("\r\nX-Init: {signed}\r\n")), "{request}");
    for (path, mark) in [("/api", '?'), ("/api?a=1", '&')] {
        let (request, signed) = place(Place::Query("tg".to_owned()), Request { path: text(path), ..post(None) });
        let encoded = utf8_percent_encode(&signed, URI_COMPONENT).to_string();
        assert!(request.starts_with(&format!("POST {path}{mark}tg={encoded} HTTP/1.1\r\n")), "{request}");
    }
}

#[test]
fn init_data_in_a_field_joins_the_other_fields() {
    for (json, rest) in [(Some("{\"a\":1}"), ",\"a\":1}"), (Some(" { } "), "} "), (None, "}")] {
        let body = json.map(|json| Body::Json(text(json)));
        let requests = requests(post(body), Some(Place::Field("init\"Data".to_owned())));
        let body = format!("{{\"init\\\"Data\":\"{}\"{rest}", requests.signed.get(0).unwrap());
        let request = written(&requests, "");
        let expected = format!("\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        assert!(request.ends_with(&expected), "{request}");
    }
}

#[test]
fn what_was_never_captured_is_the_systems_doing_and_what_was_never_signed_the_rigs() {
    let needs = requests(post(Some(Body::Text(captured("it")))), Some(Place::Authorization));
    assert_eq!(needs.obstacle(&ARRIVAL, &Captured::new()), Some(Outcome::Abandoned));
    let unsigned = Arrival { visit: 1, ..ARRIVAL };
    assert_eq!(needs.obstacle(&unsigned, &Captured::new()), Some(Outcome::RigFault(RigFault::Unsigned)));
}
