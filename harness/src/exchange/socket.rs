//! A WebSocket (RFC 6455), through the tungstenite library: greeted once, and then a message and its answer at a time.
//!
//! Between a player's acts a task holds the socket, answers pings and drops what is pushed, as a phone does that has
//! nobody looking at it. So only what comes in during an act can answer it.

use std::pin::Pin;

use floodrig_reports::recording::RigFault;
use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderValue, Request};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::answer::LONGEST_KEPT_BODY;
use super::connect::connect_road;
use super::deadline::{Deadline, Timer};
use super::failure::Failure;
use super::link::Road;
use super::stage::Stage;
use super::text::read;
use super::wire::{Answered, Ask, Body, Exchanged, Wire, within};

/// Bytes read at once, for each socket that is open: the library's own 128 KiB would be most of what a player costs.
const READ_AT_ONCE: usize = 4 * 1024;

type Stream = WebSocketStream<Box<dyn Road>>;

/// A socket that is open, in the hands of its task.
pub struct Socket {
    recall: oneshot::Sender<()>,
    task: JoinHandle<Result<Stream, Failure>>,
}

/// What is said over a socket.
pub struct Words<'a> {
    /// How a fresh connection is made, and who is told of it.
    pub ask: Ask<'a>,
    /// Writes the request that a socket is opened with, without what makes it one.
    pub greeting: &'a dyn Fn(&mut String),
    /// Writes a message; nothing: none is sent.
    pub message: Option<&'a dyn Fn(&mut String)>,
    /// Whether a message is the answer; nothing: none is waited for.
    pub answer: Option<&'a dyn Fn(&str) -> bool>,
}

impl Socket {
    /// Hands an open stream to a task.
    fn rest(stream: Stream) -> Self {
        let (recall, recalled) = oneshot::channel();
        Self { recall, task: tokio::spawn(hold(stream, recalled)) }
    }

    /// Takes it back, or says how it has ended meanwhile.
    async fn wake(self) -> Result<Stream, Failure> {
        // A task that has ended is not asked any more, and says why.
        let _asked = self.recall.send(());
        self.task.await.unwrap_or(Err(Failure::Closed))
    }
}

/// Holds a stream until it is asked for, or closes it once nobody can ask any more. What ends it meanwhile is a close
/// to whoever comes back to it, unless the rig itself could not take what was pushed.
async fn hold(mut stream: Stream, mut recalled: oneshot::Receiver<()>) -> Result<Stream, Failure> {
    loop {
        tokio::select! {
            biased;
            asked = &mut recalled => {
                if asked.is_err() {
                    // A peer that is gone has no use for a goodbye.
                    drop(stream.close(None).await);
                    return Err(Failure::Closed);
                }
                return Ok(stream);
            }
            message = stream.next() => match message {
                Some(Ok(message)) if !message.is_close() => {}
                Some(Err(Error::Capacity(_))) => return Err(Failure::TooLong),
                Some(_) | None => return Err(Failure::Closed),
            }
        }
    }
}

impl Wire {
    /// Opens a socket unless one is kept, sends a message, and waits for its answer. The status is that of the opening,
    /// 101 when it went well; the body is the answer. A kept socket that is found closed is not opened anew: what was
    /// said on it is lost, and the player knows.
    pub async fn converse(
        &self,
        kept: &mut Option<Socket>,
        mut timer: Pin<&mut Timer>,
        words: &Words<'_>,
    ) -> Exchanged {
        let mut exchanged = Exchanged { result: Err(Failure::Closed), tries: 0 };
        let stream = match kept.take() {
            Some(socket) => socket.wake().await.map_err(Refusal::Failed),
            None => self.open_socket(timer.as_mut(), words, &mut exchanged).await,
        };
        let spoken = match stream {
            Ok(stream) => self.speak(stream, timer, words, &mut exchanged.tries).await.map_err(Refusal::Failed),
            Err(refusal) => Err(refusal),
        };
        exchanged.result = match spoken {
            Ok((stream, answer)) => {
                *kept = Some(Socket::rest(stream));
                Ok(Answered::new(101, Vec::new(), (Body::Kept, Some(answer.into_bytes()))))
            }
            Err(Refusal::Answered(status)) => Ok(Answered::new(status, Vec::new(), (Body::Drained, None))),
            Err(Refusal::Failed(failure)) => Err(failure),
        };
        exchanged
    }

    async fn open_socket(
        &self,
        timer: Pin<&mut Timer>,
        words: &Words<'_>,
        exchanged: &mut Exchanged,
    ) -> Result<Stream, Refusal> {
        let scheme = if self.endpoint().speech.is_secure() { "wss" } else { "ws" };
        let road = connect_road(self.endpoint(), words.ask).await.map_err(Refusal::Failed)?;
        exchanged.tries = 1;
        (words.ask.told)(Stage::Sending);
        let request = upgrade(&self.text(words.greeting), scheme);
        let request = request.ok_or(Refusal::Failed(Failure::Rig(RigFault::Local)))?;
        let config = WebSocketConfig::default().read_buffer_size(READ_AT_ONCE).write_buffer_size(0);
        let config = config.max_message_size(Some(LONGEST_KEPT_BODY));
        let deadline = Deadline::new(timer, self.endpoint().timeout);
        let greeting = Box::pin(client_async_with_config(request, road, Some(config)));
        match within(deadline, async { Ok(greeting.await) }).await.map_err(Refusal::Failed)? {
            Ok((stream, _)) => Ok(stream),
            Err(Error::Http(answer)) => Err(Refusal::Answered(answer.status().as_u16())),
            Err(error) => Err(Refusal::Failed(why(&error))),
        }
    }

    async fn speak(
        &self,
        mut stream: Stream,
        timer: Pin<&mut Timer>,
        words: &Words<'_>,
        tries: &mut u16,
    ) -> Result<(Stream, String), Failure> {
        let message = words.message.map(|fill| self.text(fill));
        let deadline = Deadline::new(timer, self.endpoint().timeout);
        let said = Box::pin(async {
            if let Some(message) = message {
                *tries += 1;
                (words.ask.told)(Stage::Sending);
                stream.send(Message::text(message)).await.map_err(|error| why(&error))?;
            }
            match words.answer {
                Some(is_answer) => hear(&mut stream, is_answer).await,
                None => Ok(String::new()),
            }
        });
        let answer = within(deadline, said).await?;
        Ok((stream, answer))
    }
}

/// Why there is no socket.
enum Refusal {
    /// The opening was answered with another status than 101.
    Answered(u16),
    Failed(Failure),
}

/// Listens until the answer comes; other messages are passed over.
async fn hear(stream: &mut Stream, is_answer: &dyn Fn(&str) -> bool) -> Result<String, Failure> {
    loop {
        match stream.next().await {
            Some(Ok(Message::Text(text))) if is_answer(&text) => return Ok(text.to_string()),
            Some(Ok(Message::Close(_))) | None => return Err(Failure::Closed),
            Some(Ok(
                Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
            )) => {}
            Some(Err(error)) => return Err(why(&error)),
        }
    }
}

/// The request with what makes it an opening (RFC 6455, section 4.1).
fn upgrade(text: &str, scheme: &str) -> Option<Request<()>> {
    let (mut request, _) = read(text, scheme)?;
    let host = request.uri().authority()?.to_string();
    let key = generate_key();
    for (name, value) in [
        ("host", host.as_str()),
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", &key),
    ] {
        request.headers_mut().insert(name, HeaderValue::from_str(value).ok()?);
    }
    Some(request)
}

fn why(error: &Error) -> Failure {
    match error {
        Error::Io(error) => Failure::of_connection(error),
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(
            ProtocolError::ResetWithoutClosingHandshake
            | ProtocolError::HandshakeIncomplete
            | ProtocolError::SendAfterClosing
            | ProtocolError::ReceivedAfterClosing,
        ) => Failure::Closed,
        // An attempt at an attack is a head that goes on for longer than the library reads.
        Error::Capacity(CapacityError::MessageTooLong { .. } | CapacityError::TooManyHeaders)
        | Error::AttackAttempt => Failure::TooLong,
        _ => Failure::Malformed,
    }
}
