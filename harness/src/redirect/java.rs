//! How a JVM comes to trust the stub: by a trust store of its own kind, named by the one variable that every JVM reads.
//! It knows none of the variables that name certificates. PURE.

use std::path::Path;

/// Options here are obeyed by every JVM, before those of its command line
/// (<https://docs.oracle.com/en/java/javase/21/troubleshoot/environment-variables-and-system-properties.html>).
pub(super) const OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// The kind of store that all versions read and that holds certificates as they are, `sun.security.provider.JavaKeyStore`:
/// its magic number, its version, and the mark of a certificate that is trusted.
const MAGIC: u32 = 0xfeed_feed;
const VERSION: u32 = 2;
const TRUSTED: u32 = 2;
/// Where the SHA-1 of a password and the rest would stand, which is not read where no password is given.
const DIGEST: [u8; 20] = [0; 20];

/// A store that holds this certificate (DER) alone: nothing else can be reached from where it is of use.
pub(super) fn trust_store(authority: &[u8]) -> Vec<u8> {
    let mut store = Vec::new();
    for word in [MAGIC, VERSION, 1, TRUSTED] {
        store.extend(word.to_be_bytes());
    }
    text(&mut store, "floodrig");
    // When it was made, in milliseconds since 1970; nobody asks.
    store.extend(0_u64.to_be_bytes());
    text(&mut store, "X.509");
    store.extend((authority.len() as u32).to_be_bytes());
    store.extend(authority);
    store.extend(DIGEST);
    store
}

/// As `DataOutput.writeUTF` writes ASCII.
fn text(store: &mut Vec<u8>, text: &str) {
    store.extend((text.len() as u16).to_be_bytes());
    store.extend(text.as_bytes());
}

/// The user's own options and behind them those that name the store; of two that set the same, the later one is obeyed.
pub(super) fn options(own: Option<String>, store: &Path) -> String {
    let property = |name: &str, value: &str| format!("\"-Djavax.net.ssl.trustStore{name}={value}\"");
    let ours = [("", store.display().to_string().as_str()), ("Type", "JKS"), ("Password", "")]
        .map(|(name, value)| property(name, value));
    own.into_iter().chain(ours).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_read_as_java_writes_it() {
        let head =
            b"\xfe\xed\xfe\xed\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\x08floodrig\0\0\0\0\0\0\0\0\0\x05X.509\0\0\0\x03abc";
        assert_eq!(trust_store(b"abc"), [head.as_slice(), &DIGEST].concat());
    }

    #[test]
    fn the_users_own_options_stay_and_ours_are_behind_them() {
        assert_eq!(
            options(Some("-Xmx64m".to_owned()), Path::new("/a b/trust.jks")),
            "-Xmx64m \"-Djavax.net.ssl.trustStore=/a b/trust.jks\" \"-Djavax.net.ssl.trustStoreType=JKS\" \
             \"-Djavax.net.ssl.trustStorePassword=\""
        );
    }
}
