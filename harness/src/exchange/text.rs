//! Requests as HTTP/1.1 text: one for a single look, and any read back for those who send it in another form, so that
//! what goes out is written once.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};

/// The most header lines of a request.
const MOST_HEADERS: usize = 100;

/// Asks for a path once: its connection ends with the answer.
pub fn get_once(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

/// The request that this text is, for a peer of this scheme, and its body. Its host is in its address alone.
pub(super) fn read(text: &str, scheme: &str) -> Option<(Request<()>, Bytes)> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(len) = head.parse(text.as_bytes()).ok()? else { return None };
    let host = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"))?;
    let uri = Uri::builder().scheme(scheme).authority(host.value).path_and_query(head.path?).build().ok()?;
    let mut request = Request::new(());
    (*request.method_mut(), *request.uri_mut()) = (Method::from_bytes(head.method?.as_bytes()).ok()?, uri);
    for header in head.headers.iter().filter(|header| !header.name.eq_ignore_ascii_case("host")) {
        let name = HeaderName::from_bytes(header.name.as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(header.value).ok()?);
    }
    Some((request, Bytes::copy_from_slice(&text.as_bytes()[len..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_for_one_version_is_sent_by_the_other() {
        let text = "POST /a?b=c HTTP/1.1\r\nhost: here:81\r\nX-It: 1\r\ncontent-length: 2\r\n\r\nhi";
        let (request, body) = read(text, "https").unwrap();
        let (method, uri) = (request.method().as_str(), request.uri().to_string());
        assert_eq!((method, uri.as_str()), ("POST", "https://here:81/a?b=c"));
        assert_eq!((request.headers()["x-it"].as_bytes(), request.headers().len()), (&b"1"[..], 2));
        assert_eq!(&body[..], b"hi");
    }

    #[test]
    fn what_is_no_request_is_not_sent() {
        for text in ["", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nhost: a\r\n"] {
            assert!(read(text, "http").is_none(), "{text:?}");
        }
    }
}
