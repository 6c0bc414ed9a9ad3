//! How a peer is spoken to: in plain or under TLS, in HTTP/1.1 or HTTP/2.

use super::tls::{Tls, TlsError};

/// How a peer is spoken to. By default in plain HTTP/1.1, which costs nothing beyond the socket.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    pub(super) tls: Option<Tls>,
    /// Under TLS it is offered and the peer chooses (ALPN); without, the peer is known to speak it (RFC 9113, section 3.3).
    pub(super) http2: bool,
}

impl Speech {
    /// HTTP/1.1, or HTTP/2 where it is asked for; under TLS when there are certificates to trust: PEM text, and the name
    /// that the peer's own has to bear.
    pub fn new(trust: Option<(&[u8], &str)>, http2: bool) -> Result<Self, TlsError> {
        let tls = trust.map(|(certificates, name)| Tls::trusting(certificates, name, http2)).transpose()?;
        Ok(Self { tls, http2 })
    }

    /// Whether nothing stands between the socket and HTTP/1.1.
    pub fn is_plain(&self) -> bool {
        self.tls.is_none() && !self.http2
    }

    /// Whether it is under TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether it is HTTP/2, or under TLS may be.
    pub(crate) fn has_http2(&self) -> bool {
        self.http2
    }

    /// Whether the peer chooses the version.
    pub(super) fn leaves_a_choice(&self) -> bool {
        self.tls.is_some() && self.http2
    }
}
