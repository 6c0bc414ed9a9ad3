//! Certificates made on the spot, for clients that insist on https: an authority of one's own, and leaves for the
//! names that a stub is called by.
//!
//! A client is pointed at the authority's PEM by `SSL_CERT_FILE`, `NODE_EXTRA_CA_CERTS` or `REQUESTS_CA_BUNDLE`; its
//! private key never leaves this value.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A name that no certificate can bear, or no key could be made.
    #[error("no certificate could be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The certificate cannot be served.
    #[error("the certificate cannot be served: {0}")]
    Serving(#[from] rustls::Error),
}

/// A certificate authority that lasts as long as this value.
#[derive(Debug)]
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate for some names, signed by an authority, and everything that serving it takes.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// The certificate, as PEM.
    pub certificate_pem: String,
    /// Its private key, as PEM (PKCS #8).
    pub key_pem: String,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) authority: CertificateDer<'static>,
}

impl Authority {
    /// Makes one, with a fresh key.
    pub fn make() -> Result<Self, TlsError> {
        let mut params = CertificateParams::default();
        // Other than its leaves are called: OpenSSL takes one whose issuer has its own name for self-signed.
        params.distinguished_name.push(DnType::CommonName, "floodrig stub's authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        // Strict clients, such as Python since 3.13, want to see what its key is for.
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// Its certificate, as PEM: what clients have to trust.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// The same, as DER.
    pub fn der(&self) -> &[u8] {
        self.0.der()
    }

    /// Makes a certificate for hosts, each a name or an IP address.
    pub fn issue(&self, hosts: &[impl AsRef<str>]) -> Result<Leaf, TlsError> {
        let hosts: Vec<String> = hosts.iter().map(|host| host.as_ref().to_owned()).collect();
        let mut params = CertificateParams::new(hosts)?;
        params.distinguished_name.push(DnType::CommonName, "floodrig stub");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.0)?;
        Ok(Leaf {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            config: serving(certificate.der(), &key)?,
            authority: self.0.der().clone(),
        })
    }
}

fn serving(certificate: &CertificateDer<'static>, key: &KeyPair) -> Result<Arc<ServerConfig>, TlsError> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config =
        ServerConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions()?;
    let mut config = config.with_no_client_auth().with_single_cert(vec![certificate.clone()], key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
