//! For tests: a server on a real socket that treats each request as roughly as it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// How a request is treated.
#[derive(Debug, Clone)]
pub(crate) enum Manner {
    /// Answered with these pieces, each sent by itself.
    Answer(Vec<String>),
    /// Answered after this long.
    Slowly(Duration, String),
    /// Answered, and the connection closed.
    Last(String),
    /// The connection is closed without a word.
    Close,
    /// The connection is reset.
    Reset,
    /// Never answered.
    Hang,
}

/// Which request of which connection, each counted from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Which {
    pub(crate) connection: u64,
    pub(crate) request: u64,
}

/// The server; it stops listening when it is dropped.
pub(crate) struct Rough {
    pub(crate) address: SocketAddr,
    /// Requests received.
    pub(crate) requests: Arc<AtomicU64>,
    stopping: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

/// A 200 with this body.
pub(crate) fn ok(body: &str) -> String {
    answer("200 OK", body)
}

/// An answer with this status line and body.
pub(crate) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// An address where nobody listens, held so that nobody else comes to.
pub(crate) struct Nobody {
    pub(crate) address: SocketAddr,
    _held: Socket,
}

/// Takes an address and does not listen.
pub(crate) fn nobody() -> Nobody {
    let held = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    held.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    Nobody { address: held.local_addr().unwrap().as_socket().unwrap(), _held: held }
}

/// A listener that has room for one connection in its queue, and that connection.
pub(crate) struct FullQueue {
    listener: Socket,
    _waiting: Socket,
}

impl FullQueue {
    pub(crate) fn new() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let waiting = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        waiting.connect(&listener.local_addr().unwrap()).unwrap();
        Self { listener, _waiting: waiting }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap().as_socket().unwrap()
    }

    /// Makes room, and answers the next connection once it has asked.
    pub(crate) fn accept_and_answer(&self) {
        self.accept_and_say(&ok(""));
    }

    /// The same in these words; none: until the other side has gone.
    pub(crate) fn accept_and_say(&self, answer: &str) {
        let _first = self.listener.accept().unwrap();
        let late = TcpStream::from(self.listener.accept().unwrap().0);
        assert!(read_request(&late).is_some());
        (&late).write_all(answer.as_bytes()).unwrap();
        if answer.is_empty() {
            assert!(read_request(&late).is_none());
        }
    }
}

/// A server of one thread that stands still once, for so long, from an instant after its first request on.
pub(crate) struct Freezing {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Freezing {
    pub(crate) fn serve(still: Duration, after: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        // Whoever comes in the freeze waits in the queue, of which std makes room for 128.
        SockRef::from(&listener).listen(4096).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build_local(tokio::runtime::LocalOptions::default()).unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = freeze_once(&listener, still, after) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Freezing {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn freeze_once(listener: &tokio::net::TcpListener, still: Duration, after: Duration) {
    let mut freeze = None;
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        freeze.get_or_insert_with(|| {
            tokio::task::spawn_local(async move {
                tokio::time::sleep(after).await;
                thread::sleep(still);
            })
        });
        tokio::task::spawn_local(async move {
            let mut request = [0; 4096];
            // A request of these tests comes in one piece.
            while let Ok(1..) = stream.read(&mut request).await {
                if stream.write_all(ok("").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Waits until the condition holds, for a test that would otherwise depend on who is faster.
#[expect(clippy::disallowed_methods, reason = "a bound for a test that would hang")]
pub(crate) fn eventually(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "it never came to hold");
        thread::sleep(Duration::from_millis(1));
    }
}

impl Rough {
    /// Starts a server that asks `manner` what to do with each request.
    pub(crate) fn serve(manner: impl Fn(Which) -> Manner + Send + Sync + 'static) -> Self {
        Self::site(move |which, _| manner(which))
    }

    /// Starts a server that treats each request by its head.
    pub(crate) fn site(manner: impl Fn(Which, &str) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, stopping) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stop, manner) = (Arc::clone(&requests), Arc::clone(&stopping), Arc::new(manner));
        let acceptor = thread::spawn(move || {
            for (connection, stream) in (0..).zip(listener.incoming()) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (count, manner) = (Arc::clone(&count), Arc::clone(&manner));
                thread::spawn(move || attend(&stream.unwrap(), connection, &count, &*manner));
            }
        });
        Self { address, requests, stopping, acceptor: Some(acceptor) }
    }

    /// Every request gets the same treatment.
    pub(crate) fn always(manner: Manner) -> Self {
        Self::serve(move |_| manner.clone())
    }

    /// Requests received so far.
    pub(crate) fn received(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Rough {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
        self.acceptor.take().unwrap().join().unwrap();
    }
}

/// Serves one connection until either side is done with it.
fn attend(mut stream: &TcpStream, connection: u64, requests: &AtomicU64, manner: &dyn Fn(Which, &str) -> Manner) {
    stream.set_nodelay(true).unwrap();
    for request in 0.. {
        let Some(head) = read_request(stream) else { return };
        requests.fetch_add(1, Ordering::SeqCst);
        let pieces = match manner(Which { connection, request }, &head) {
            Manner::Answer(pieces) => pieces,
            Manner::Slowly(pause, text) => {
                thread::sleep(pause);
                vec![text]
            }
            Manner::Last(text) => return drop(stream.write_all(text.as_bytes())),
            Manner::Close => return,
            Manner::Reset => return SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap(),
            Manner::Hang => return drop(stream.read(&mut [0])),
        };
        for piece in pieces {
            // A client that has gone is found out at the next read.
            drop(stream.write_all(piece.as_bytes()));
        }
    }
}

/// Reads a head and its `content-length` bytes of body, and returns the head; nothing when the client has gone.
fn read_request(mut stream: &TcpStream) -> Option<String> {
    let (mut text, mut piece, mut whole) = (Vec::new(), vec![0; 64 * 1024], None);
    while whole.is_none_or(|whole| text.len() < whole) {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(len) => text.extend_from_slice(&piece[..len]),
        }
        whole = whole.or_else(|| length(&text));
    }
    let head = text.split(|byte| *byte == b'\n').take_while(|line| line.len() > 1).flatten();
    Some(String::from_utf8(head.copied().collect()).unwrap())
}

/// The length of a request whose head is there.
fn length(text: &[u8]) -> Option<usize> {
    let head = text.windows(4).position(|window| window == b"\r\n\r\n")?;
    let lines = std::str::from_utf8(&text[..head]).unwrap();
    let body = lines.lines().find_map(|line| line.strip_prefix("content-length: "));
    Some(head + 4 + body.map_or(0, |length| length.parse().unwrap()))
}
