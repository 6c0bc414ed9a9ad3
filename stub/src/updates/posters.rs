//! The clients that post to webhooks: one for http, one for https, and one for each certificate that a bot uploaded.
//!
//! Whom to trust follows the server (`SslCtx.cpp` of <https://github.com/tdlib/td>): an uploaded certificate in place
//! of everything else, otherwise the roots of this machine, and here the stub's own authority with them.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::pinned::Pinned;

pub(super) type Poster = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The certificates that a bot uploaded with its webhook.
pub(crate) type Uploaded = Arc<[CertificateDer<'static>]>;

/// Every client that was needed so far.
#[derive(Debug, Default)]
pub(super) struct Posters {
    usual: OnceLock<Poster>,
    /// How many authorities the one for https trusts, so that it is made anew when there are more.
    trusting: Option<(usize, Poster)>,
    own: HashMap<Uploaded, Poster>,
}

/// Clients with certificates of their own that are kept; a bot has one.
const MOST_OWN: usize = 1000;

impl Posters {
    /// The client for a webhook; `authorities` are the stub's own.
    pub(super) fn of(
        &mut self,
        url: &str,
        uploaded: Option<&Uploaded>,
        authorities: &[CertificateDer<'static>],
    ) -> Poster {
        if !url.starts_with("https:") {
            return self.usual.get_or_init(|| poster(trusting(RootCertStore::empty()))).clone();
        }
        match uploaded {
            Some(uploaded) => self.own(uploaded),
            None => self.trusting(authorities),
        }
    }

    fn own(&mut self, uploaded: &Uploaded) -> Poster {
        if let Some(poster) = self.own.get(uploaded) {
            return poster.clone();
        }
        if self.own.len() == MOST_OWN {
            self.own.clear();
        }
        let poster = poster(pinning(uploaded));
        self.own.insert(uploaded.clone(), poster.clone());
        poster
    }

    fn trusting(&mut self, authorities: &[CertificateDer<'static>]) -> Poster {
        match &self.trusting {
            Some((count, poster)) if *count == authorities.len() => poster.clone(),
            Some(_) | None => {
                let poster = poster(trusting(roots(authorities)));
                self.trusting = Some((authorities.len(), poster.clone()));
                poster
            }
        }
    }
}

/// The roots of this machine and these; one that cannot be read is none.
fn roots(authorities: &[CertificateDer<'static>]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots.add_parsable_certificates(authorities.iter().cloned());
    roots
}

fn poster(config: ClientConfig) -> Poster {
    let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().build();
    Client::builder(TokioExecutor::new()).http1_title_case_headers(true).build(connector)
}

fn trusting(roots: RootCertStore) -> ClientConfig {
    client().with_root_certificates(roots).with_no_client_auth()
}

fn pinning(uploaded: &Uploaded) -> ClientConfig {
    let pinned = Arc::new(Pinned::new(uploaded.clone(), Arc::new(default_provider())));
    client().dangerous().with_custom_certificate_verifier(pinned).with_no_client_auth()
}

fn client() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the versions that are usual")
}

/// Why a webhook could not be reached, in the words of getWebhookInfo.
pub(super) fn in_words(error: &(dyn Error + 'static)) -> String {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(says) = said(error) {
            return says.to_owned();
        }
        // What an I/O error carries is no source of it.
        let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = carried.map_or_else(|| error.source(), |carried| Some(carried));
    }
    "Webhook connection closed".to_owned()
}

/// The words are those of OpenSSL 3, as bots see them (<https://github.com/tdlib/telegram-bot-api/issues/746>).
fn said(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(match error {
            rustls::Error::InvalidCertificate(_) => {
                "SSL error {error:0A000086:SSL routines::certificate verify failed}"
            }
            rustls::Error::InvalidMessage(_) => "SSL error {error:0A00010B:SSL routines::wrong version number}",
            _ => "SSL error {error:0A000126:SSL routines::unexpected eof while reading}",
        });
    }
    match error.downcast_ref::<io::Error>()?.kind() {
        io::ErrorKind::ConnectionRefused => Some("Connection refused"),
        io::ErrorKind::ConnectionReset => Some("Connection reset by peer"),
        io::ErrorKind::TimedOut => Some("Connection timed out"),
        _ => None,
    }
}
