//! Servers that do not run in the main thread, and threads that do not serve: whose stalls count, and who sees them.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use floodrig_reports::recording::{Row, Stall, StallKind};

use super::drawn::Drawn;
use super::heartbeat::from_inside;
use super::loops::{Language, Look, Loop};
use super::outside::from_outside;
use super::support::{LONG, until};

/// Where the loop that serves may be and be seen.
fn seen(language: Language) -> &'static [&'static str] {
    match language {
        Language::Node => &["elsewhere"],
        Language::Python => &["elsewhere", "behind", "twice"],
    }
}

/// Starved of CPU is what the machine's other users do to a loop, and rightly told.
fn but_for_the_machine(stalls: Vec<Stall>) -> Vec<Stall> {
    stalls.into_iter().filter(|stall| stall.kind != Some(StallKind::Starved)).collect()
}

#[test]
fn an_ordered_stall_of_a_server_in_any_thread_is_seen_from_inside_within_25_ms_with_its_kind() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        for loops in seen(language) {
            let of = Loop::running(language, loops);
            let heartbeat = &of.observations.heartbeat;
            let where_it_is = if *loops == "elsewhere" { "active: thread " } else { "active: pid " };
            assert!(heartbeat.starts_with(where_it_is) && !heartbeat.contains(';'), "{loops}: {heartbeat}");
            from_inside(&of, &[150, 400], &mut drawn);
            assert_eq!(of.end().1.unseen, None, "{language:?}");
        }
    }
}

#[test]
fn without_an_order_nothing_is_seen_of_a_server_in_another_thread() {
    for language in Language::here() {
        let of = Loop::running(language, "elsewhere");
        (0..50).for_each(|_| drop(of.next_vital()));
        assert_eq!(but_for_the_machine(of.end().0), [], "{language:?}");
    }
}

#[test]
fn a_thread_that_computes_for_a_server_may_keep_its_own_loop_waiting() {
    for language in Language::here() {
        let of = Loop::running(language, "pool");
        assert!(of.observations.heartbeat.starts_with("active: pid "), "{}", of.observations.heartbeat);
        of.order("/compute?ms=600");
        of.order("/compute?ms=200");
        assert_eq!(but_for_the_machine(of.end().0), [], "{language:?}");
    }
}

/// The long stalls that count while a loop computes by itself, more than once.
fn of_a_loop_beside(loops: &[(&str, &str)]) -> Vec<Stall> {
    let of = Loop::of(&format!("exec node {}", Language::Node.server()), loops, Look::Inside);
    assert!(of.observations.heartbeat.starts_with("active"), "{loops:?}: {}", of.observations.heartbeat);
    let rows: Vec<Row> = (0..80).map(|_| of.run.rows.recv_timeout(LONG).unwrap()).collect();
    let stalls = rows.into_iter().filter_map(|row| if let Row::Stall(stall) = row { Some(stall) } else { None });
    stalls.chain(of.end().0).filter(|stall| stall.len_us > 700_000).collect()
}

#[test]
fn a_loop_that_serves_nobody_may_compute_beside_the_thread_or_the_process_that_serves() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    for loops in [("LOOPS", "main"), ("LAUNCHER", "1")] {
        assert_eq!(of_a_loop_beside(&[loops]), [], "{loops:?}");
    }
}

#[test]
fn the_loop_that_hands_connections_to_a_worker_process_serves() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let stalls = of_a_loop_beside(&[("CLUSTER", "busy")]);
    assert!(!stalls.is_empty());
}

#[test]
fn a_thread_that_asks_a_socket_of_its_own_beside_a_loop_makes_the_heartbeat_one_in_part() {
    if !Language::here().contains(&Language::Python) {
        return;
    }
    for loops in ["accept", "poll"] {
        let of = Loop::running(Language::Python, loops);
        let (heartbeat, black_box) = (&of.observations.heartbeat, &of.observations.black_box);
        let why = " answers outside of the loop that beats in it";
        assert!(heartbeat.starts_with("active in part: pid ") && heartbeat.contains(why), "{loops}: {heartbeat}");
        assert!(black_box.starts_with("active: asked 20 times a second"), "{loops}: {black_box}");
        of.end();
    }
}

#[test]
fn a_server_in_a_thread_that_no_probe_enters_is_inactive_with_the_reason_and_its_stalls_are_seen_from_outside() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let why = match language {
            Language::Node => " serves and has no probe: a worker loads none when its `env` has no NODE_OPTIONS",
            Language::Python => " answers outside of the loop that beats in it",
        };
        let start = || {
            let of = Loop::running(language, "unseen");
            let (heartbeat, black_box) = (&of.observations.heartbeat, &of.observations.black_box);
            assert!(heartbeat.starts_with("inactive: ") && heartbeat.contains(why), "{heartbeat}");
            assert!(black_box.starts_with("active: asked 20 times a second"), "{black_box}");
            of
        };
        from_outside(language, start, &[150, 400], &mut drawn);
    }
}

#[test]
fn a_worker_process_that_has_lost_its_probe_makes_the_heartbeat_one_in_part_and_its_stalls_are_seen_from_outside() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let start = || {
        let of = Loop::of(&format!("exec node {}", Language::Node.server()), &[("CLUSTER", "unseen")], Look::Inside);
        let (heartbeat, black_box) = (&of.observations.heartbeat, &of.observations.black_box);
        let why = "; not seen: NODE_OPTIONS was replaced on the way to pid ";
        assert!(heartbeat.starts_with("active in part: pid ") && heartbeat.contains(why), "{heartbeat}");
        assert!(black_box.starts_with("active: asked 20 times a second"), "{black_box}");
        of
    };
    from_outside(Language::Node, start, &[150, 400], &mut Drawn::new());
}

#[test]
fn a_bot_that_calls_from_a_thread_without_a_probe_is_not_seen_by_the_calm_of_its_main_thread() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let stub = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = stub.local_addr().unwrap().port();
    for (caller, begins) in [("main", "active: pid "), ("worker", "inactive: thread ")] {
        let env = [("CALLER", caller), ("STUB", &port.to_string())];
        let of = Loop::of(&format!("exec node {}", Language::Node.server()), &env, Look::Inside);
        let _call = stub.accept().unwrap();
        let of = of.observed_as_a_bot_of(port);
        assert!(of.observations.heartbeat.starts_with(begins), "{caller}: {}", of.observations.heartbeat);
        of.end();
    }
}

#[test]
fn a_server_that_moves_to_a_thread_that_no_probe_enters_is_told_at_the_end() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let of = Loop::running(Language::Node, "late");
    assert!(of.observations.heartbeat.starts_with("active: pid "), "{}", of.observations.heartbeat);
    of.order("/later");
    until("the server's new thread", || of.answers().then_some(()));
    let unseen = of.end().1.unseen.expect("a loop that is not watched");
    assert!(unseen.contains(" serves and has no probe"), "{unseen}");
}

#[test]
fn a_thread_that_is_ended_in_a_stall_has_stalled_until_then_and_is_no_death_of_the_process() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let of = Loop::running(Language::Node, "ending");
    of.stall_alone(20_000);
    let stall = until("the stall", || Some(of.next_stall()).filter(|stall| stall.len_us > 300_000));
    assert!(!stall.died && stall.len_us < 10_000_000, "{stall:?}");
    until("the next server", || of.answers().then_some(()));
    // Its loop beats, and the page of the one before is not read as that of a loop that hangs.
    (0..10).for_each(|_| drop(of.next_vital()));
    let done = of.stall(StallKind::Blocked, 400);
    let stall = until("the next stall", || Some(of.next_stall()).filter(|stall| stall.len_us > 300_000));
    assert!(done.off(&stall) < Duration::from_millis(100), "{done:?} was recorded as {stall:?}");
    of.end();
}
