//! Webhooks over https: whom the stub trusts, and what it says of whom it does not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use floodrig_stub::tls::{Authority, Leaf};
use floodrig_stub::{Door, Stub};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};
use crate::tls::provider;

/// A bot's server that takes one update over https; it listens on, so that a second try hangs rather than fails.
struct Receiver {
    listener: TcpListener,
    url: String,
    certificate: String,
    taken: JoinHandle<std::io::Result<Value>>,
}

impl Receiver {
    fn showing(certificate: String, key: &str) -> Self {
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}/hook", listener.local_addr().unwrap().port());
        let accepts = listener.try_clone().unwrap();
        Self { listener, url, certificate, taken: std::thread::spawn(move || take_one(&accepts, config)) }
    }

    fn of(leaf: &Leaf) -> Self {
        Self::showing(leaf.certificate_pem.clone(), &leaf.key_pem)
    }

    /// One that made its certificate itself, for the name under which the world knows it.
    fn self_signed() -> Self {
        let made = rcgen::generate_simple_self_signed(["bot.example".to_owned()]).unwrap();
        Self::showing(made.cert.pem(), &made.signing_key.serialize_pem())
    }
}

fn take_one(listener: &TcpListener, config: Arc<ServerConfig>) -> std::io::Result<Value> {
    let (stream, _) = listener.accept()?;
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
    Ok(serde_json::from_slice(&body)?)
}

/// setWebhook with a certificate beside it.
fn set_with(client: &mut Client, url: &str, field: &str, certificate: &str) -> Value {
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"url\"\r\n\r\n{url}\r\n--edge\r\nContent-Disposition: \
         form-data; name=\"{field}\"; filename=\"cert.pem\"\r\n\r\n{certificate}\r\n--edge--\r\n"
    );
    client.post("setWebhook", "multipart/form-data; boundary=edge", body).json()
}

fn last_error(client: &mut Client) -> String {
    loop {
        let info = client.result("getWebhookInfo", &json!({}));
        if let Some(says) = info["last_error_message"].as_str() {
            return says.to_owned();
        }
        std::thread::yield_now();
    }
}

fn written(stub: &Stub) {
    stub.write(TOKEN, 5, 5, "hello").unwrap();
}

#[test]
fn a_certificate_that_was_uploaded_is_taken_for_what_it_is() {
    let stub = stub(free());
    let receiver = Receiver::self_signed();
    let mut client = Client::of(&stub);
    let set = set_with(&mut client, &receiver.url, "certificate", &receiver.certificate);
    assert_eq!(set["description"], "Webhook was set");
    assert_eq!(client.result("getWebhookInfo", &json!({}))["has_custom_certificate"], true);
    written(&stub);
    assert_eq!(receiver.taken.join().unwrap().unwrap()["message"]["text"], "hello");
}

#[test]
fn an_uploaded_authority_vouches_for_what_it_signed() {
    let stub = stub(free());
    let authority = Authority::make().unwrap();
    let receiver = Receiver::of(&authority.issue(&["localhost"]).unwrap());
    set_with(&mut Client::of(&stub), &receiver.url, "certificate", &authority.pem());
    written(&stub);
    assert_eq!(receiver.taken.join().unwrap().unwrap()["message"]["text"], "hello");
}

#[test]
fn a_certificate_of_the_stubs_own_authority_needs_no_upload() {
    let stub = stub(free());
    let authority = Authority::make().unwrap();
    let leaf = authority.issue(&["localhost"]).unwrap();
    stub.open(Door::tls(TcpListener::bind("127.0.0.1:0").unwrap(), leaf.clone())).unwrap();
    let receiver = Receiver::of(&leaf);
    Client::of(&stub).result("setWebhook", &json!({ "url": receiver.url }));
    written(&stub);
    assert_eq!(receiver.taken.join().unwrap().unwrap()["message"]["text"], "hello");
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_in_the_words_of_openssl() {
    let stub = stub(free());
    let receiver = Receiver::self_signed();
    let mut client = Client::of(&stub);
    client.result("setWebhook", &json!({ "url": receiver.url }));
    written(&stub);
    assert_eq!(last_error(&mut client), "SSL error {error:0A000086:SSL routines::certificate verify failed}");
    assert!(receiver.taken.join().unwrap().is_err(), "nothing was handed over");
    drop(receiver.listener);
}

#[test]
fn another_certificate_than_the_uploaded_one_is_refused() {
    let stub = stub(free());
    let (receiver, other) = (Receiver::self_signed(), Receiver::self_signed());
    let mut client = Client::of(&stub);
    set_with(&mut client, &receiver.url, "certificate", &other.certificate);
    written(&stub);
    assert_eq!(last_error(&mut client), "SSL error {error:0A000086:SSL routines::certificate verify failed}");
    assert!(receiver.taken.join().unwrap().is_err(), "nothing was handed over");
    drop(receiver.listener);
}

#[test]
fn a_server_that_speaks_plain_http_is_told_apart() {
    let stub = stub(free());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let mut client = Client::of(&stub);
    client.result("setWebhook", &json!({ "url": url }));
    written(&stub);
    let (mut stream, _) = listener.accept().unwrap();
    let greeted = stream.read(&mut [0; 1024]).unwrap();
    assert!(greeted > 0);
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert_eq!(last_error(&mut client), "SSL error {error:0A00010B:SSL routines::wrong version number}");
}

#[test]
fn a_webhook_where_nobody_listens_is_refused() {
    let stub = stub(free());
    let free_port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut client = Client::of(&stub);
    client.result("setWebhook", &json!({ "url": format!("https://127.0.0.1:{free_port}/") }));
    written(&stub);
    assert_eq!(last_error(&mut client), "Connection refused");
}

#[test]
fn what_is_no_certificate_is_refused_at_once() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for nonsense in ["", "no certificate", "-----BEGIN CERTIFICATE-----\r\n!\r\n-----END CERTIFICATE-----"] {
        let set = set_with(&mut client, "https://127.0.0.1:1/", "certificate", nonsense);
        let says = "Bad Request: bad webhook: Failed to set custom certificate file";
        assert_eq!((&set["error_code"], &set["description"]), (&json!(400), &json!(says)), "{nonsense}");
    }
    assert_eq!(client.result("getWebhookInfo", &json!({}))["url"], "", "nothing is set then");
}
