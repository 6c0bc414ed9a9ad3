//! A WebSocket: opened by a visit's first act that uses it, kept for the next, and its failures told apart.

use std::net::TcpListener;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request as Opening, Response};
use tokio_tungstenite::tungstenite::protocol::Message;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use super::*;
use crate::scenario::{Check, Conversation, Ended, Fault, Faults, Must, OnFailure, Place, Retry, Sought, When};

/// What the server does with a message.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// Pushes something of no account, pings, and answers with the message and how many came before it.
    Echo,
    /// Says goodbye.
    Close,
    /// Ends the connection without a word.
    Drop,
    /// Answers with a frame of no kind that there is.
    Garble,
    /// Answers with a message that is longer than any that is kept.
    Ramble,
    /// Says nothing.
    Nothing,
}

/// Serves them for as long as the test runs; an opening without this header is refused with 401.
fn serve(then: Then, header: Option<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with the test's process: a server that waits costs nothing.
    thread::spawn(move || {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().build_local(LocalOptions::default()).unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                tokio::task::spawn_local(attend(listener.accept().await.unwrap().0, then, header));
            }
        });
    });
    address
}

#[expect(clippy::result_large_err, reason = "the library's own type")]
async fn attend(stream: TcpStream, then: Then, header: Option<&'static str>) {
    let check = |opening: &Opening, response: Response| match header {
        Some(header) if !opening.headers().contains_key(header) => {
            let mut refused = ErrorResponse::new(None);
            *refused.status_mut() = http::StatusCode::UNAUTHORIZED;
            Err(refused)
        }
        Some(_) | None => Ok(response),
    };
    let Ok(stream) = accept_hdr_async(stream, check).await else { return };
    talk(stream, then).await;
}

async fn talk(mut stream: WebSocketStream<TcpStream>, then: Then) {
    let mut nth = 0;
    while let Some(Ok(message)) = stream.next().await {
        let Message::Text(text) = message else { continue };
        let said = match then {
            Then::Echo => {
                let answer = format!(r#"{{"nth":{nth},"token":"t","said":"{text}"}}"#);
                stream.feed(Message::text(r#"{"news":"of no account"}"#)).await.unwrap();
                stream.feed(Message::Ping("?".into())).await.unwrap();
                stream.send(Message::text(answer)).await
            }
            Then::Close => stream.close(None).await,
            Then::Drop => return,
            Then::Garble => stream.get_mut().write_all(&[0x8f, 0]).await.map_err(Into::into),
            Then::Ramble => stream.send(Message::text("x".repeat(16 * 1024 * 1024 + 1))).await,
            Then::Nothing => Ok(()),
        };
        if said.is_err() {
            return;
        }
        nth += 1;
    }
}

fn says(act: &str, message: &str, answer: Option<Sought>) -> Step {
    let message = Some(Body::Text(text(message)));
    let does = Does::Converse(Conversation { path: text("/live"), headers: Vec::new(), message, answer });
    Step { does, ..get(act) }
}

fn nth(value: &str) -> Sought {
    Sought::Equal { pointer: "/nth".to_owned(), value: text(value) }
}

#[test]
fn a_visits_acts_go_over_one_socket_and_others_over_their_own() {
    let address = serve(Then::Echo, None);
    let steps = [says("first", "hi", Some(nth("0"))), says("second", "again", Some(nth("1")))];
    let outcome = load(vec![(0, 0, 0), (0, 1, 0), (100, 0, 1), (100, 1, 1)]).steps(steps).against(address);
    assert_eq!((outcome.total.ok, outcome.driven.open_peak), (4, 2), "{:?}", outcome.failures());
    // Two openings and four messages.
    assert_eq!(outcome.total.requests, 6);
}

#[test]
fn what_an_answer_holds_is_captured_for_the_next_act() {
    let capture = BTreeMap::from([("token".to_owned(), InAnswer::Pointer("/token".to_owned()))]);
    let first = Step { capture, ..says("first", "hi", Some(Sought::Containing(text("token")))) };
    let mut second = says("second", "", Some(Sought::Containing(text(r#""said":"t""#))));
    let Does::Converse(conversation) = &mut second.does else { panic!("a conversation") };
    conversation.message = Some(Body::Text(Template { pieces: vec![Piece::Slot(Slot::Captured("token".to_owned()))] }));
    let outcome = load(vec![(0, 0, 0), (1, 0, 1)]).steps([first, second]).against(serve(Then::Echo, None));
    assert_eq!(outcome.total.ok, 2, "{:?}", outcome.failures());
}

#[test]
fn init_data_goes_with_the_opening() {
    let address = serve(Then::Nothing, Some("authorization"));
    let opening = |init_data| Load { init_data, ..apart([0]) }.steps([says("join", "hi", None)]).against(address);
    assert_eq!(opening(Some(Place::Authorization)).total.ok, 1);
    assert_eq!(opening(None).failures(), classes([("status_4xx", 1)]));
}

#[test]
fn ways_of_not_answering_are_told_apart() {
    let hurried = 200 * MILLISECOND;
    for (then, timeout, class) in [
        (Then::Close, PATIENCE, "closed"),
        (Then::Drop, PATIENCE, "closed"),
        (Then::Nothing, hurried, "timeout"),
        (Then::Garble, PATIENCE, "malformed"),
        (Then::Ramble, PATIENCE, "rig_fault"),
    ] {
        let load = apart([0]).steps([says("join", "hi", Some(Sought::Anything))]).timeout(timeout);
        let outcome = load.against(serve(then, None));
        assert_eq!(outcome.failures(), classes([(class, 1)]), "{then:?}");
    }
}

#[test]
fn an_opening_fails_as_any_request_does() {
    let not_found = Manner::Answer(vec![answer("404 Not Found", "")]);
    for (manner, class) in [
        (not_found, "status_4xx"),
        (Manner::Reset, "reset"),
        (Manner::Close, "closed"),
        (Manner::Last("220 smtp.example ESMTP\r\n".to_owned()), "malformed"),
    ] {
        let server = Rough::always(manner);
        let outcome = apart([0]).steps([says("join", "hi", None)]).against(server.address);
        assert_eq!((outcome.failures(), outcome.total.requests), (classes([(class, 1)]), 1));
    }
    let outcome = apart([0]).steps([says("join", "hi", None)]).against(nobody().address);
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("refused", 1)]), 0));
}

#[test]
fn a_socket_that_has_ended_between_two_acts_fails_the_second_and_the_third_opens_another() {
    // What is pushed and is longer than is kept ends it at the rig's own bound.
    for (then, class) in [(Then::Close, "closed"), (Then::Ramble, "rig_fault")] {
        let steps = [says("join", "hi", None), says("ask", "well", None)];
        let outcome = load(vec![(0, 0, 0), (300, 0, 1), (600, 0, 1)]).steps(steps).against(serve(then, None));
        assert_eq!((outcome.total.ok, outcome.failures()), (2, classes([(class, 1)])));
    }
}

#[test]
fn what_does_not_hold_of_an_answer_fails_its_check() {
    for (pointer, ok) in [("/token", 1), ("/news", 0)] {
        let check = vec![Check { pointer: pointer.to_owned(), must: Must::Exist }];
        let step = Step { check, ..says("join", "hi", Some(Sought::Containing(text("said")))) };
        let outcome = apart([0]).steps([step]).against(serve(Then::Echo, None));
        assert_eq!((outcome.total.ok, outcome.total.outcomes.check_failed), (ok, 1 - ok), "{pointer}");
    }
}

#[test]
fn what_failed_is_said_again_over_another_socket() {
    let retry = OnFailure { retry: Some(Retry { times: 2, within: SECOND }), leave: false };
    let step = Step { on_failure: retry, ..says("join", "hi", Some(Sought::Anything)) };
    let outcome = apart([0]).steps([step]).against(serve(Then::Close, None));
    // Three openings and three messages, one socket at a time.
    assert_eq!((outcome.failures(), outcome.total.requests), (classes([("closed", 1)]), 6));
    assert_eq!(outcome.driven.open_peak, 1);
}

#[test]
fn what_follows_may_depend_on_how_the_conversation_ended() {
    for (then, ok, skipped) in [(Then::Echo, 2, 0), (Then::Close, 0, 1)] {
        let when = Some(When { step: 0, ended: Ended::Ok(true) });
        let steps = [says("join", "hi", Some(Sought::Anything)), Step { when, ..says("ask", "well", None) }];
        let outcome = load(vec![(0, 0, 0), (50, 0, 1)]).steps(steps).against(serve(then, None));
        assert_eq!((outcome.total.ok, outcome.total.outcomes.skipped), (ok, skipped), "{then:?}");
    }
}

#[test]
fn an_opening_that_must_be_refused_succeeds_when_it_is() {
    let faults = || Faults { shares: [0.1; 3], stale_by: SECOND, refused: vec![Fault::Stale], refused_with: vec![401] };
    for (header, ok) in [(Some("x-nobody-sends-this"), 1), (None, 0)] {
        let load = apart([0]).steps([says("join", "hi", None)]);
        let load = Load { init_data: Some(Place::Authorization), faults: Some((faults(), Fault::Stale)), ..load };
        assert_eq!(load.against(serve(Then::Nothing, header)).total.ok, ok, "{header:?}");
    }
}
