//! One connection of HTTP/2 that many exchanges share: however it ends, there is one other for all of them.

use std::cell::{Cell, RefCell};

use futures_util::future::join_all;

use super::versed::{http2, speaking, tls};
use super::*;
use crate::exchange::versed::{Identity, Versed, Way};

/// More than may be in flight on it when it breaks.
const MANY: usize = 40;

/// A connection on which one exchange has succeeded.
async fn kept(wire: &Wire) -> Connection {
    let mut kept = None;
    let exchanged = wire.exchange(&mut kept, pin!(None), DRAINED, get).await;
    assert_eq!(exchanged.result.unwrap().status, 200);
    kept.unwrap()
}

/// What as many exchanges at the same time come to, after the first that made the connection.
fn at_once(count: usize, endpoint: Endpoint, allows: &dyn Fn(u64) -> bool) -> Vec<Exchanged> {
    run(async {
        let wire = Wire::new(endpoint);
        let trunk = Trunk::new(kept(&wire).await, allows);
        join_all((0..count).map(|_| async { wire.exchange_along(&trunk, pin!(None), DRAINED, get).await })).await
    })
}

fn never(_: u64) -> bool {
    panic!("no connection is left before it is gone")
}

/// Hangs until the twentieth request on the first connection, and then breaks it so; the others are fine.
fn breaking(way: Way) -> impl Fn(u64, u64) -> Way {
    move |connection, request| match (connection, request) {
        (0, 1..20) => Way::Hang,
        (0, 20) => way,
        _ => Way::Answer(200, 0),
    }
}

#[test]
fn a_connection_lost_by_many_is_made_once_again_for_all() {
    let identity = Identity::signed("localhost");
    let speech = tls(&identity, "localhost", true);
    for (speech, server) in [
        (http2(), Versed::plain(breaking(Way::Cut))),
        (http2(), Versed::plain(breaking(Way::GoAway))),
        (speech, Versed::secure(identity, &["h2"], breaking(Way::Cut))),
    ] {
        let exchanged = at_once(MANY, speaking(speech, server.address), &|_| true);
        assert!(exchanged.iter().all(|exchanged| exchanged.result.is_ok() && exchanged.tries == 2), "{exchanged:?}");
        assert_eq!(server.accepted(), 2);
    }
}

#[test]
fn a_stream_that_is_refused_is_asked_once_more_on_the_same_connection_and_a_failed_one_costs_no_connection() {
    let hurried = Duration::from_millis(200);
    for (way, timeout, failure, tries) in [
        (Way::Refuse, PATIENCE, Failure::Closed, 2),
        (Way::ResetStream, PATIENCE, Failure::Reset, 1),
        (Way::Hang, hurried, Failure::Timeout, 1),
    ] {
        let server = Versed::plain(move |_, request| if request == 0 { Way::Answer(200, 0) } else { way });
        let endpoint = Endpoint { timeout, ..speaking(http2(), server.address) };
        for exchanged in at_once(MANY, endpoint, &never) {
            assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (failure, tries), "{way:?}");
        }
        assert_eq!(server.accepted(), 1, "{way:?}");
    }
}

#[test]
fn a_second_connection_lost_is_the_end_of_those_on_it() {
    let server = Versed::plain(|connection, request| match (connection, request) {
        (_, 20) => Way::Cut,
        (0, 0) => Way::Answer(200, 0),
        _ => Way::Hang,
    });
    let exchanged = at_once(MANY, speaking(http2(), server.address), &|_| true);
    assert!(exchanged.iter().all(|exchanged| exchanged.result.is_err() && exchanged.tries == 2), "{exchanged:?}");
    assert_eq!(server.accepted(), 2);
}

#[test]
fn a_connection_that_cannot_be_made_again_is_tried_once_and_fails_all_who_wait_for_it() {
    let identity = Identity::signed("localhost");
    let speech = tls(&identity, "localhost", true);
    let server = Versed::secure(identity, &["h2"], |connection, request| match connection {
        0 => breaking(Way::Cut)(connection, request),
        _ => Way::Mute,
    });
    let connect_timeout = Duration::from_millis(500);
    let exchanged = at_once(MANY, Endpoint { connect_timeout, ..speaking(speech, server.address) }, &|_| true);
    for exchanged in exchanged {
        assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (Failure::ConnectTimeout, 1));
    }
    assert_eq!(server.accepted(), 2);
}

/// The order in which three exchanges end: the first is answered late, with the second the peer says goodbye, and the
/// third is asked for after that.
fn after_a_goodbye(allows: &dyn Fn(u64) -> bool) -> Vec<u32> {
    let server = Versed::plain(|connection, request| match (connection, request) {
        (0, 1) => Way::Late(Duration::from_millis(300)),
        (0, 2) => Way::Goodbye,
        _ => Way::Answer(200, 0),
    });
    let ended = RefCell::new(Vec::new());
    run(async {
        let wire = Wire::new(speaking(http2(), server.address));
        let trunk = Trunk::new(kept(&wire).await, allows);
        let exchange = async |nth| {
            let exchanged = wire.exchange_along(&trunk, pin!(None), DRAINED, get).await;
            assert_eq!((exchanged.result.unwrap().status, exchanged.tries), (200, 1));
            ended.borrow_mut().push(nth);
        };
        let then = async {
            exchange(2).await;
            exchange(3).await;
        };
        tokio::join!(exchange(1), then);
    });
    assert_eq!(server.accepted(), 2);
    ended.into_inner()
}

#[test]
fn what_a_peer_had_begun_before_its_goodbye_ends_beside_the_new_connection() {
    let asked = Cell::new(0);
    let allows = |count| {
        asked.set(count);
        true
    };
    assert_eq!((after_a_goodbye(&allows), asked.get()), (vec![2, 3, 1], 2));
}

#[test]
fn without_leave_for_one_more_the_old_connection_is_waited_for() {
    assert_eq!(after_a_goodbye(&|_| false), [2, 1, 3]);
}

#[test]
fn a_peer_that_comes_back_without_http_2_is_asked_one_thing_after_the_other() {
    let identity = Identity::signed("localhost");
    let speech = tls(&identity, "localhost", true);
    let server = Versed::secure(identity, &["h2"], |connection, request| match connection {
        0 => breaking(Way::Cut)(connection, request),
        _ => Way::Older,
    });
    let exchanged = at_once(MANY, speaking(speech, server.address), &|_| true);
    assert!(exchanged.iter().all(|exchanged| exchanged.result.is_ok() && exchanged.tries == 2), "{exchanged:?}");
    assert_eq!(server.accepted(), 2);
}
