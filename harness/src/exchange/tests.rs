//! Exchanges with real sockets: every way in which a server can fail them, told apart.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use floodrig_reports::recording::RigFault;

use super::rough::{FullQueue, Manner, Rough, Which, answer, nobody, ok};
use super::*;

mod far;
mod trunk;
mod versed;

/// Longer than any step of a test takes, and short enough to wait for.
const PATIENCE: Duration = Duration::from_secs(20);

const NEAR: Network = Network { round_trip: Duration::ZERO, reads_at: None };
const KEPT: Ask<'static> = Ask { body: Body::Kept, headers: true, source: None, network: NEAR, told: &|_| {} };
const DRAINED: Ask<'static> = Ask { body: Body::Drained, headers: false, ..KEPT };

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint { address, speech: Speech::default(), connect_timeout: PATIENCE, timeout: PATIENCE }
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn get(out: &mut String) {
    out.push_str("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
}

/// What `times` exchanges over one kept connection come to.
fn exchanges(endpoint: Endpoint, times: usize) -> Vec<Exchanged> {
    run(async {
        let (wire, mut kept, mut timer, mut all) = (Wire::new(endpoint), None, pin!(None), Vec::new());
        for _ in 0..times {
            all.push(wire.exchange(&mut kept, timer.as_mut(), KEPT, get).await);
        }
        all
    })
}

fn failure(endpoint: Endpoint) -> Failure {
    exchanges(endpoint, 1).remove(0).result.unwrap_err()
}

fn texts(exchanged: &[Exchanged]) -> Vec<String> {
    let text = |exchanged: &Exchanged| String::from_utf8(exchanged.result.as_ref().unwrap().body.clone()).unwrap();
    exchanged.iter().map(text).collect()
}

#[test]
fn exchanges_follow_one_another_on_one_connection() {
    let server =
        Rough::serve(|Which { connection, request }| Manner::Answer(vec![ok(&format!("{connection} {request}"))]));
    let exchanged = exchanges(endpoint(server.address), 3);
    assert_eq!(texts(&exchanged), ["0 0", "0 1", "0 2"]);
    assert!(exchanged.iter().all(|exchanged| exchanged.tries == 1));
}

#[test]
fn an_answer_in_chunks_and_pieces_is_read_to_its_end() {
    let pieces = ["HTTP/1.1 200 OK\r\nTransfer-", "Encoding: chunked\r\n\r\n2\r", "\nhe\r\n3\r\nllo\r\n0\r\n", "\r\n"];
    let server = Rough::always(Manner::Answer(pieces.map(str::to_owned).to_vec()));
    assert_eq!(texts(&exchanges(endpoint(server.address), 2)), ["hello", "hello"]);
}

#[test]
fn nobody_listening_is_refused_and_nothing_was_sent() {
    let nobody = nobody();
    let exchanged = exchanges(endpoint(nobody.address), 1).remove(0);
    assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (Failure::Refused, 0));
}

#[test]
fn a_reset_a_close_and_a_hang_are_told_apart() {
    let hurried = Duration::from_millis(50);
    for (manner, timeout, expected) in [
        (Manner::Reset, PATIENCE, Failure::Reset),
        (Manner::Close, PATIENCE, Failure::Closed),
        (Manner::Hang, hurried, Failure::Timeout),
        (Manner::Last("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_owned()), PATIENCE, Failure::Closed),
        (Manner::Last("220 smtp.example ESMTP\r\n".to_owned()), PATIENCE, Failure::Malformed),
    ] {
        let server = Rough::always(manner.clone());
        assert_eq!(failure(Endpoint { timeout, ..endpoint(server.address) }), expected, "{manner:?}");
    }
}

#[test]
fn what_begins_as_an_answer_and_breaks_the_rules_is_malformed_at_once_an_endless_head_too_long_and_what_stops_is_closed()
 {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(80 * 1024));
    for (text, expected) in [
        (format!("{head}xyz\r\nhi"), Failure::Malformed),
        (endless, Failure::TooLong),
        (format!("{head}5\r\nhi"), Failure::Closed),
    ] {
        let server = Rough::always(Manner::Last(text.clone()));
        assert_eq!(failure(endpoint(server.address)), expected, "{}", &text[..60]);
    }
}

#[test]
fn a_status_is_an_answer_whatever_it_is() {
    let server = Rough::always(Manner::Answer(vec![answer("503 Service Unavailable", "no")]));
    let exchanged = exchanges(endpoint(server.address), 1).remove(0);
    assert_eq!(exchanged.result.unwrap().status, 503);
}

#[test]
fn a_kept_connection_that_ends_without_an_answer_is_replaced_once() {
    for end in [Manner::Close, Manner::Reset] {
        let server = Rough::serve(move |which| match which.request {
            0 => Manner::Answer(vec![ok("first")]),
            _ => end.clone(),
        });
        let exchanged = exchanges(endpoint(server.address), 2);
        assert_eq!(texts(&exchanged), ["first", "first"]);
        assert_eq!((exchanged[0].tries, exchanged[1].tries), (1, 2));
        assert_eq!(server.received(), 3);
    }
}

#[test]
fn a_second_failure_counts() {
    let server = Rough::serve(|which| match (which.connection, which.request) {
        (0, 0) => Manner::Answer(vec![ok("first")]),
        _ => Manner::Close,
    });
    let exchanged = exchanges(endpoint(server.address), 2).remove(1);
    assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (Failure::Closed, 2));
}

#[test]
fn a_kept_connection_that_ends_amid_an_answer_is_not_replaced() {
    let server = Rough::serve(|which| match which.request {
        0 => Manner::Answer(vec![ok("first")]),
        _ => Manner::Last("HTTP/1.1 200 OK\r\n".to_owned()),
    });
    let exchanged = exchanges(endpoint(server.address), 2).remove(1);
    assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (Failure::Closed, 1));
}

#[test]
fn a_connection_that_says_close_is_not_kept() {
    let server = Rough::serve(|which| {
        let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n";
        Manner::Answer(vec![format!("{closing}{}", which.connection)])
    });
    let exchanged = exchanges(endpoint(server.address), 2);
    assert_eq!(texts(&exchanged), ["0", "1"]);
    assert_eq!(exchanged[1].tries, 1);
}

#[test]
fn a_request_larger_than_the_sockets_buffers_arrives_whole() {
    let server = Rough::always(Manner::Answer(vec![ok("")]));
    let body = "x".repeat(16 * 1024 * 1024);
    let fill = |out: &mut String| {
        out.push_str("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 16777216\r\n\r\n");
        out.push_str(&body);
    };
    let wire = Wire::new(endpoint(server.address));
    let exchanged = run(async { wire.exchange(&mut None, pin!(None), DRAINED, fill).await });
    assert_eq!(exchanged.result.unwrap().status, 200);
}

#[test]
fn a_full_accept_queue_is_a_connect_timeout() {
    let full = FullQueue::new();
    let connect_timeout = Duration::from_millis(50);
    assert_eq!(failure(Endpoint { connect_timeout, ..endpoint(full.address()) }), Failure::ConnectTimeout);
}

#[test]
fn a_handshake_that_needed_a_second_syn_is_late() {
    let full = FullQueue::new();
    let address = full.address();
    let (begun, waits) = mpsc::channel();
    let server = thread::spawn(move || {
        waits.recv_timeout(PATIENCE).unwrap();
        full.accept_and_answer();
    });
    let stages = RefCell::new(Vec::new());
    let told = |stage| stages.borrow_mut().push(stage);
    let exchanged = run(async {
        let (wire, mut kept, mut timer) = (Wire::new(endpoint(address)), None, pin!(None));
        let release = async {
            // By then the first SYN has found the queue full; the next comes a second after it.
            tokio::time::sleep(Duration::from_millis(300)).await;
            begun.send(()).unwrap();
        };
        let ask = Ask { told: &told, ..DRAINED };
        tokio::join!(wire.exchange(&mut kept, timer.as_mut(), ask, get), release).0
    });
    assert_eq!(stages.take(), [Stage::Connecting, Stage::LetInLate, Stage::Sending]);
    assert_eq!(exchanged.result.unwrap().status, 200);
    server.join().unwrap();
}

#[test]
fn a_connection_comes_from_the_source_it_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hurried = Endpoint { timeout: Duration::from_millis(10), ..endpoint(listener.local_addr().unwrap()) };
    let ask = Ask { source: Some("127.0.0.9".parse().unwrap()), ..DRAINED };
    let exchanged = run(async { Wire::new(hurried).exchange(&mut None, pin!(None), ask, get).await });
    assert_eq!(exchanged.result.unwrap_err(), Failure::Timeout);
    assert_eq!(listener.accept().unwrap().1.ip().to_string(), "127.0.0.9");
}

#[test]
fn a_source_that_this_machine_does_not_have_is_the_rigs_own_fault() {
    let server = Rough::always(Manner::Answer(vec![ok("")]));
    // TEST-NET-1 (RFC 5737) is nobody's.
    let ask = Ask { source: Some("192.0.2.1".parse().unwrap()), ..DRAINED };
    let wire = Wire::new(endpoint(server.address));
    let exchanged = run(async { wire.exchange(&mut None, pin!(None), ask, get).await });
    assert_eq!(exchanged.result.unwrap_err(), Failure::Rig(RigFault::AddressNotAvailable));
    assert_eq!((exchanged.tries, server.received()), (0, 0));
}
