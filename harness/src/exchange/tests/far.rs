//! Players far away: what they send and read takes its time, and nothing of it is lost.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Instant;

use socket2::SockRef;

use super::*;
use crate::exchange::versed::{Identity, Versed, Way};

const TRIP: Duration = Duration::from_millis(60);

fn over(network: Network) -> Ask<'static> {
    Ask { network, ..KEPT }
}

#[expect(clippy::disallowed_methods, reason = "the time is what is tested")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    (work(), begun.elapsed())
}

/// How long a first and a second exchange over one connection take.
fn two(endpoint: Endpoint, network: Network) -> [Duration; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (wire, mut kept) = (Wire::new(endpoint), None);
    [0, 1].map(|_| {
        let exchange = || runtime.block_on(async { wire.exchange(&mut kept, pin!(None), over(network), get).await });
        let (exchanged, took) = timed(exchange);
        assert_eq!(exchanged.result.unwrap().status, 200);
        took
    })
}

#[test]
fn connecting_and_asking_each_take_a_round_trip_and_tls_another() {
    let server = Rough::always(Manner::Answer(vec![ok("hi")]));
    let network = Network { round_trip: TRIP, ..Network::default() };
    let [first, second] = two(endpoint(server.address), network);
    assert!(first >= 2 * TRIP && second >= TRIP, "{first:?} {second:?}");
    let identity = Identity::signed("localhost");
    let speech = Speech::new(Some((identity.trusted.as_bytes(), "localhost")), false).unwrap();
    let server = Versed::secure(identity, &[], |_, _| Way::Hang);
    let [first, second] = two(Endpoint { speech, ..endpoint(server.address) }, network);
    assert!(first >= 3 * TRIP && second >= TRIP, "{first:?} {second:?}");
}

#[test]
fn nothing_is_lost_on_a_long_way() {
    let server = Rough::always(Manner::Answer(vec![ok(&"x".repeat(300_000))]));
    let body = "y".repeat(3 * 1024 * 1024);
    let fill = |out: &mut String| {
        out.push_str("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 3145728\r\n\r\n");
        out.push_str(&body);
    };
    let network = Network { round_trip: Duration::from_millis(4), reads_at: Some(3_000_000) };
    let wire = Wire::new(endpoint(server.address));
    let exchanged = run(async { wire.exchange(&mut None, pin!(None), over(network), fill).await });
    assert_eq!(exchanged.result.unwrap().body, "x".repeat(300_000).as_bytes());
}

#[test]
fn a_slow_reader_fills_the_servers_socket_and_keeps_it_waiting() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    SockRef::from(&listener).set_send_buffer_size(16 * 1024).unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
        timed(|| stream.write_all(ok(&"x".repeat(400_000)).as_bytes()).unwrap()).1
    });
    let network = Network { round_trip: Duration::ZERO, reads_at: Some(800_000) };
    let wire = Wire::new(endpoint(address));
    let exchange = || run(async { wire.exchange(&mut None, pin!(None), over(network), get).await });
    let (exchanged, took) = timed(exchange);
    assert_eq!(exchanged.result.unwrap().body.len(), 400_000);
    // Half a second of reading; the last few per cent of it are in the buffers when the server has done.
    assert!(took >= Duration::from_millis(450), "{took:?}");
    let wrote = server.join().unwrap();
    assert!(wrote >= Duration::from_millis(250), "{wrote:?}");
}

#[test]
fn failures_are_the_same_from_far_away() {
    let network = Network { round_trip: Duration::from_millis(10), ..Network::default() };
    for (manner, expected) in [(Manner::Reset, Failure::Reset), (Manner::Close, Failure::Closed)] {
        let server = Rough::always(manner);
        let wire = Wire::new(endpoint(server.address));
        let exchanged = run(async { wire.exchange(&mut None, pin!(None), over(network), get).await });
        assert_eq!((exchanged.result.unwrap_err(), exchanged.tries), (expected, 1));
    }
}
