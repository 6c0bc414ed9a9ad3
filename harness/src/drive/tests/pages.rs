//! Page loads: the document and its assets over a browser's connections, as one act.

use std::sync::Barrier;

use super::*;
use crate::exchange::rough::Which;
use crate::exchange::versed::{Identity, Versed, Way};
use crate::scenario::{Assets, Ended, Fault, Faults, OnFailure, Page, Place, Retry, When};

const DOCUMENT: &str = "<link rel=stylesheet href=/a.css><script src=/b.js></script><img src=https://elsewhere.test/c>";

fn page(assets: Assets) -> Step {
    let does = Does::Page(Page { path: text("/index.html"), headers: Vec::new(), assets });
    Step { does, ..get("page") }
}

fn listed(count: usize) -> Step {
    page(Assets::Listed((0..count).map(|nth| text(&format!("/{nth}.js"))).collect()))
}

fn is_document(head: &str) -> bool {
    head.starts_with("GET /index.html ")
}

#[test]
fn the_assets_that_the_document_names_belong_to_the_act() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&asked);
    let server = Rough::site(move |_, head| {
        told.lock().unwrap().push(head.split(' ').nth(1).unwrap().to_owned());
        Manner::Answer(vec![ok(if is_document(head) { DOCUMENT } else { "" })])
    });
    let outcome = load(vec![(0, 0, 0), (1, 0, 0)]).steps([page(Assets::Found)]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.total.requests, server.received()), (2, 6, 6));
    let mut asked = asked.lock().unwrap().clone();
    asked.sort_unstable();
    assert_eq!(asked, ["/a.css", "/a.css", "/b.js", "/b.js", "/index.html", "/index.html"]);
}

#[test]
fn assets_come_over_six_connections_at_once_which_are_kept_for_the_next_page() {
    // Nobody is answered before six have asked.
    let six = Barrier::new(6);
    let server = Rough::site(move |Which { connection, .. }, head| {
        assert!(connection < 6);
        if !is_document(head) {
            six.wait();
        }
        Manner::Answer(vec![ok("")])
    });
    let outcome = load(vec![(0, 0, 0), (1, 0, 0)]).steps([listed(12)]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.driven.open_peak, server.received()), (2, 6, 26));
}

#[test]
fn acts_one_after_the_other_use_one_connection_of_those_that_are_open() {
    let last = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&last);
    let server = Rough::site(move |which, head| {
        if head.starts_with("GET / ") {
            told.lock().unwrap().push(which.connection);
        }
        Manner::Answer(vec![ok("")])
    });
    let acts = vec![(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 1)];
    let outcome = load(acts).steps([listed(6), get("api")]).against(server.address);
    assert_eq!(outcome.total.ok, 4);
    let used = last.lock().unwrap().clone();
    assert!(used.len() == 3 && used.iter().all(|connection| *connection == used[0]), "{used:?}");
}

#[test]
fn an_asset_that_fails_decides_the_outcome_once_all_the_others_are_in() {
    for (manner, class) in [
        (Manner::Answer(vec![answer("404 Not Found", "")]), "status_4xx"),
        (Manner::Reset, "reset"),
        (Manner::Close, "closed"),
    ] {
        let server =
            Rough::site(
                move |_, head| {
                    if head.starts_with("GET /3.js ") { manner.clone() } else { Manner::Answer(vec![ok("")]) }
                },
            );
        let outcome = apart([0]).steps([listed(8)]).against(server.address);
        assert_eq!((outcome.total.ok, outcome.failures()), (0, classes([(class, 1)])));
        assert!(outcome.total.requests >= 9, "{} requests", outcome.total.requests);
    }
}

#[test]
fn a_document_too_long_to_be_searched_is_the_rigs_own_bound_and_no_page_without_assets() {
    let long = DOCUMENT.to_owned() + &" ".repeat(16 * 1024 * 1024);
    let longest = &long[..16 * 1024 * 1024];
    for (document, ok, failures) in [(longest, 1, classes([])), (&long, 0, classes([("rig_fault", 1)]))] {
        let document = super::ok(document);
        let server = Rough::site(move |_, head| {
            Manner::Answer(vec![if is_document(head) { document.clone() } else { super::ok("") }])
        });
        let outcome = apart([0]).steps([page(Assets::Found)]).against(server.address);
        assert_eq!((outcome.total.ok, outcome.failures()), (ok, failures));
    }
}

#[test]
fn without_its_document_a_page_has_no_assets() {
    let server = Rough::always(Manner::Answer(vec![answer("503 Service Unavailable", DOCUMENT)]));
    let outcome = apart([0]).steps([page(Assets::Found)]).against(server.address);
    assert_eq!((outcome.failures(), server.received()), (classes([("status_5xx", 1)]), 1));
}

#[test]
fn no_init_data_goes_with_a_page() {
    let server = Rough::site(|_, head| {
        let signed = head.to_ascii_lowercase().contains("authorization");
        Manner::Answer(vec![answer(if signed { "400 Bad Request" } else { "200 OK" }, "")])
    });
    let load = Load { init_data: Some(Place::Authorization), ..apart([0]) };
    assert_eq!(load.steps([listed(1)]).against(server.address).total.ok, 1);
}

#[test]
fn shared_connections_serve_pages_and_fresh_ones_are_closed_after_each() {
    for (connections, most) in [(Connections::Shared, 3), (Connections::Fresh, 6)] {
        let server = Rough::serve(move |which| {
            assert!(which.connection < most);
            Manner::Answer(vec![ok("")])
        });
        let load = Load { connections, ..apart([0, 300]) };
        let outcome = load.steps([listed(3)]).against(server.address);
        assert_eq!((outcome.total.ok, outcome.total.requests), (2, 8), "{connections:?}");
    }
}

#[test]
fn over_http_2_all_of_a_page_comes_on_one_connection() {
    let server = Versed::plain(|_, _| Way::Answer(200, 5));
    let load = Load { speech: Speech::new(None, true).unwrap(), ..load(vec![(0, 0, 0), (1, 0, 0)]) };
    let outcome = load.steps([listed(12)]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.total.requests), (2, 26));
    assert_eq!((server.accepted(), outcome.driven.open_peak), (1, 1));
}

/// A page of more parts than are asked for at once, in HTTP/2 of this manner; told with the connections that it took:
/// how many the server saw, and how many were open at once.
fn in_http_2(parts: usize, manner: impl Fn(u64, u64) -> Way + Send + Sync + 'static) -> (Outcome, [u64; 2]) {
    let server = Versed::plain(manner);
    let outcome = Load { speech: Speech::new(None, true).unwrap(), ..apart([0]) };
    let outcome = outcome.steps([listed(parts)]).against(server.address);
    let connections = [server.accepted(), outcome.driven.open_peak];
    (outcome, connections)
}

#[test]
fn a_connection_that_dies_in_the_middle_of_a_page_is_replaced_by_one_for_all() {
    let (outcome, connections) = in_http_2(150, |connection, request| match (connection, request) {
        (0, 1..40) => Way::Hang,
        (0, 40) => Way::Cut,
        _ => Way::Answer(200, 5),
    });
    assert_eq!((outcome.total.ok, connections), (1, [2, 1]), "{:?}", outcome.failures());
    // The document, a hundred of the parts in vain, and each part once.
    assert_eq!(outcome.total.requests, 251);
}

#[test]
fn a_server_that_cuts_every_connection_sees_one_for_each_time_that_a_browser_would_try() {
    let (outcome, connections) = in_http_2(100, |_, request| match request {
        0 => Way::Answer(200, 5),
        10 => Way::Cut,
        _ => Way::Hang,
    });
    assert_eq!((outcome.failures(), connections), (classes([("closed", 1)]), [2, 1]));
}

#[test]
fn after_a_goodbye_a_page_goes_on_over_another_connection_while_the_old_one_ends() {
    let (outcome, connections) = in_http_2(150, |connection, request| match (connection, request) {
        (0, 1) => Way::Goodbye,
        (0, 2..) => Way::Late(300 * MILLISECOND),
        _ => Way::Answer(200, 5),
    });
    assert_eq!((outcome.total.ok, outcome.total.requests, connections), (1, 151, [2, 2]));
}

#[test]
fn a_part_that_fails_alone_costs_no_connection() {
    let (outcome, connections) = in_http_2(150, |_, request| match request {
        0 => Way::Answer(200, 5),
        _ => Way::ResetStream,
    });
    assert_eq!((outcome.failures(), connections), (classes([("reset", 1)]), [1, 1]));
}

#[test]
fn a_certificate_that_is_not_trusted_is_a_class_of_its_own() {
    let server = Versed::secure(Identity::signed("localhost"), &[], |_, _| Way::Answer(200, 5));
    let stranger = Identity::signed("localhost").trusted;
    let speech = Speech::new(Some((stranger.as_bytes(), "localhost")), false).unwrap();
    let outcome = Load { speech, ..apart([0]) }.against(server.address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("tls_failed", 1)]), 0));
}

#[test]
fn what_a_system_chose_of_two_protocols_is_counted_and_where_it_has_no_choice_nothing_is() {
    for (protocols, http2, spoken) in [
        (vec!["h2", "http/1.1"], true, Spoken { http1: 0, http2: 1 }),
        (vec!["http/1.1"], true, Spoken { http1: 1, http2: 0 }),
        (vec!["h2", "http/1.1"], false, Spoken::default()),
    ] {
        let identity = Identity::signed("localhost");
        let speech = Speech::new(Some((identity.trusted.as_bytes(), "localhost")), http2).unwrap();
        let server = Versed::secure(identity, &protocols, |_, _| Way::Answer(200, 5));
        let outcome = Load { speech, ..apart([0]) }.against(server.address);
        assert_eq!((outcome.total.ok, outcome.driven.spoken), (1, spoken), "{protocols:?} {http2}");
    }
}

#[test]
fn a_system_that_chooses_anew_on_each_connection_is_counted_by_connection() {
    let identity = Identity::signed("localhost");
    let speech = Speech::new(Some((identity.trusted.as_bytes(), "localhost")), true).unwrap();
    let server = Versed::secure(identity, &["h2", "http/1.1"], |connection, _| match connection {
        0 => Way::Answer(200, 5),
        _ => Way::Older,
    });
    let outcome = Load { speech, connections: Connections::Fresh, ..apart([0, 100, 200]) }.against(server.address);
    assert_eq!((outcome.total.ok, outcome.driven.spoken), (3, Spoken { http1: 2, http2: 1 }));
}

/// A site whose first asset is missing the first time.
fn forgetful() -> Rough {
    let missing = Mutex::new(true);
    Rough::site(move |_, head| {
        let lacks = head.starts_with("GET /0.js ") && std::mem::take(&mut *missing.lock().unwrap());
        Manner::Answer(vec![answer(if lacks { "404 Not Found" } else { "200 OK" }, "")])
    })
}

#[test]
fn a_page_that_lacks_something_is_loaded_anew_as_a_whole() {
    let server = forgetful();
    let retry = OnFailure { retry: Some(Retry { times: 1, within: SECOND }), leave: false };
    let outcome = apart([0]).steps([Step { on_failure: retry, ..listed(3) }]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.total.requests), (1, 8), "{:?}", outcome.failures());
}

#[test]
fn a_page_that_lacks_something_has_failed_whatever_its_document_was_answered_with() {
    for (ended, ok) in [(Ended::Ok(true), 1), (Ended::Ok(false), 1), (Ended::Status(vec![200]), 2)] {
        let when = Some(When { step: 0, ended: ended.clone() });
        let steps = [listed(3), Step { when, ..get("api") }];
        let acts = vec![(0, 0, 0), (300, 0, 1), (310, 0, 0), (600, 0, 1)];
        let outcome = load(acts).steps(steps).against(forgetful().address);
        let pages = 1;
        assert_eq!(outcome.total.ok, pages + ok, "{ended:?}");
    }
}

#[test]
fn a_page_is_served_to_a_forger_too_because_no_init_data_goes_with_it() {
    let server = Rough::site(|_, head| {
        let signed = head.to_ascii_lowercase().contains("authorization");
        Manner::Answer(vec![answer(if signed { "401 Unauthorized" } else { "200 OK" }, "")])
    });
    let refused = vec![Fault::Stale, Fault::Tampered];
    let faults = Faults { shares: [0.1; 3], stale_by: SECOND, refused, refused_with: vec![401] };
    let load = load(vec![(0, 0, 0), (100, 0, 1)]).steps([listed(1), get("api")]);
    let load = Load { init_data: Some(Place::Authorization), faults: Some((faults, Fault::Tampered)), ..load };
    assert_eq!(load.against(server.address).total.ok, 2);
}
