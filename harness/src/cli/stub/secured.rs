//! The certificates of a stub that speaks https, as files for its clients.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use floodrig_stub::tls::{Authority, Leaf, TlsError};
use tempfile::TempDir;

use super::super::refused::Refused;

/// What every certificate is for: this machine, and what a client that was not told otherwise calls Telegram.
const HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "api.telegram.org"];

/// A certificate, and the folder that its files are in.
pub(super) struct Secured {
    pub(super) leaf: Leaf,
    /// The authority's certificate.
    pub(super) authority: PathBuf,
    /// Removed with this value, unless it was asked for by name.
    folder: Option<TempDir>,
}

impl Secured {
    /// Makes a certificate for these hosts too, and writes its files into the folder, or into one that passes away.
    pub(super) fn make(hosts: &[String], folder: Option<&Path>) -> Result<Self, Refused> {
        let authority = Authority::make().map_err(Refused::failed)?;
        let all: Vec<&str> = HOSTS.into_iter().chain(hosts.iter().map(String::as_str)).collect();
        let unnamed =
            |cause: TlsError| Refused::usage(cause, "give --host a name or an IP address, as in bot.example.org");
        let leaf = authority.issue(&all).map_err(unnamed)?;
        let unwritten = |cause: io::Error| {
            let says = format_args!("could not write the certificates: {cause}");
            Refused::usage(says, "name a folder that you may write into with --tls-files")
        };
        let passing = if folder.is_none() { Some(passing().map_err(unwritten)?) } else { None };
        let place = folder.or(passing.as_ref().map(TempDir::path)).unwrap_or(Path::new("."));
        let place = put(place, &authority, &leaf).map_err(unwritten)?;
        Ok(Self { leaf, authority: place.join("ca.pem"), folder: passing })
    }

    /// How clients come to trust it, and how long the files are there.
    pub(super) fn advice(&self) -> String {
        let path = self.authority.display();
        let until = if self.folder.is_some() { "until the stub ends" } else { "and stay there" };
        format!(
            "clients trust it with SSL_CERT_FILE, NODE_EXTRA_CA_CERTS (Node) or REQUESTS_CA_BUNDLE (Python's requests) set \
             to\n  {path}\nbeside it are cert.pem and key.pem for a webhook's own server, {until}"
        )
    }
}

fn passing() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("floodrig-stub-").tempdir()
}

/// Writes the files; the folder by its full name, since clients run elsewhere.
fn put(folder: &Path, authority: &Authority, leaf: &Leaf) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    fs::write(folder.join("ca.pem"), authority.pem())?;
    fs::write(folder.join("cert.pem"), &leaf.certificate_pem)?;
    let key = folder.join("key.pem");
    // A key that is there already may be readable for others: the new one must not be.
    match fs::remove_file(&key) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        Ok(()) | Err(_) => {}
    }
    let mut key = OpenOptions::new().write(true).create_new(true).mode(0o600).open(key)?;
    key.write_all(leaf.key_pem.as_bytes())?;
    Ok(folder)
}
