//! What a peer speaks, found out by asking in one way after the other: for words to whoever has asked it in the wrong
//! one. Nothing is measured by it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::glance::{TOO_LONG, glance};
use super::speech::Speech;

/// What a peer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// TLS, and below it whatever it may be.
    Tls,
    /// HTTP/1.1 in plain.
    Http1,
    /// HTTP/2 in plain, and not HTTP/1.1.
    Http2,
}

/// Asks with a request as HTTP/1.1 text; nothing: the peer understands none of the three. Each connect and each answer
/// may take as long as `within`.
pub fn detect(address: SocketAddr, request: &str, within: Duration) -> Option<Detected> {
    // A server under TLS may well answer a plain request with a status, and a plain one no hello.
    if shakes_hands(address, within).unwrap_or(false) {
        return Some(Detected::Tls);
    }
    let understands =
        |http2| Speech::new(None, http2).is_ok_and(|speech| is_understood(&glance(address, &speech, request, within)));
    [(false, Detected::Http1), (true, Detected::Http2)]
        .into_iter()
        .find(|(http2, _)| understands(*http2))
        .map(|(_, it)| it)
}

/// Whether what came of a request was an answer, be it one that is longer than is read.
fn is_understood(looked: &io::Result<u16>) -> bool {
    looked.as_ref().map_or_else(|error| error.kind() == TOO_LONG, |_| true)
}

/// Whether a hello of TLS is answered in TLS, be it with a certificate or with a refusal. Nobody is trusted by it.
fn shakes_hands(address: SocketAddr, within: Duration) -> io::Result<bool> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let config = builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hello = async {
        let stream = TcpStream::connect(address).await?;
        connector.connect(ServerName::from(address.ip()), stream).await
    };
    let shaken = runtime.block_on(async { timeout(within, hello).await })?;
    Ok(shaken.map_or_else(|error| is_of_tls(&error), |_| true))
}

/// Whether the peer can be told to speak TLS by why no session came of it.
fn is_of_tls(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    cause.is_some_and(|cause| !matches!(cause, rustls::Error::InvalidMessage(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::rough::{Manner, Rough, nobody, ok};
    use crate::exchange::versed::{Identity, Versed, Way};

    /// Longer than any answer of these servers takes.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn of(address: SocketAddr, within: Duration) -> Option<Detected> {
        detect(address, "GET / HTTP/1.1\r\nhost: a\r\n\r\n", within)
    }

    #[test]
    fn what_a_peer_speaks_is_found_out() {
        let plain = Rough::serve(|_| Manner::Last(ok("")));
        // It waits for the end of a head that a hello does not have.
        assert_eq!(of(plain.address, Duration::from_millis(300)), Some(Detected::Http1));
        let wordy = Rough::always(Manner::Last(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(2000))));
        assert_eq!(of(wordy.address, PATIENCE), Some(Detected::Http1));
        let secure = Versed::secure(Identity::signed("localhost"), &["http/1.1"], |_, _| Way::Answer(200, 0));
        assert_eq!(of(secure.address, PATIENCE), Some(Detected::Tls));
        let newer = Versed::plain(|_, _| Way::Answer(200, 0));
        assert_eq!(of(newer.address, PATIENCE), Some(Detected::Http2));
        let other = Rough::always(Manner::Last("220 smtp.example ESMTP\r\n".to_owned()));
        assert_eq!(of(other.address, Duration::from_millis(300)), None);
        assert_eq!(of(nobody().address, PATIENCE), None);
    }
}
