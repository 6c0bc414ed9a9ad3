//! One exchange: send a request, read its answer to the end, within the timeouts.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use floodrig_reports::recording::Spoken;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use super::answer::Answer;
use super::connect::{Connection, connect};
use super::deadline::{Deadline, Timer};
use super::failure::Failure;
use super::far::Network;
use super::link::{Link, Road};
use super::speech::Speech;
use super::stage::Stage;

/// Bytes read at once; one read takes a whole answer of the usual size.
const INBOUND: usize = 64 * 1024;

/// Where requests go, and how long they may take.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The peer.
    pub address: SocketAddr,
    /// How it is spoken to.
    pub speech: Speech,
    /// How long a handshake may take, that of TLS included.
    pub connect_timeout: Duration,
    /// How long an answer may take once connected.
    pub timeout: Duration,
}

/// Whether an answer's body is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Kept, up to 16 MiB; a longer one is dropped whole.
    Kept,
    /// Read to its end and dropped.
    Drained,
}

/// What is asked of an exchange.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Whether the body is wanted.
    pub body: Body,
    /// Whether the headers are.
    pub headers: bool,
    /// The local address a fresh connection is made from; nothing: the kernel's choice.
    pub source: Option<IpAddr>,
    /// What a fresh connection goes over.
    pub network: Network,
    /// Told how far the exchange has come, at once.
    pub told: &'a dyn Fn(Stage),
}

/// What an exchange came to.
#[derive(Debug)]
pub struct Exchanged {
    /// The answer, or what went wrong at the last try.
    pub result: Result<Answered, Failure>,
    /// Requests sent: 0 if no connection was made, 2 if the kept one had been closed.
    pub tries: u16,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answered {
    /// Its status.
    pub status: u16,
    /// Its headers that are text, if they were wanted.
    pub headers: Vec<(String, String)>,
    /// Its body, if it was wanted.
    pub body: Vec<u8>,
    /// It was wanted and was longer than is kept, so that nothing is left of it.
    pub too_long: bool,
}

impl Answered {
    /// An answer whose body was wanted or not, and was kept or not.
    pub(super) fn new(status: u16, headers: Vec<(String, String)>, (wanted, kept): (Body, Option<Vec<u8>>)) -> Self {
        let too_long = wanted == Body::Kept && kept.is_none();
        Self { status, headers, body: kept.unwrap_or_default(), too_long }
    }

    /// The first header of this name, in whatever case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// All exchanges of one thread with one peer. Its buffers are borrowed for the length of one poll only.
#[derive(Debug)]
pub struct Wire {
    endpoint: Endpoint,
    outbound: RefCell<String>,
    inbound: RefCell<Box<[u8]>>,
    spoken: Cell<Spoken>,
}

/// A connection for one try, where it is put back to, and the timer of whoever waits.
pub(super) struct Line<'a> {
    pub(super) connection: Connection,
    pub(super) kept: &'a mut Option<Connection>,
    pub(super) timer: Pin<&'a mut Timer>,
}

/// A try that failed, and whether any byte of an answer had come by then.
pub(super) struct Broken {
    pub(super) failure: Failure,
    pub(super) begun: bool,
}

impl Wire {
    /// A wire to `endpoint`.
    pub fn new(endpoint: Endpoint) -> Self {
        let inbound = RefCell::new(vec![0; INBOUND].into_boxed_slice());
        Self { endpoint, outbound: RefCell::default(), inbound, spoken: Cell::default() }
    }

    /// Connections made so far by what the peer chose on each, where it is left to choose.
    pub fn spoken(&self) -> Spoken {
        self.spoken.get()
    }

    /// Counts a connection just made, where the peer had a choice.
    pub(super) fn hear(&self, connection: &Connection) {
        if self.endpoint.speech.leaves_a_choice() {
            let mut spoken = self.spoken.get();
            spoken.count(connection.link.protocol());
            self.spoken.set(spoken);
        }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends what `fill` writes over the kept connection or a fresh one, and reads the answer. `fill` is called
    /// once a try, right before the send; `timer` is kept by who does one exchange after the other.
    pub async fn exchange(
        &self,
        kept: &mut Option<Connection>,
        mut timer: Pin<&mut Timer>,
        ask: Ask<'_>,
        fill: impl Fn(&mut String),
    ) -> Exchanged {
        let mut exchanged = Exchanged { result: Err(Failure::Closed), tries: 0 };
        if let Some(connection) = kept.take().and_then(Connection::if_idle) {
            exchanged.tries += 1;
            (ask.told)(Stage::Sending);
            match self.attempt(Line { connection, kept, timer: timer.as_mut() }, ask, &fill).await {
                Err(Broken { failure: Failure::Closed | Failure::Reset, begun: false }) => {}
                Err(broken) => return Exchanged { result: Err(broken.failure), ..exchanged },
                Ok(answered) => return Exchanged { result: Ok(answered), ..exchanged },
            }
        }
        match connect(&self.endpoint, ask).await {
            Err(failure) => Exchanged { result: Err(failure), ..exchanged },
            Ok(connection) => {
                self.hear(&connection);
                exchanged.tries += 1;
                (ask.told)(Stage::Sending);
                let line = Line { connection, kept, timer };
                let attempt = self.attempt(line, ask, &fill).await;
                Exchanged { result: attempt.map_err(|broken| broken.failure), ..exchanged }
            }
        }
    }

    /// One try on one connection, which is put back when it may be used again.
    pub(super) async fn attempt(
        &self,
        mut line: Line<'_>,
        ask: Ask<'_>,
        fill: impl Fn(&mut String),
    ) -> Result<Answered, Broken> {
        let mut answer = Answer::new(ask.body == Body::Kept, ask.headers);
        let deadline = Deadline::new(line.timer, self.endpoint.timeout);
        let talked = match &mut line.connection.link {
            Link::Plain(stream) => within(deadline, self.talk(stream, &mut answer, fill)).await,
            // Boxed, so that an act on a plain connection need not have room for them.
            Link::Wrapped(road) => within(deadline, Box::pin(self.talk_over(road, &mut answer, fill))).await,
            Link::Multiplexed(session) => {
                let text = self.text(fill);
                let exchanged = within(deadline, Box::pin(async { Ok(session.exchange(&text, ask).await) })).await;
                let answered = exchanged.unwrap_or_else(|failure| Err(Broken { failure, begun: true }))?;
                *line.kept = Some(line.connection);
                return Ok(answered);
            }
        };
        talked.map_err(|failure| Broken { failure, begun: answer.begun })?;
        *line.kept = answer.reusable.then_some(line.connection);
        let (status, headers) = (answer.status, std::mem::take(&mut answer.headers));
        Ok(Answered::new(status, headers, (ask.body, answer.into_body())))
    }

    async fn talk(
        &self,
        stream: &mut TcpStream,
        answer: &mut Answer,
        fill: impl Fn(&mut String),
    ) -> Result<(), Failure> {
        if let Some(rest) = self.send(stream, fill)? {
            stream.write_all(&rest).await.map_err(|error| Failure::of_connection(&error))?;
        }
        poll_fn(|context| self.poll_receive(context, stream, answer)).await
    }

    async fn talk_over(
        &self,
        road: &mut Box<dyn Road>,
        answer: &mut Answer,
        fill: impl Fn(&mut String),
    ) -> Result<(), Failure> {
        let text = self.text(fill);
        road.write_all(text.as_bytes()).await.map_err(|error| Failure::of_connection(&error))?;
        road.flush().await.map_err(|error| Failure::of_connection(&error))?;
        poll_fn(|context| self.poll_receive(context, road, answer)).await
    }

    /// A copy of a request, for whoever cannot take it in one go.
    pub(super) fn text(&self, fill: impl Fn(&mut String)) -> String {
        let mut outbound = self.outbound.borrow_mut();
        outbound.clear();
        fill(&mut outbound);
        outbound.clone()
    }

    /// Sends what the socket takes at once, nearly always all of it, and returns a copy of the rest.
    fn send(&self, stream: &TcpStream, fill: impl Fn(&mut String)) -> Result<Option<Vec<u8>>, Failure> {
        let mut outbound = self.outbound.borrow_mut();
        outbound.clear();
        fill(&mut outbound);
        let sent = match stream.try_write(outbound.as_bytes()) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => 0,
            sent => sent.map_err(|error| Failure::of_connection(&error))?,
        };
        Ok((sent < outbound.len()).then(|| outbound.as_bytes()[sent..].to_vec()))
    }

    fn poll_receive(
        &self,
        context: &mut Context<'_>,
        stream: &mut (impl AsyncRead + Unpin),
        answer: &mut Answer,
    ) -> Poll<Result<(), Failure>> {
        let mut inbound = self.inbound.borrow_mut();
        loop {
            let mut piece = ReadBuf::new(&mut inbound);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut piece));
            read.map_err(|error| Failure::of_connection(&error))?;
            if piece.filled().is_empty() {
                return Poll::Ready(if answer.ends_here() { Ok(()) } else { Err(Failure::Closed) });
            }
            if answer.feed(piece.filled())? {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

/// Waits for no longer than until the deadline.
pub(super) async fn within<T>(
    deadline: Deadline<'_>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let (mut deadline, mut work) = (deadline, pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(done),
        Poll::Pending => deadline.poll_over(context).map(|()| Err(Failure::Timeout)),
    })
    .await
}
