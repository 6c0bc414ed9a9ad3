//! TLS to a peer whose certificate is trusted because the scenario names it or who signed it.
//!
//! Sessions are never resumed: every connection pays for a whole handshake, as that of a player who comes for the first
//! time does. One of a list of trusted certificates may also be the peer's very own, self-signed: it is trusted then
//! whatever name it bears.

use std::io::{self, BufReader};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::failure::Failure;
use super::link::Road;

/// Why nobody can be trusted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TlsError {
    /// Nothing to trust.
    #[error("it holds no certificate in PEM (`-----BEGIN CERTIFICATE-----`)")]
    NoCertificate,
    /// One that cannot be read.
    #[error("its certificate {nth} cannot be read: {why}")]
    Certificate {
        /// From 1.
        nth: usize,
        /// In rustls's words.
        why: String,
    },
    /// A name that no certificate can bear.
    #[error("`{0}` is neither a host name nor an address")]
    Name(String),
    /// The cryptography refuses.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// TLS with one peer.
#[derive(Clone)]
pub(super) struct Tls {
    /// Offers both versions of HTTP, if both are wanted.
    any: TlsConnector,
    /// Offers HTTP/1.1 alone.
    old: TlsConnector,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Tls").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tls {
    /// Trusts the certificates of this PEM text, for a peer of this name.
    pub(super) fn trusting(certificates: &[u8], name: &str, http2: bool) -> Result<Self, TlsError> {
        let trust = Arc::new(Trust::in_these(certificates)?);
        let bare = name.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(bare).map_err(|_| TlsError::Name(name.to_owned()))?;
        let old = connector(&trust, &[b"http/1.1"])?;
        let any = if http2 { connector(&trust, &[b"h2", b"http/1.1"])? } else { old.clone() };
        Ok(Self { any, old, name })
    }

    /// Shakes hands over a connection; the answer says as well whether HTTP/2 was agreed on.
    pub(super) async fn shake(
        &self,
        road: Box<dyn Road>,
        http2: bool,
    ) -> Result<(TlsStream<Box<dyn Road>>, bool), Failure> {
        let connector = if http2 { &self.any } else { &self.old };
        let stream = connector.connect(self.name.clone(), road).await.map_err(|error| refused(&error))?;
        let agreed = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((stream, agreed))
    }
}

/// A handshake that the network broke is told apart from one that the two could not agree on.
fn refused(error: &io::Error) -> Failure {
    let disagreed = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()).is_some();
    if disagreed { Failure::Tls } else { Failure::of_connection(error) }
}

fn connector(trust: &Arc<Trust>, protocols: &[&[u8]]) -> Result<TlsConnector, TlsError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Setup)?;
    let verifier = Arc::clone(trust) as Arc<dyn ServerCertVerifier>;
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.resumption = rustls::client::Resumption::disabled();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Who is trusted.
#[derive(Debug)]
struct Trust {
    signers: Arc<WebPkiServerVerifier>,
    /// The trusted certificates themselves.
    known: Vec<CertificateDer<'static>>,
}

impl Trust {
    fn in_these(certificates: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        let mut known = Vec::new();
        let unreadable = |nth: usize, why: String| TlsError::Certificate { nth: nth + 1, why };
        for (nth, read) in CertificateDer::pem_reader_iter(BufReader::new(certificates)).enumerate() {
            let certificate = read.map_err(|why| unreadable(nth, why.to_string()))?;
            roots.add(certificate.clone()).map_err(|why| unreadable(nth, why.to_string()))?;
            known.push(certificate);
        }
        if known.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
        let signers = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let signers = signers.map_err(|why| TlsError::Setup(rustls::Error::General(why.to_string())))?;
        Ok(Self { signers, known })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.iter().any(|known| known == own) {
            return Ok(ServerCertVerified::assertion());
        }
        self.signers.verify_server_cert(own, between, name, stapled, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signers.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signers.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signers.supported_verify_schemes()
    }
}
