//! TLS and HTTP/2: the same exchanges and the same classes of failure, told apart by other means.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use socket2::SockRef;

use super::*;
use crate::exchange::versed::{Identity, Versed, Way};

pub(super) fn http2() -> Speech {
    Speech::new(None, true).unwrap()
}

pub(super) fn tls(identity: &Identity, name: &str, http2: bool) -> Speech {
    Speech::new(Some((identity.trusted.as_bytes(), name)), http2).unwrap()
}

pub(super) fn speaking(speech: Speech, address: SocketAddr) -> Endpoint {
    Endpoint { speech, ..endpoint(address) }
}

fn hello(_: u64, _: u64) -> Way {
    Way::Answer(200, 5)
}

#[test]
fn http_1_and_2_go_through_tls_and_over_one_connection() {
    for (offered, wants, body) in [
        (&["http/1.1"][..], false, "http/1.1"),
        (&["h2", "http/1.1"], false, "http/1.1"),
        (&["http/1.1"], true, "http/1.1"),
        (&["h2", "http/1.1"], true, "xxxxx"),
        (&[], false, ""),
    ] {
        let identity = Identity::signed("localhost");
        let speech = tls(&identity, "localhost", wants);
        let server = Versed::secure(identity, offered, hello);
        let exchanged = exchanges(speaking(speech, server.address), 3);
        assert_eq!(texts(&exchanged), [body; 3], "{offered:?}");
        assert_eq!((exchanged[2].tries, server.accepted()), (1, 1));
    }
}

#[test]
fn what_comes_ahead_of_an_answer_is_passed_over() {
    let server = Versed::plain(|_, _| Way::EarlyHints);
    let exchanged = exchanges(speaking(http2(), server.address), 2);
    assert_eq!(texts(&exchanged), ["xxxxx"; 2]);
    assert!(exchanged.iter().all(|exchanged| exchanged.result.as_ref().unwrap().status == 200));
}

#[test]
fn a_body_longer_than_is_kept_is_said_to_be_and_the_connection_goes_on() {
    let most = 16 * 1024 * 1024;
    let server = Versed::plain(move |_, request| Way::Answer(200, if request == 0 { most + 1 } else { most }));
    let exchanged = exchanges(speaking(http2(), server.address), 2);
    let kept = exchanged.iter().map(|exchanged| exchanged.result.as_ref().unwrap());
    let kept: Vec<_> = kept.map(|answered| (answered.body.len(), answered.too_long)).collect();
    assert_eq!((kept, server.accepted()), (vec![(0, true), (most, false)], 1));
}

#[test]
fn a_certificate_is_trusted_for_who_signed_it_and_its_name_or_for_itself() {
    let stranger = Identity::signed("127.0.0.1").trusted;
    let itself = Identity::of_its_own("elsewhere.test");
    let signed = || Identity::signed("127.0.0.1");
    for (nth, (identity, trusted, name, is_trusted)) in [
        (itself, None, "127.0.0.1", true),
        (signed(), None, "127.0.0.1", true),
        (signed(), None, "localhost", false),
        (signed(), Some(stranger), "127.0.0.1", false),
    ]
    .into_iter()
    .enumerate()
    {
        let trusted = trusted.unwrap_or_else(|| identity.trusted.clone());
        let speech = Speech::new(Some((trusted.as_bytes(), name)), false).unwrap();
        let server = Versed::secure(identity, &[], hello);
        let exchanged = exchanges(speaking(speech, server.address), 1).remove(0);
        match exchanged.result {
            Ok(answered) => assert!(is_trusted && answered.status == 200, "{nth}"),
            Err(failure) => assert_eq!((failure, is_trusted, exchanged.tries), (Failure::Tls, false, 0), "{nth}"),
        }
    }
}

#[test]
fn what_is_no_certificate_and_what_is_no_name_is_said() {
    assert_eq!(Speech::new(Some((b"-", "localhost")), false).unwrap_err(), TlsError::NoCertificate);
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let error = Speech::new(Some((broken.as_bytes(), "localhost")), false).unwrap_err();
    assert!(matches!(error, TlsError::Certificate { nth: 1, .. }), "{error}");
    let trusted = Identity::signed("localhost").trusted;
    let error = Speech::new(Some((trusted.as_bytes(), "no name")), false).unwrap_err();
    assert_eq!(error, TlsError::Name("no name".to_owned()));
}

/// Does this to the first connection, once the client has sent something.
fn once(treat: impl Fn(std::net::TcpStream) + Send + 'static) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.peek(&mut [0]).unwrap();
        treat(stream);
    });
    (address, server)
}

#[test]
fn ways_of_breaking_a_tls_handshake_are_told_apart() {
    type Treat = fn(std::net::TcpStream);
    let cases: [(Treat, Failure); 3] = [
        (|mut stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap(), Failure::Tls),
        (
            |stream| {
                std::io::copy(&mut (&stream).take(100), &mut std::io::sink()).unwrap();
                SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
            },
            Failure::Reset,
        ),
        (
            |mut stream| {
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                drop(std::io::copy(&mut stream, &mut std::io::sink()));
            },
            Failure::Closed,
        ),
    ];
    let speech = || tls(&Identity::signed("localhost"), "localhost", false);
    for (nth, (treat, expected)) in cases.into_iter().enumerate() {
        let (address, server) = once(treat);
        assert_eq!(failure(speaking(speech(), address)), expected, "{nth}");
        server.join().unwrap();
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect_timeout = Duration::from_millis(100);
    let hurried = Endpoint { connect_timeout, ..speaking(speech(), silent.local_addr().unwrap()) };
    assert_eq!(failure(hurried), Failure::ConnectTimeout);
    assert_eq!(failure(speaking(speech(), nobody().address)), Failure::Refused);
}

#[test]
fn http_2_goes_without_tls_to_whom_is_known_to_speak_it() {
    let server = Versed::plain(|_, request| Way::Answer(if request == 1 { 503 } else { 200 }, 0));
    let exchanged = exchanges(speaking(http2(), server.address), 2);
    let statuses = exchanged.iter().map(|exchanged| exchanged.result.as_ref().unwrap().status);
    assert_eq!((statuses.collect::<Vec<_>>(), server.accepted()), (vec![200, 503], 1));
}

#[test]
fn over_http_2_ways_to_fail_are_told_apart() {
    let hurried = Duration::from_millis(100);
    for (way, timeout, expected) in [
        (Way::Refuse, PATIENCE, Failure::Closed),
        (Way::ResetStream, PATIENCE, Failure::Reset),
        (Way::GoAway, PATIENCE, Failure::Closed),
        (Way::Hang, hurried, Failure::Timeout),
    ] {
        let server = Versed::plain(move |_, _| way);
        assert_eq!(failure(Endpoint { timeout, ..speaking(http2(), server.address) }), expected, "{way:?}");
    }
    assert_eq!(failure(speaking(http2(), nobody().address)), Failure::Refused);
    let old = Rough::always(Manner::Last(answer("400 Bad Request", "")));
    assert_eq!(failure(speaking(http2(), old.address)), Failure::Malformed);
    // A DATA frame of nothing, for stream 0: there is no such thing (RFC 9113, section 6.1).
    let lawless = Rough::always(Manner::Last("\0\0\0\0\0\0\0\0\0".repeat(2)));
    assert_eq!(failure(speaking(http2(), lawless.address)), Failure::Malformed);
}

#[test]
fn a_connection_on_which_nothing_was_done_is_replaced_once_and_a_stream_that_was_reset_is_not() {
    for (way, tries) in [(Way::GoAway, 2), (Way::Refuse, 2), (Way::ResetStream, 1)] {
        let server = Versed::plain(move |connection, request| match (connection, request) {
            (0, 1) => way,
            _ => Way::Answer(200, 1),
        });
        let exchanged = exchanges(speaking(http2(), server.address), 2).remove(1);
        assert_eq!((exchanged.tries, exchanged.result.is_ok()), (tries, tries == 2), "{way:?}");
    }
}

#[test]
fn large_bodies_go_both_ways_and_are_kept_only_where_they_are_wanted() {
    let length = 9 * 1024 * 1024;
    let server = Versed::plain(move |_, _| Way::Answer(200, length));
    let body = "x".repeat(length);
    let fill = |out: &mut String| {
        out.push_str("POST / HTTP/1.1\r\nhost: test\r\n\r\n");
        out.push_str(&body);
    };
    let wire = Wire::new(speaking(http2(), server.address));
    for (ask, kept) in [(KEPT, length), (DRAINED, 0)] {
        let exchanged = run(async { wire.exchange(&mut None, pin!(None), ask, fill).await });
        let answered = exchanged.result.unwrap();
        assert_eq!((answered.status, answered.body.len(), answered.too_long), (200, kept, false));
    }
}

#[test]
fn an_idle_connection_that_was_closed_is_replaced_before_anything_is_sent() {
    let identity = Identity::signed("localhost");
    let speech = tls(&identity, "localhost", false);
    let server = Versed::secure(identity, &[], hello);
    run(async {
        let (wire, mut kept, mut timer) = (Wire::new(speaking(speech, server.address)), None, pin!(None));
        for _ in 0..2 {
            let exchanged = wire.exchange(&mut kept, timer.as_mut(), DRAINED, get).await;
            assert_eq!((exchanged.result.unwrap().status, exchanged.tries), (200, 1));
        }
        assert!(kept.take().unwrap().if_idle().is_some());
    });
    assert_eq!(server.accepted(), 1);
}

#[test]
fn a_glance_speaks_as_it_is_told() {
    let identity = Identity::of_its_own("localhost");
    let speech = tls(&identity, "localhost", true);
    let server = Versed::secure(identity, &["h2"], |_, _| Way::Answer(204, 0));
    let look = |speech| glance(server.address, &speech, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", PATIENCE);
    assert_eq!(look(speech).unwrap(), 204);
    let untrusting = tls(&Identity::signed("localhost"), "localhost", true);
    assert!(look(untrusting).unwrap_err().to_string().contains("system.tls"));
}

/// A relay before a server that does this to what the server says after so many bytes.
fn spoiled(server: SocketAddr, after: usize, spoil: fn(&mut Vec<u8>) -> bool) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with its one connection.
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = std::net::TcpStream::connect(server).unwrap();
        let (mut asks, mut asked) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let asking = thread::spawn(move || std::io::copy(&mut asks, &mut asked));
        relay(&server, &client, after, spoil);
        drop((client.shutdown(std::net::Shutdown::Both), server.shutdown(std::net::Shutdown::Both)));
        drop(asking.join().unwrap());
    });
    address
}

fn relay(mut from: &std::net::TcpStream, mut to: &std::net::TcpStream, after: usize, spoil: fn(&mut Vec<u8>) -> bool) {
    use std::io::{Read as _, Write as _};
    let (mut said, mut piece) = (0, vec![0; 64 * 1024]);
    while let Ok(length @ 1..) = from.read(&mut piece) {
        let mut passed = piece[..length].to_vec();
        said += length;
        let goes_on = said <= after || spoil(&mut passed);
        if to.write_all(&passed).is_err() || !goes_on {
            return;
        }
    }
}

#[test]
fn a_tls_record_that_was_tampered_with_is_malformed_and_one_that_was_cut_short_is_closed() {
    let tampered = |passed: &mut Vec<u8>| {
        let last = passed.len() - 1;
        passed[last] ^= 1;
        true
    };
    let cut = |passed: &mut Vec<u8>| {
        passed.truncate(passed.len() - 1);
        false
    };
    // A handshake takes some 2 KB, and the answer hundreds.
    let after = 16 * 1024;
    for (spoil, expected) in [(tampered as fn(&mut Vec<u8>) -> bool, Failure::Malformed), (cut, Failure::Closed)] {
        let identity = Identity::signed("localhost");
        let speech = tls(&identity, "localhost", true);
        let server = Versed::secure(identity, &["h2"], |_, _| Way::Answer(200, 400_000));
        assert_eq!(failure(speaking(speech, spoiled(server.address, after, spoil))), expected);
    }
}
