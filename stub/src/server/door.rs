//! Where connections come in: a listener, and a certificate if it speaks https too.
//!
//! A door with a certificate serves both: the first byte of a connection tells a TLS handshake from an HTTP request.
//! Each connection shakes hands in a task of its own, so that a slow one keeps nobody waiting.

use std::io;
use std::net::{SocketAddr, TcpListener as Listener};
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::spare::Spare;
use super::{PATIENCE, Rooms, connection};
use crate::tls::Leaf;

/// A listener that a stub takes connections from.
#[derive(Debug)]
pub struct Door {
    pub(crate) listener: Listener,
    pub(crate) leaf: Option<Leaf>,
    handshake: Duration,
}

/// What the first byte of a TLS handshake is (RFC 8446, section 5.1: `handshake(22)`).
const HANDSHAKE: u8 = 22;
/// How long a handshake may take. OpenSSL's servers have no bound of their own; nginx gives `ssl_handshake_timeout` 60 s,
/// and one on this machine takes milliseconds.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(10);

impl Door {
    /// One that speaks https, with this certificate, and plain http to those who do not shake hands.
    pub fn tls(listener: Listener, leaf: Leaf) -> Self {
        Self { leaf: Some(leaf), ..Self::from(listener) }
    }

    /// The same with another bound on how long a handshake may take; 10 s otherwise.
    #[must_use]
    pub fn with_handshake_within(self, handshake: Duration) -> Self {
        Self { handshake, ..self }
    }

    /// Its root, for clients.
    pub(crate) fn url(&self) -> io::Result<String> {
        let scheme = if self.leaf.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}", self.address()?))
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl From<Listener> for Door {
    fn from(listener: Listener) -> Self {
        Self { listener, leaf: None, handshake: LONGEST_HANDSHAKE }
    }
}

/// Takes connections until it is dropped; they end with it.
pub(super) async fn serve(door: Door, rooms: Rooms) {
    // It listens already and has been told not to block: nothing else can keep a runtime from taking it.
    let Ok(listener) = TcpListener::from_std(door.listener) else { return };
    let tls = door.leaf.map(|leaf| Tls { config: leaf.config, handshake: door.handshake });
    let mut spare = Spare::at(&listener);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(enter(stream, tls.clone(), rooms.clone()))),
                // Out of handles, most likely.
                Err(_) => spare.turn_away(&listener).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// How a door speaks TLS.
#[derive(Clone)]
struct Tls {
    config: Arc<ServerConfig>,
    handshake: Duration,
}

async fn enter(stream: TcpStream, tls: Option<Tls>, rooms: Rooms) {
    // Without it an answer may wait for the client's delayed acknowledgement; a failure costs only that.
    drop(stream.set_nodelay(true));
    let Some(Tls { config, handshake }) = tls else { return connection(stream, rooms).await };
    match timeout(PATIENCE, shakes_hands(&stream)).await {
        Ok(Ok(true)) => {
            // One that fails or takes too long was nobody's whom an answer would reach.
            if let Ok(Ok(stream)) = timeout(handshake, TlsAcceptor::from(config).accept(stream)).await {
                connection(stream, rooms).await;
            }
        }
        Ok(Ok(false)) => connection(stream, rooms).await,
        Ok(Err(_)) | Err(_) => {}
    }
}

async fn shakes_hands(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    let read = stream.peek(&mut first).await?;
    Ok(read == 1 && first[0] == HANDSHAKE)
}
