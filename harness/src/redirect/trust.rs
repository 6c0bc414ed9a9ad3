//! The certificate of a stub that is `api.telegram.org` for everybody, and how programs come to trust it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use floodrig_stub::tls::{Authority, Leaf};
use floodrig_stub::{Door, Stub};

use super::java;
use crate::system::preload;

/// Where the name leads.
const HTTPS: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 443);
/// Variables whose file stands in the place of a program's roots: OpenSSL and Go, Python's requests, curl.
const REPLACING: [&str; 3] = ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
/// Variables whose file is added to them: Node and Bun, Deno.
const ADDING: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
/// The system's roots: Debian, Fedora, openSUSE, Alpine (those that Go looks for, `crypto/x509/root_linux.go`).
const ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The stub's certificate as `api.telegram.org`, and its authority's.
#[derive(Debug)]
pub(super) struct Trust {
    leaf: Leaf,
    authority: Authority,
}

impl Trust {
    pub(super) fn make() -> io::Result<Self> {
        let authority = Authority::make().map_err(io::Error::other)?;
        let leaf = authority.issue(&["api.telegram.org"]).map_err(io::Error::other)?;
        Ok(Self { leaf, authority })
    }

    /// The stub takes connections where the name leads.
    pub(super) fn open(&self, stub: &Stub) -> io::Result<()> {
        stub.open(Door::tls(TcpListener::bind(HTTPS)?, self.leaf.clone()))
    }

    /// Writes the roots that each variable is to name, the user's own among them, into the folder.
    pub(super) fn put_into(&self, env: &mut BTreeMap<String, String>, folder: &Path) -> io::Result<()> {
        let system = || ROOTS.iter().map(PathBuf::from).find(|path| path.exists());
        for (names, otherwise) in [(&REPLACING[..], system()), (&ADDING[..], None)] {
            for name in names {
                let roots = preload::own(env, name).map(PathBuf::from).or_else(|| otherwise.clone());
                let path = folder.join(format!("{name}.pem"));
                let roots = roots.map(fs::read_to_string).transpose()?.unwrap_or_default();
                fs::write(&path, format!("{roots}\n{}", self.authority.pem()))?;
                env.insert((*name).to_owned(), path.display().to_string());
            }
        }
        let store = folder.join("trust.jks");
        fs::write(&store, java::trust_store(self.authority.der()))?;
        env.insert(java::OPTIONS.to_owned(), java::options(preload::own(env, java::OPTIONS), &store));
        Ok(())
    }
}
