//! The URL that the rig is pointed at: `http[s]://host[:port][/path][?query]`, and nothing beyond this machine by accident.

use std::net::{SocketAddr, ToSocketAddrs as _};

use crate::drive::Target;

/// Where requests go, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    /// Host and port as they stand in the URL.
    authority: String,
    /// Whether it is spoken to under TLS.
    pub(crate) is_secure: bool,
    /// Path and query.
    pub(crate) path: String,
}

impl Url {
    /// Reads it, or says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let secure = text.strip_prefix("https://");
        let rest = secure.or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or("a URL begins with http:// or https://, such as http://127.0.0.1:8080/")?;
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.is_empty() || authority.contains('@') {
            return Err("a URL names a host and perhaps a port, such as http://127.0.0.1:8080/".to_owned());
        }
        if let Some(bad) = path.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(format!("the path holds {bad:?}, which has to be percent-encoded"));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { authority: authority.to_owned(), is_secure: secure.is_some(), path: format!("{slash}{path}") })
    }

    /// The address it stands for; one beyond this machine only where that is allowed.
    pub(crate) fn target(&self, any_host: bool) -> Result<Target, String> {
        let with_port = if self.has_port() {
            self.authority.clone()
        } else {
            format!("{}:{}", self.authority, if self.is_secure { 443 } else { 80 })
        };
        let found =
            with_port.to_socket_addrs().map_err(|cause| format!("no address of {}: {cause}", self.authority))?;
        let mut addresses: Vec<SocketAddr> = found.filter(|address| any_host || address.ip().is_loopback()).collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        if addresses.iter().any(|address| address.port() == 0) {
            return Err(format!("{} names port 0, where nobody can listen", self.authority));
        }
        let beyond = || format!("{} is beyond this machine; --allow-host lets it be", self.authority);
        let address = addresses.first().copied().ok_or_else(beyond)?;
        Ok(Target { address, host: self.authority.clone() })
    }

    /// The host alone, as its certificate names it.
    pub(crate) fn host(&self) -> &str {
        let end = if self.has_port() { self.authority.rfind(':') } else { None };
        self.authority[..end.unwrap_or(self.authority.len())].trim_matches(['[', ']'])
    }

    /// A colon inside the brackets of an IPv6 address is none of a port.
    fn has_port(&self) -> bool {
        let after = self.authority.rsplit(']').next().unwrap_or_default();
        after.contains(':')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, String), String> {
        Url::parse(text).and_then(|url| Ok((url.target(false)?.address.to_string(), url.path)))
    }

    #[test]
    fn host_port_path_and_query_are_told_apart() {
        for (text, address, path) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "/"),
            ("http://127.0.0.9/a/b?c=d#e", "127.0.0.9:80", "/a/b?c=d"),
            ("http://[::1]:81?q", "[::1]:81", "/?q"),
            ("http://[::1]/", "[::1]:80", "/"),
            ("https://127.0.0.1/a", "127.0.0.1:443", "/a"),
            ("https://127.0.0.1:8443", "127.0.0.1:8443", "/"),
        ] {
            assert_eq!(read(text), Ok((address.to_owned(), path.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_host_is_what_a_certificate_bears() {
        for (text, host) in [
            ("https://localhost", "localhost"),
            ("https://localhost:1/x", "localhost"),
            ("https://[::1]:1/", "::1"),
            ("https://[::1]/", "::1"),
        ] {
            assert_eq!(Url::parse(text).unwrap().host(), host);
        }
    }

    #[test]
    fn what_is_no_url_is_said() {
        for (text, says) in [
            ("localhost:80", "begins with http://"),
            ("ftp://127.0.0.1/", "begins with http://"),
            ("http:///x", "names a host"),
            ("http://me@127.0.0.1/", "names a host"),
            ("http://127.0.0.1/a b", "percent-encoded"),
            ("http://127.0.0.1:port/", "no address"),
            ("http://127.0.0.1:0/", "port 0"),
        ] {
            assert!(read(text).unwrap_err().contains(says), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn nothing_leaves_this_machine_unless_it_is_let() {
        let url = Url::parse("http://192.0.2.1:8080/").unwrap();
        assert!(url.target(false).unwrap_err().contains("--allow-host"));
        assert_eq!(url.target(true).unwrap().address.to_string(), "192.0.2.1:8080");
    }
}
