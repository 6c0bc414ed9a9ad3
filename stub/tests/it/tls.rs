//! The stub over https: a certificate made on the spot, trusted by whoever trusts its authority.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use floodrig_stub::tls::{Authority, Leaf};
use floodrig_stub::{Door, Limits, Stub};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::client::{Client, PATIENCE, TOKEN, free, quick};

pub(crate) type Secured = StreamOwned<ClientConnection, TcpStream>;

pub(crate) fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A connection to 127.0.0.1 as somebody who calls it `name` and trusts that authority.
fn connected(stub: &Stub, name: &str, authority: &Authority) -> Secured {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), tcp(stub))
}

fn tcp(stub: &Stub) -> TcpStream {
    let stream = TcpStream::connect(stub.url().trim_start_matches("https://")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[expect(clippy::disallowed_methods, reason = "the test is the caller whose epoch it is")]
fn secured(limits: Limits, leaf: Leaf) -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    floodrig_stub::start(limits, Door::tls(listener, leaf), Instant::now(), 7).unwrap()
}

/// One request on a connection of its own, and the body of its answer.
fn asked(stream: &mut (impl Read + Write), head: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let length = body.len();
    write!(stream, "{head}\r\nHost: stub\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n")?;
    stream.write_all(body)?;
    stream.flush()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    Ok(answer.split_off(at + 4))
}

fn called(stream: &mut (impl Read + Write), call: &str) -> Value {
    let body = asked(stream, &format!("POST /bot{TOKEN}/{call} HTTP/1.1"), b"").unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn every_name_of_the_certificate_is_answered_to_whoever_trusts_its_authority() {
    let authority = Authority::make().unwrap();
    let stub = secured(quick(), authority.issue(&["localhost", "127.0.0.1", "api.telegram.org"]).unwrap());
    assert!(stub.url().starts_with("https://127.0.0.1:"), "{}", stub.url());
    for name in ["localhost", "127.0.0.1", "api.telegram.org"] {
        assert_eq!(called(&mut connected(&stub, name, &authority), "getMe")["result"]["id"], 123_456);
    }
    let refused = |name, authority| asked(&mut connected(&stub, name, authority), "GET / HTTP/1.1", b"").is_err();
    assert!(refused("example.org", &authority), "a name that is not in the certificate");
    assert!(refused("localhost", &Authority::make().unwrap()), "an authority that did not sign it");
}

#[test]
fn the_same_port_speaks_plain_http_too() {
    let authority = Authority::make().unwrap();
    let stub = secured(quick(), authority.issue(&["localhost"]).unwrap());
    assert_eq!(called(&mut tcp(&stub), "getMe")["ok"], true);
}

#[test]
fn a_stub_takes_connections_at_one_more_door() {
    let authority = Authority::make().unwrap();
    let (stub, other) = (crate::client::stub(quick()), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = other.local_addr().unwrap();
    stub.open(Door::tls(other, authority.issue(&["localhost"]).unwrap())).unwrap();
    Client::of(&stub).result("sendMessage", &json!({ "chat_id": 5, "text": "a" }));
    let stream = TcpStream::connect(address).unwrap();
    let config = connected(&secured(quick(), authority.issue(&["localhost"]).unwrap()), "localhost", &authority);
    let (connection, _) = config.into_parts();
    let mut stream = StreamOwned::new(connection, stream);
    let counts = asked(&mut stream, "GET /_stub/counts HTTP/1.1", b"").unwrap();
    let counts: Value = serde_json::from_slice(&counts).unwrap();
    assert_eq!(counts["result"]["by_method"]["sendMessage"]["calls"], 1, "both doors lead into one world");
}

#[test]
fn three_megabytes_go_up_and_come_down_byte_for_byte() {
    let authority = Authority::make().unwrap();
    let stub = secured(free(), authority.issue(&["localhost"]).unwrap());
    let connect = || connected(&stub, "localhost", &authority);
    let bytes: Vec<u8> = (0..3_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut form = b"--edge\r\nContent-Disposition: form-data; name=\"document\"; filename=\"a.bin\"\r\n\r\n".to_vec();
    form.extend(&bytes);
    form.extend(b"\r\n--edge--\r\n");
    let head =
        format!("POST /bot{TOKEN}/sendDocument?chat_id=5 HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=edge");
    let sent: Value = serde_json::from_slice(&asked(&mut connect(), &head, &form).unwrap()).unwrap();
    let file = sent["result"]["document"]["file_id"].as_str().unwrap();
    let path = called(&mut connect(), &format!("getFile?file_id={file}"))["result"]["file_path"].clone();
    let head = format!("GET /file/bot{TOKEN}/{} HTTP/1.1", path.as_str().unwrap());
    assert!(asked(&mut connect(), &head, b"").unwrap() == bytes, "other bytes came back");
}

#[test]
fn a_handshake_that_never_ends_keeps_nobody_waiting() {
    let authority = Authority::make().unwrap();
    let stub = secured(quick(), authority.issue(&["localhost"]).unwrap());
    let silent: Vec<TcpStream> = (0..50).map(|_| tcp(&stub)).collect();
    let begun: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = tcp(&stub);
            // The head of a record of 512 bytes that never come.
            stream.write_all(&[22, 3, 1, 2, 0]).unwrap();
            stream
        })
        .collect();
    assert_eq!(called(&mut connected(&stub, "localhost", &authority), "getMe")["ok"], true);
    drop((silent, begun));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test is the caller whose epoch it is")]
fn a_handshake_that_takes_too_long_ends_the_connection() {
    let authority = Authority::make().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let door = Door::tls(listener, authority.issue(&["localhost"]).unwrap());
    let door = door.with_handshake_within(Duration::from_millis(20));
    let stub = floodrig_stub::start(quick(), door, Instant::now(), 7).unwrap();
    let mut stream = tcp(&stub);
    stream.write_all(&[22, 3, 1, 2, 0]).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it ends without a word");
}

#[test]
fn a_handshake_that_is_none_ends_the_connection() {
    let authority = Authority::make().unwrap();
    let stub = secured(quick(), authority.issue(&["localhost"]).unwrap());
    let mut stream = tcp(&stub);
    stream.write_all(&[22, 0, 0, 0, 0, 0, 0]).unwrap();
    let mut alert = Vec::new();
    // It says why in an alert of TLS, or ends at once.
    drop(stream.read_to_end(&mut alert));
    assert!(alert.len() < 100, "{alert:?}");
    assert_eq!(called(&mut connected(&stub, "localhost", &authority), "getMe")["ok"], true);
}

#[test]
fn a_name_that_no_certificate_can_bear_is_an_error() {
    assert!(Authority::make().unwrap().issue(&["café.example"]).is_err());
}
