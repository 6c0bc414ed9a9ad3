//! For tests: a server versed in TLS and HTTP/2, out of the libraries' own other halves.

use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::server::SendResponse;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use socket2::{SockRef, Socket};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::link::Road;
use super::rough::ok;

/// How a request is treated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// Answered with this status and as many bytes.
    Answer(u16, usize),
    /// Answered with 200 after a word ahead of it (103, RFC 8297).
    EarlyHints,
    /// The stream is refused: nothing was done.
    Refuse,
    /// The stream is reset in the middle of it.
    ResetStream,
    /// The connection is closed with a word.
    GoAway,
    /// Answered with 200, as the last on its connection: what has begun on it still ends.
    Goodbye,
    /// The connection is closed without a word, whatever has begun on it.
    Cut,
    /// Answered with 200 after this long.
    Late(Duration),
    /// Never answered.
    Hang,
    /// As the first on its connection: nothing is ever said on it, not even a greeting.
    Mute,
    /// As the first on its connection, under TLS: HTTP/2 is not spoken on it.
    Older,
}

/// A certificate, its key, and what a client has to trust.
pub(crate) struct Identity {
    pub(crate) trusted: String,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A certificate that vouches for itself, as `openssl req -x509` makes it: for an authority and by the way for a name.
    pub(crate) fn of_its_own(name: &str) -> Self {
        let issuer = authority(name);
        let key = PrivateKeyDer::try_from(issuer.key().serialize_der()).unwrap();
        Self { trusted: issuer.pem(), certificate: issuer.der().clone(), key }
    }

    /// A certificate for this name that an authority has signed.
    pub(crate) fn signed(name: &str) -> Self {
        let issuer = authority("authority");
        let pair = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&pair, &issuer).unwrap();
        let key = PrivateKeyDer::try_from(pair.serialize_der()).unwrap();
        Self { trusted: issuer.pem(), certificate: certificate.der().clone(), key }
    }

    fn acceptor(self, protocols: &[&str]) -> TlsAcceptor {
        let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = builder.with_single_cert(vec![self.certificate], self.key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// The server; it stops when it is dropped.
pub(crate) struct Versed {
    pub(crate) address: SocketAddr,
    /// Connections accepted.
    pub(crate) connections: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Which request on which connection, both counted from 0; the first of each is asked for once more, before the greeting.
type Manner = Arc<dyn Fn(u64, u64) -> Way + Send + Sync>;

impl Versed {
    /// HTTP/2 in plain.
    pub(crate) fn plain(manner: impl Fn(u64, u64) -> Way + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(manner))
    }

    /// TLS, with one of these protocols (ALPN); whoever does not ask for HTTP/2 is answered with the protocol's name.
    pub(crate) fn secure(
        identity: Identity,
        protocols: &[&str],
        manner: impl Fn(u64, u64) -> Way + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Some(identity.acceptor(protocols)), Arc::new(manner))
    }

    fn serve(tls: Option<TlsAcceptor>, manner: Manner) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&connections);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = accept(&listener, tls, manner, &count) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, connections, stop: Some(stop), thread: Some(thread) }
    }

    /// Connections accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Versed {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn accept(listener: &TcpListener, tls: Option<TlsAcceptor>, manner: Manner, count: &AtomicU64) {
    // A socket that is closed with something unread resets the connection, and a last word is not heard for it.
    let mut held = Vec::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        held.push(SockRef::from(&stream).try_clone().unwrap());
        let nth = count.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(greet(stream, tls.clone(), Arc::clone(&manner), nth));
    }
}

async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>, manner: Manner, nth: u64) {
    let first = manner(nth, 0);
    if first == Way::Mute {
        return std::future::pending().await;
    }
    let socket = SockRef::from(&stream).try_clone().unwrap();
    let Some(tls) = tls else { return multiplex((Box::new(stream), socket), manner, nth).await };
    let tls = if first == Way::Older { without_http2(&tls) } else { tls };
    // A client that does not trust it hangs up.
    let Ok(stream) = tls.accept(stream).await else { return };
    match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => multiplex((Box::new(stream), socket), manner, nth).await,
        other => {
            let name = String::from_utf8_lossy(other.unwrap_or_default()).into_owned();
            one_after_the_other(Box::new(stream), &name).await;
        }
    }
}

fn without_http2(tls: &TlsAcceptor) -> TlsAcceptor {
    let mut config = ServerConfig::clone(tls.config());
    config.alpn_protocols.clear();
    TlsAcceptor::from(Arc::new(config))
}

async fn one_after_the_other(mut road: Box<dyn Road>, body: &str) {
    let mut request = [0; 4096];
    // A request of these tests comes in one piece.
    while let Ok(1..) = road.read(&mut request).await {
        if road.write_all(ok(body).as_bytes()).await.is_err() || road.flush().await.is_err() {
            return;
        }
    }
}

async fn multiplex((road, socket): (Box<dyn Road>, Socket), manner: Manner, connection: u64) {
    let Ok(mut streams) = h2::server::handshake(road).await else { return };
    let mut request = 0;
    // A stream that is let go of is reset.
    let mut held = Vec::new();
    while let Some(Ok((asked, respond))) = streams.accept().await {
        match manner(connection, request) {
            Way::GoAway => {
                held.push(respond);
                streams.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
            }
            Way::Cut => {
                socket.shutdown(Shutdown::Both).unwrap();
                return;
            }
            Way::Goodbye => {
                streams.graceful_shutdown();
                drop(tokio::spawn(treat(asked.into_body(), respond, Way::Answer(200, 0))));
            }
            way => drop(tokio::spawn(treat(asked.into_body(), respond, way))),
        }
        request += 1;
    }
}

async fn treat(mut body: h2::RecvStream, mut respond: SendResponse<Bytes>, way: Way) {
    while let Some(Ok(piece)) = body.data().await {
        body.flow_control().release_capacity(piece.len()).unwrap();
    }
    match way {
        Way::Answer(status, length) => answer(respond, status, length),
        Way::EarlyHints => {
            respond.send_informational(http::Response::builder().status(103).body(()).unwrap()).unwrap();
            answer(respond, 200, 5);
        }
        Way::Late(after) => {
            tokio::time::sleep(after).await;
            answer(respond, 200, 0);
        }
        Way::Refuse => respond.send_reset(Reason::REFUSED_STREAM),
        Way::ResetStream => respond.send_reset(Reason::INTERNAL_ERROR),
        Way::GoAway | Way::Goodbye | Way::Cut | Way::Mute | Way::Older => unreachable!("a matter of the connection"),
        Way::Hang => std::future::pending().await,
    }
}

fn answer(mut respond: SendResponse<Bytes>, status: u16, length: usize) {
    let head = http::Response::builder().status(status).body(()).unwrap();
    let mut stream = respond.send_response(head, length == 0).unwrap();
    if length > 0 {
        stream.send_data(vec![b'x'; length].into(), true).unwrap();
    }
}
