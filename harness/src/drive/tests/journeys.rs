//! What players make of answers: conditions, checks, trying again, leaving, and initData that must be refused.

use super::*;
use crate::scenario::{Check, Ended, Fault, Faults, Must, OnFailure, Place, Retry, When};

/// The statuses of a connection's answers, one after the other; then 200 for ever.
fn answering(statuses: &'static [&'static str]) -> Rough {
    Rough::serve(move |which| {
        let status = statuses.get(which.request as usize).copied().unwrap_or("200 OK");
        Manner::Answer(vec![answer(status, r#"{"ok":true,"board":null}"#)])
    })
}

fn retrying(times: u16) -> OnFailure {
    OnFailure { retry: Some(Retry { times, within: 2 * SECOND }), leave: false }
}

#[test]
fn an_act_that_succeeds_at_last_is_one_sample_of_all_its_tries() {
    let server = answering(&["503 Busy", "503 Busy"]);
    let outcome = apart([0]).steps([Step { on_failure: retrying(2), ..get("act") }]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.total.requests, outcome.driven.samples), (1, 3, 1));
    // The tries are spread over two seconds, and the sample ends with the last.
    assert!(outcome.total.service.max_us().unwrap() >= 1_990_000);
}

#[test]
fn a_player_gives_up_after_the_last_try_and_ends_as_it_did() {
    let server = answering(&["503 Busy", "503 Busy", "404 Not Found"]);
    let outcome = apart([0]).steps([Step { on_failure: retrying(2), ..get("act") }]).against(server.address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("status_4xx", 1)]), 3));
}

#[test]
fn where_nobody_listens_trying_again_sends_nothing() {
    let outcome = apart([0]).steps([Step { on_failure: retrying(3), ..get("act") }]).against(nobody().address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("refused", 1)]), 0));
}

#[test]
fn an_act_cut_short_between_its_tries_has_ended_as_the_last_one_did() {
    let server = Rough::always(Manner::Answer(vec![answer("503 Busy", "")]));
    let retry = Retry { times: 1, within: PATIENCE };
    let step = Step { on_failure: OnFailure { retry: Some(retry), leave: false }, ..get("act") };
    let outcome = apart([0]).timeout(SECOND).steps([step]).against(server.address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("status_5xx", 1)]), server.received()));
}

#[test]
fn who_leaves_does_the_rest_of_the_visit_no_more_and_ranks_slowest() {
    let server = answering(&["503 Busy"]);
    let leave = OnFailure { retry: None, leave: true };
    let steps = [Step { on_failure: leave, ..get("open") }, get("guess")];
    let outcome = load(vec![(0, 0, 0), (50, 0, 1), (60, 0, 1)]).steps(steps).against(server.address);
    assert_eq!(outcome.failures(), classes([("status_5xx", 1), ("skipped", 2)]));
    assert_eq!((outcome.total.left, outcome.total.requests), (2, 1));
}

#[test]
fn an_act_is_done_only_if_the_earlier_one_ended_so_and_is_else_left_out() {
    for (status, ok, skipped) in [("404 Not Found", 2, 0), ("200 OK", 1, 1)] {
        let server = Rough::serve(move |which| {
            Manner::Answer(vec![answer(if which.request == 0 { status } else { "200 OK" }, "")])
        });
        let when = Some(When { step: 0, ended: Ended::Status(vec![404]) });
        let open = Step { expect_status: vec![200, 404], ..get("open") };
        let outcome =
            load(vec![(0, 0, 0), (50, 0, 1)]).steps([open, Step { when, ..get("register") }]).against(server.address);
        assert_eq!(
            (outcome.total.ok, outcome.total.outcomes.skipped, outcome.total.left),
            (ok, skipped, 0),
            "{status}"
        );
    }
}

#[test]
fn an_answer_that_does_not_hold_what_it_must_fails_its_check() {
    let server = answering(&[]);
    for (pointer, must, ok) in [("/ok", Must::Equal(true.into()), 1), ("/board", Must::Exist, 0)] {
        let check = vec![Check { pointer: pointer.to_owned(), must }];
        let outcome = apart([0]).steps([Step { check, ..get("act") }]).against(server.address);
        assert_eq!((outcome.total.ok, outcome.total.outcomes.check_failed), (ok, 1 - ok), "{pointer}");
    }
}

#[test]
fn a_header_of_one_answer_is_sent_with_the_next_request() {
    let server =
        Rough::always(Manner::Answer(vec!["HTTP/1.1 200 OK\r\nX-Token: t1\r\nContent-Length: 0\r\n\r\n".into()]));
    let capture = BTreeMap::from([("token".to_owned(), InAnswer::Header("x-token".to_owned()))]);
    let steps = [Step { capture, ..get("open") }, using("guess")];
    let outcome = load(vec![(0, 0, 0), (50, 0, 1)]).steps(steps).against(server.address);
    assert_eq!(outcome.total.ok, 2);
}

/// A visit with this fault whose second act needs a value of its first.
fn faulty(fault: Fault) -> Load {
    let faults = Faults {
        shares: [0.1; 3],
        stale_by: SECOND,
        refused: vec![Fault::Stale, Fault::Tampered],
        refused_with: vec![401],
    };
    let load = load(vec![(0, 0, 0), (50, 0, 1)]).steps([capturing("open"), using("guess")]);
    Load { init_data: Some(Place::Authorization), faults: Some((faults, fault)), ..load }
}

#[test]
fn where_init_data_must_be_refused_a_refusal_is_the_success_and_nothing_can_follow_from_it() {
    let server = answering(&["401 Unauthorized"]);
    let outcome = faulty(Fault::Tampered).against(server.address);
    assert_eq!((outcome.total.ok, outcome.failures(), outcome.total.requests), (1, classes([("skipped", 1)]), 1));
}

#[test]
fn a_forgery_that_is_let_in_has_not_succeeded() {
    let server = Rough::always(Manner::Answer(vec![ok(r#"{"token":"t1"}"#)]));
    let outcome = faulty(Fault::Stale).against(server.address);
    assert_eq!((outcome.total.ok, outcome.failures()), (0, classes([("status_2xx", 1), ("skipped", 1)])));
}

#[test]
fn init_data_that_need_not_be_refused_succeeds_as_good_init_data_does() {
    let server = Rough::always(Manner::Answer(vec![ok(r#"{"token":"t1"}"#)]));
    let outcome = faulty(Fault::Reused).against(server.address);
    assert_eq!(outcome.total.ok, 2);
}
