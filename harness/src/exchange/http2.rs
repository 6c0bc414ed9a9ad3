//! HTTP/2 (RFC 9113): the same requests over streams of one connection, through the `h2` library.
//!
//! A request is written once, as HTTP/1.1 text, and read back: what goes out is the same for both versions, and the plain
//! path pays nothing for this one.

use std::io;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::task::JoinHandle;

use floodrig_reports::recording::RigFault;

use super::answer::LONGEST_KEPT_BODY;
use super::failure::Failure;
use super::link::Road;
use super::text::read;
use super::wire::{Answered, Ask, Body, Broken};

/// What Chrome lets a peer send before it has read any of it: 6 MiB for a stream, 15 MiB for a connection.
const STREAM_WINDOW: u32 = 6 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 15 * 1024 * 1024;

/// One connection, on which many exchanges may be under way.
#[derive(Clone)]
pub(super) struct Session {
    requests: SendRequest<Bytes>,
    /// `http`, or `https` under TLS.
    scheme: &'static str,
    driver: Arc<Driver>,
}

/// The task that moves the connection's frames. It ends with its last session.
#[derive(Debug)]
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What is left of a session for whoever asks only whether its connection is still there.
#[derive(Debug)]
pub(super) struct Trace(Weak<Driver>);

impl Trace {
    /// Whether frames are still moved over it, for whomever.
    pub(super) fn is_alive(&self) -> bool {
        self.0.upgrade().is_some_and(|driver| !driver.0.is_finished())
    }
}

impl Session {
    /// Begins to speak HTTP/2 over a road.
    pub(super) async fn open(road: Box<dyn Road>, scheme: &'static str) -> Result<Self, Failure> {
        let mut builder = Builder::new();
        builder.enable_push(false).initial_window_size(STREAM_WINDOW);
        builder.initial_connection_window_size(CONNECTION_WINDOW);
        let (requests, connection) = builder.handshake(road).await.map_err(|error| why(&error).failure)?;
        // What ends the connection is told to every exchange on it.
        let driver = tokio::spawn(async move { drop(connection.await) });
        Ok(Self { requests, scheme, driver: Arc::new(Driver(driver)) })
    }

    /// Whether more may be asked, as far as has been noticed: a peer that has said goodbye ends what it has begun, over
    /// a connection that takes nothing new.
    pub(super) fn is_open(&self) -> bool {
        let asked = self.requests.clone().poll_ready(&mut Context::from_waker(Waker::noop()));
        !self.driver.0.is_finished() && !matches!(asked, Poll::Ready(Err(_)))
    }

    /// Its trace, which does not keep it.
    pub(super) fn trace(&self) -> Trace {
        Trace(Arc::downgrade(&self.driver))
    }

    /// One exchange: the request as HTTP/1.1 text, and the answer to its end.
    pub(super) async fn exchange(&self, text: &str, ask: Ask<'_>) -> Result<Answered, Broken> {
        let (request, content) =
            read(text, self.scheme).ok_or(Broken { failure: Failure::Rig(RigFault::Local), begun: false })?;
        let mut requests = self.requests.clone().ready().await.map_err(|error| why(&error))?;
        let sent = requests.send_request(request, content.is_empty());
        let (response, mut stream) = sent.map_err(|error| why(&error))?;
        if !content.is_empty() {
            stream.send_data(content, true).map_err(|error| why(&error))?;
        }
        let response = response.await.map_err(|error| why(&error))?;
        let status = response.status().as_u16();
        let headers = if ask.headers { texts(response.headers()) } else { Vec::new() };
        let read = receive(response.into_body(), ask.body).await;
        let body = read.map_err(|error| Broken { begun: true, ..why(&error) })?;
        Ok(Answered::new(status, headers, (ask.body, body)))
    }
}

/// The headers whose values are text.
fn texts(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = std::str::from_utf8(value.as_bytes()).ok()?;
        Some((name.as_str().to_owned(), value.trim().to_owned()))
    };
    headers.iter().filter_map(text).collect()
}

/// Reads a body to its end; keeps it if it is wanted and fits.
async fn receive(mut stream: RecvStream, body: Body) -> Result<Option<Vec<u8>>, h2::Error> {
    let mut kept = Vec::new();
    let mut keeps = body == Body::Kept;
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        keeps &= kept.len() + data.len() <= LONGEST_KEPT_BODY;
        if keeps {
            kept.extend_from_slice(&data);
        } else {
            kept = Vec::new();
        }
    }
    Ok(keeps.then_some(kept))
}

/// Why an exchange broke, by who ended it: the peer with a word, the library over what the peer sent, or neither, which
/// leaves us. A peer that refuses a stream or says goodbye has not looked at it (RFC 9113, sections 6.8 and
/// 8.7), so that it may be tried elsewhere like one on a connection that had been closed; a stream that it resets, it has.
fn why(error: &h2::Error) -> Broken {
    if let Some(error) = error.get_io() {
        // That is how the library words the end of a connection.
        let ended = error.kind() == io::ErrorKind::BrokenPipe;
        let failure = if ended { Failure::Closed } else { Failure::of_connection(error) };
        return Broken { failure, begun: false };
    }
    let unseen = error.is_go_away() && error.is_remote() || error.reason() == Some(Reason::REFUSED_STREAM);
    let failure = match (error.is_remote(), error.is_library()) {
        (true, _) if unseen => Failure::Closed,
        (true, _) => Failure::Reset,
        (false, true) => Failure::Malformed,
        (false, false) => Failure::Rig(RigFault::Local),
    };
    Broken { failure, begun: !unseen }
}
