//! Certificates for the servers of tests: one that an authority has signed for a name.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

/// A folder with `certificate.pem`, its `key.pem`, and `authority.pem`, which a client has to trust.
#[derive(Debug)]
pub(crate) struct Certificate {
    folder: TempDir,
}

impl Certificate {
    pub(crate) fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut params = CertificateParams::new(["authority".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let leaf = CertificateParams::new([name.to_owned()]).expect("a name");
        let leaf = leaf.signed_by(&key, &authority).expect("a certificate");
        let files =
            [("authority.pem", authority.pem()), ("certificate.pem", leaf.pem()), ("key.pem", key.serialize_pem())];
        for (file, text) in files {
            fs::write(folder.path().join(file), text).expect("it is written");
        }
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}
