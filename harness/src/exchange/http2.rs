//! HTTP/2 (RFC 9113): the same requests over streams of one connection, through the `h2` library.
//!
//! A request is written once, as HTTP/1.1 text, and read back here: what goes out is the same for both versions, and the
//! plain path pays nothing for this one.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use tokio::task::JoinHandle;

use floodrig_reports::recording::RigFault;

use super::answer::LONGEST_KEPT_BODY;
use super::failure::Failure;
use super::link::Road;
use super::wire::{Answered, Body, Broken};

/// What Chrome lets a peer send before it has read any of it: 6 MiB for a stream, 15 MiB for a connection.
const STREAM_WINDOW: u32 = 6 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 15 * 1024 * 1024;

/// The most header lines of a request.
const MOST_HEADERS: usize = 100;

/// One connection, on which many exchanges may be under way.
#[derive(Clone)]
pub(super) struct Session {
    requests: SendRequest<Bytes>,
    /// `http`, or `https` under TLS.
    scheme: &'static str,
    driver: Arc<Driver>,
}

/// The task that moves the connection's frames. It ends with its last session.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
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

    /// Whether more may be asked, as far as has been noticed.
    pub(super) fn is_open(&self) -> bool {
        !self.driver.0.is_finished()
    }

    /// One exchange: the request as HTTP/1.1 text, and the answer to its end.
    pub(super) async fn exchange(&self, text: &str, body: Body) -> Result<Answered, Broken> {
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
        let read = receive(response.into_body(), body).await;
        let body = read.map_err(|error| Broken { begun: true, ..why(&error) })?;
        Ok(Answered { status, body })
    }
}

/// Reads a body to its end; keeps it if it is wanted and fits.
async fn receive(mut stream: RecvStream, body: Body) -> Result<Vec<u8>, h2::Error> {
    let mut kept = Vec::new();
    let mut keeps = body == Body::Kept;
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        keeps &= kept.len() + data.len() <= LONGEST_KEPT_BODY;
        if keeps {
            kept.extend_from_slice(&data);
        }
    }
    Ok(if keeps { kept } else { Vec::new() })
}

/// Why an exchange broke. A peer that refuses a stream or says goodbye has not looked at it (RFC 9113, sections 6.8 and
/// 8.7), so that it may be tried elsewhere like one on a connection that had been closed; a stream that it resets, it has.
fn why(error: &h2::Error) -> Broken {
    if let Some(error) = error.get_io() {
        // That is how the library words the end of a connection.
        let ended = error.kind() == io::ErrorKind::BrokenPipe;
        let failure = if ended { Failure::Closed } else { Failure::of_connection(error) };
        return Broken { failure, begun: false };
    }
    let unseen = error.is_go_away() && error.is_remote() || error.reason() == Some(Reason::REFUSED_STREAM);
    let failure = match error.is_remote() {
        true if unseen => Failure::Closed,
        true => Failure::Reset,
        false => Failure::Malformed,
    };
    Broken { failure, begun: !unseen }
}

/// The request that this text is, and its body.
fn read(text: &str, scheme: &str) -> Option<(Request<()>, Bytes)> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(len) = head.parse(text.as_bytes()).ok()? else { return None };
    let host = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"))?;
    let uri = Uri::builder().scheme(scheme).authority(host.value).path_and_query(head.path?).build().ok()?;
    let mut request = Request::new(());
    (*request.method_mut(), *request.uri_mut()) = (Method::from_bytes(head.method?.as_bytes()).ok()?, uri);
    for header in head.headers.iter().filter(|header| !header.name.eq_ignore_ascii_case("host")) {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(header.value).ok()?);
    }
    Some((request, Bytes::copy_from_slice(&text.as_bytes()[len..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_for_one_version_is_sent_by_the_other() {
        let text = "POST /a?b=c HTTP/1.1\r\nhost: here:81\r\nX-It: 1\r\ncontent-length: 2\r\n\r\nhi";
        let (request, body) = read(text, "https").unwrap();
        assert_eq!(
            (request.method().as_str(), request.uri().to_string()),
            ("POST", "https://here:81/a?b=c".to_owned())
        );
        assert_eq!(
            (request.headers()["x-it"].to_str().unwrap(), request.headers().len(), &body[..]),
            ("1", 2, &b"hi"[..])
        );
    }

    #[test]
    fn what_is_no_request_is_not_sent() {
        for text in ["", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\n"] {
            assert!(read(text, "http").is_none(), "{text:?}");
        }
    }
}
