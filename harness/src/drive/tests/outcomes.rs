//! What becomes of acts: each planned one has one sample, in one class, measured from its planned instant.

use super::*;

#[test]
fn an_empty_plan_is_done_at_once() {
    let outcome = apart([]).against(nobody().address);
    assert_eq!((outcome.driven.end, outcome.driven.samples), (End::Complete, 0));
}

/// What comes ahead of an answer (RFC 8297).
fn early_hints() -> String {
    "HTTP/1.1 103 Early Hints\r\nLink: </app.css>; rel=preload\r\n\r\n".to_owned()
}

/// Another protocol, where none was asked for.
fn switching() -> String {
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n".to_owned()
}

#[test]
fn every_way_to_fail_is_a_class_of_its_own() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    for (manner, ok, failed) in [
        (Manner::Answer(vec![ok("hi")]), 3, classes([])),
        (Manner::Answer(vec![chunked.to_owned()]), 3, classes([])),
        (Manner::Answer(vec![answer("500 Internal Server Error", "")]), 0, classes([("status_5xx", 3)])),
        (Manner::Answer(vec![answer("302 Found", "")]), 0, classes([("status_3xx", 3)])),
        (Manner::Answer(vec![early_hints(), ok("hi")]), 3, classes([])),
        (Manner::Answer(vec![early_hints() + &ok("hi")]), 3, classes([])),
        (Manner::Last(early_hints()), 0, classes([("closed", 3)])),
        (Manner::Answer(vec![switching()]), 0, classes([("status_1xx", 3)])),
        (Manner::Reset, 0, classes([("reset", 3)])),
        (Manner::Close, 0, classes([("closed", 3)])),
        (Manner::Last("220 smtp.example ESMTP\r\n".to_owned()), 0, classes([("malformed", 3)])),
        (Manner::Answer(vec![answer("999 Denied", "")]), 0, classes([("malformed", 3)])),
        (Manner::Answer(vec![answer("099 Nothing", "")]), 0, classes([("malformed", 3)])),
    ] {
        let server = Rough::always(manner.clone());
        let outcome = apart([0, 5, 10]).against(server.address);
        assert_eq!((outcome.total.ok, outcome.failures()), (ok, failed), "{manner:?}");
        assert_eq!(outcome.total.requests, server.received(), "{manner:?}");
        assert_eq!((outcome.driven.end, outcome.total.offered), (End::Complete, 3), "{manner:?}");
    }
}

#[test]
fn a_system_that_is_not_there_is_tried_to_the_end() {
    let outcome = apart([0, 5, 10]).against(nobody().address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("refused", 3)]), 0));
}

#[test]
fn a_system_that_hangs_runs_into_the_timeout() {
    let server = Rough::always(Manner::Hang);
    // The first waits behind nothing; the drain ends with the last planned instant's own timeout.
    let outcome = apart([0, 100]).timeout(100 * MILLISECOND).against(server.address);
    assert_eq!(outcome.failures(), classes([("timeout", 2)]));
    assert!(outcome.total.failed_response.quantile_us(0.0).unwrap() >= 99_000);
}

#[test]
fn what_has_not_ended_when_the_drain_is_over_gets_its_sample_all_the_same() {
    let server = Rough::always(Manner::Hang);
    // The second begins at 300 ms and is cut at 500 ms; the third never begins.
    let load = load(vec![(0, 0, 0), (5, 0, 0), (200, 0, 0)]).timeout(300 * MILLISECOND);
    let outcome = load.against(server.address);
    assert_eq!(outcome.driven.end, End::Drained);
    assert_eq!(outcome.failures(), classes([("timeout", 2), ("abandoned", 1)]));
    assert_eq!(outcome.total.requests, 2);
}

#[test]
fn what_still_connects_when_the_drain_is_over_was_not_let_in_and_sent_nothing() {
    let full = FullQueue::new();
    // The first two wait 200 ms each to be let in; the third is cut 150 ms after it began.
    let load = load(vec![(0, 0, 0), (5, 0, 0), (150, 0, 0)]).timeout(400 * MILLISECOND);
    let outcome = load.against(full.address());
    assert_eq!((outcome.driven.end, outcome.total.requests), (End::Drained, 0));
    assert_eq!(outcome.failures(), classes([("connect_timeout", 3)]));
}

#[test]
fn whoever_comes_last_may_take_as_long_to_be_let_in_as_is_allowed() {
    let full = FullQueue::new();
    let load = Load { connect_timeout: Some(300 * MILLISECOND), ..apart([0, 10]).timeout(50 * MILLISECOND) };
    let outcome = load.against(full.address());
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("connect_timeout", 2)]), 0));
    assert!(outcome.total.failed_response.quantile_us(0.0).unwrap() >= 289_000);
}

#[test]
fn a_connection_that_takes_another_protocol_unasked_is_not_used_again() {
    let server = Rough::always(Manner::Answer(vec![switching()]));
    let outcome = load(vec![(0, 0, 0), (50, 0, 0)]).against(server.address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("status_1xx", 2)]), 2));
}

#[test]
fn a_system_that_dies_in_mid_run_is_tried_to_the_end() {
    let server = Rough::always(Manner::Last(ok("")));
    let address = server.address;
    let load = apart((0..100).map(|nth| nth * 10));
    let outcome = thread::scope(|scope| {
        let progress = &load.progress;
        scope.spawn(move || {
            eventually(|| progress.standing().ok >= 10);
            drop(server);
        });
        load.against(address)
    });
    assert!(outcome.total.ok >= 10);
    assert!(outcome.failures()["refused"] > 0);
    assert_eq!((outcome.driven.end, outcome.total.offered), (End::Complete, 100));
}

#[test]
fn a_stop_in_mid_run_abandons_the_rest_and_blames_nobody() {
    let server = Rough::serve(|which| if which.connection < 3 { Manner::Answer(vec![ok("")]) } else { Manner::Hang });
    let load = apart((0..10).map(|nth| nth * 10).chain([3_600_000]));
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            eventually(|| (load.progress.standing().ok, load.progress.standing().in_flight) == (3, 7));
            load.stop.ask();
        });
        load.against(server.address)
    });
    assert_eq!(outcome.driven.end, End::Stopped);
    assert_eq!((outcome.total.ok, outcome.failures()), (3, classes([("abandoned", 8)])));
    assert_eq!(outcome.total.offered, 10);
}

#[test]
fn a_freeze_is_measured_from_the_planned_instants() {
    let gate = Mutex::new(());
    let server = Rough::serve(move |which| {
        let _open = gate.lock().unwrap();
        if which.connection == 20 {
            thread::sleep(500 * MILLISECOND);
        }
        Manner::Answer(vec![ok("")])
    });
    let outcome = apart((0..100).map(|nth| nth * 10)).against(server.address);
    assert_eq!(outcome.total.ok, 100);
    // Some 50 arrivals fall into the freeze; they were sent all the same and waited for the rest of it.
    assert!(outcome.total.response.max_us().unwrap() >= 499_000);
    assert!(outcome.total.response.quantile_us(0.75).unwrap() >= 200_000);
    assert!(outcome.driven.open_peak >= 40);
    assert!(outcome.total.blocked.max_us().unwrap() == 0);
}

#[test]
fn two_acts_of_one_player_follow_one_another_on_one_connection() {
    let server = Rough::serve(|which| {
        assert_eq!(which.connection, 0);
        Manner::Slowly(100 * MILLISECOND, ok(""))
    });
    let outcome = load(vec![(0, 0, 0), (10, 0, 0), (1000, 0, 0)]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.driven.open_peak), (3, 1));
    let blocked = &outcome.total.blocked;
    assert_eq!(blocked.quantile_us(0.5), Some(0));
    assert!(blocked.max_us().unwrap() >= 89_000);
    assert!(outcome.total.response.max_us().unwrap() >= 189_000);
}

#[test]
fn a_long_way_is_the_networks_time_and_not_the_rigs_lag() {
    let server = Rough::always(Manner::Answer(vec![ok("")]));
    let load = Load { rtt: Some(400 * MILLISECOND), ..load(vec![(0, 0, 0), (1500, 0, 0)]) };
    let outcome = load.against(server.address);
    assert_eq!(outcome.total.ok, 2);
    // The first connects as well.
    assert!(outcome.total.service.quantile_us(0.0).unwrap() >= 399_000);
    assert!(outcome.total.service.max_us().unwrap() >= 799_000);
    assert!(outcome.total.lag.max_us().unwrap() < 399_000);
}

#[test]
fn the_slowest_exchanges_are_kept_whole() {
    let server = Rough::serve(|which| Manner::Slowly(MILLISECOND * (which.connection as u32 % 8), ok("")));
    let outcome = apart([0; 8]).against(server.address);
    let exemplars = outcome.rows.iter().filter(|row| matches!(row, Row::Exemplar(_))).count();
    assert!((5..=8).contains(&exemplars), "{exemplars} exemplars");
}

#[test]
fn a_value_captured_by_one_act_is_sent_by_the_next() {
    let server = Rough::always(Manner::Answer(vec![ok(r#"{"token":"t1"}"#)]));
    let outcome = load(vec![(0, 0, 0), (1, 0, 1)]).steps([capturing("open"), using("guess")]).against(server.address);
    assert_eq!(outcome.total.ok, 2);
}

#[test]
fn an_answer_without_the_value_fails_its_check_and_what_needs_it_is_abandoned() {
    let server = Rough::always(Manner::Answer(vec![ok(r#"{"token":null}"#)]));
    let outcome = load(vec![(0, 0, 0), (1, 0, 1)]).steps([capturing("open"), using("guess")]).against(server.address);
    assert_eq!(outcome.failures(), classes([("check_failed", 1), ("abandoned", 1)]));
}

#[test]
fn an_expected_status_is_a_success_and_2xx_no_longer() {
    let server = Rough::serve(|which| match which.connection {
        0 => Manner::Answer(vec![answer("409 Conflict", "")]),
        _ => Manner::Answer(vec![ok("")]),
    });
    let step = Step { expect_status: vec![409], ..get("act") };
    let outcome = apart([0, 50]).steps([step]).against(server.address);
    assert_eq!((outcome.total.ok, outcome.failures()), (1, classes([("status_2xx", 1)])));
}

#[test]
fn what_a_successful_act_shows_is_announced_and_a_full_queue_is_counted() {
    let server = Rough::always(Manner::Answer(vec![ok(r#"{"version":12}"#)]));
    let chat = Template { pieces: vec![Piece::Slot(Slot::ChatId)] };
    let shows = Some(Shows { chat, sign: Sign::Version("/version".to_owned()) });
    let (to, told) = sync_channel(1);
    let load = Load { expected: Some(to), ..apart([0, 30]).steps([Step { shows, ..get("guess") }]) };
    let outcome = load.against(server.address);
    let expected = told.try_recv().unwrap();
    assert_eq!((expected.chat, expected.sign), (load.plan().players[0].chat_id, Awaited::Version(12)));
    assert!(expected.scheduled == 20 * MILLISECOND && expected.ended > expected.scheduled);
    assert_eq!((outcome.driven.expected_dropped, told.try_recv().is_err()), (1, true));
}

#[test]
fn shared_connections_are_used_again_by_whoever_comes_next() {
    for (connections, expected) in [(Connections::Shared, 1), (Connections::Fresh, 3), (Connections::Player, 3)] {
        let opened = Arc::new(Mutex::new(0));
        let most = Arc::clone(&opened);
        let server = Rough::serve(move |which| {
            let mut most = most.lock().unwrap();
            *most = (which.connection + 1).max(*most);
            Manner::Answer(vec![ok("")])
        });
        let outcome = Load { connections, ..apart([0, 200, 400]) }.against(server.address);
        assert_eq!((outcome.total.ok, *opened.lock().unwrap()), (3, expected), "{connections:?}");
        assert_eq!(outcome.driven.open_peak, 1, "{connections:?}");
    }
}

#[test]
fn a_closed_loop_goes_round_until_its_time_is_over_and_counts_every_act() {
    let server = Rough::always(Manner::Slowly(5 * MILLISECOND, ok("")));
    let pace = Pace::Again { until: 200 * MILLISECOND };
    let outcome = Load { pace, ..apart([0, 0, 0]) }.against(server.address);
    assert_eq!(outcome.driven.end, End::Complete);
    assert_eq!((outcome.total.offered, outcome.total.requests), (outcome.total.ok, server.received()));
    assert!((6..=120).contains(&outcome.total.ok), "{}", outcome.total.ok);
    assert_eq!((outcome.driven.open_peak, outcome.total.blocked.max_us()), (3, Some(0)));
    // An act is due when its player is free, so that nothing but the answer is waited for.
    assert!(outcome.total.response.quantile_us(0.5).unwrap() < 100_000);
}

#[test]
fn a_closed_loop_against_nobody_ends_with_its_time() {
    let pace = Pace::Again { until: 50 * MILLISECOND };
    let outcome = Load { pace, ..apart([0, 0]) }.against(nobody().address);
    assert_eq!((outcome.driven.end, outcome.total.requests), (End::Complete, 0));
    assert!(outcome.failures()["refused"] >= 2);
}

/// Ten milliseconds and a tenth: a machine that runs many tests at once. The order of the figures is what an instrument
/// that waits for its answers gets wrong by a factor of a hundred.
fn is_about(us: Option<u64>, truth_ms: f64) -> bool {
    let ms = us.unwrap() as f64 / 1e3;
    (ms - truth_ms).abs() <= truth_ms * 0.1 + 30.0
}

#[test]
fn at_a_thousand_a_second_a_server_frozen_for_a_fifth_of_the_time_reads_as_it_was() {
    let frozen = Freezing::serve(400 * MILLISECOND, 600 * MILLISECOND);
    let load = Load { connections: Connections::Shared, ..apart(0..2_000) };
    let outcome = load.against(frozen.address);
    assert_eq!((outcome.total.ok, outcome.driven.samples), (2_000, 2_000));
    let response = &outcome.total.response;
    // Of 2,000 acts the 400 that came due in the freeze waited from 400 ms down to nothing, evenly: the slowest tenth
    // of all acts begins at half of that, and the slowest hundredth at 20 ms from its end.
    for (quantile, truth_ms) in [(0.5, 0.0), (0.9, 200.0), (0.99, 380.0), (1.0, 400.0)] {
        assert!(is_about(response.quantile_us(quantile), truth_ms), "{quantile}: {response:?}");
    }
}

#[test]
fn a_connect_that_is_never_accepted_times_out_and_one_accepted_late_is_a_late_success() {
    let full = FullQueue::new();
    let outcome = apart([0]).timeout(100 * MILLISECOND).against(full.address());
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("connect_timeout", 1)]), 0));
    let full = FullQueue::new();
    let load = apart([0]);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            eventually(|| load.progress.standing().in_flight == 1);
            // The first SYN has found the queue full by then; the next comes a second after it.
            thread::sleep(300 * MILLISECOND);
            full.accept_and_answer();
        });
        load.against(full.address())
    });
    assert_eq!((outcome.total.ok, outcome.total.late_connect), (1, 1));
}

#[test]
fn whoever_was_let_in_late_is_counted_also_where_the_answer_is_a_failure_or_none() {
    for (said, class) in [(answer("503 Service Unavailable", ""), "status_5xx"), (String::new(), "timeout")] {
        let full = FullQueue::new();
        let load = Load { connect_timeout: Some(PATIENCE), ..apart([0]).timeout(500 * MILLISECOND) };
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                eventually(|| load.progress.standing().in_flight == 1);
                // The first SYN has found the queue full by then; the next comes a second after it.
                thread::sleep(300 * MILLISECOND);
                full.accept_and_say(&said);
            });
            load.against(full.address())
        });
        assert_eq!((outcome.failures(), outcome.total.late_connect), (classes([(class, 1)]), 1));
    }
}
