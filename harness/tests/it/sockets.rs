//! A journey over the `WebSocket` of a system under TLS, which tells what it was told.

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use futures_util::{SinkExt as _, StreamExt as _};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::protocol::Message;

use crate::certificate::Certificate;
use crate::rig::Rig;

/// The messages that came, by any socket, in the order in which they came.
type Heard = Arc<Mutex<Vec<String>>>;

/// Answers each message with itself and how many came before it on its socket. It ends with the test's process.
fn serve(certificate: &Certificate) -> (SocketAddr, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let address = listener.local_addr().expect("an address");
    let (acceptor, heard) = (acceptor(certificate), Heard::default());
    let told = Arc::clone(&heard);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(attend(stream, acceptor.clone(), Arc::clone(&told)));
            }
        });
    });
    (address, heard)
}

fn acceptor(certificate: &Certificate) -> TlsAcceptor {
    let file = |name| certificate.folder().join(name);
    let own = CertificateDer::from_pem_file(file("certificate.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(file("key.pem")).expect("a key");
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    TlsAcceptor::from(Arc::new(builder.with_single_cert(vec![own], key).expect("a pair")))
}

/// One who only looks whether somebody listens hangs up before any handshake.
async fn attend(stream: TcpStream, acceptor: TlsAcceptor, heard: Heard) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let Ok(mut socket) = accept_async(stream).await else { return };
    let mut nth = 0;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        heard.lock().expect("the messages").push(text.to_string());
        let answer = serde_json::json!({ "nth": nth, "said": text.as_str() }).to_string();
        if socket.send(Message::text(answer)).await.is_err() {
            return;
        }
        nth += 1;
    }
}

/// Everybody says who they are and, over the same socket, what they were answered.
fn talking(address: SocketAddr) -> Rig {
    talking_and(address, "")
}

/// With one more key of the system.
fn talking_and(address: SocketAddr, key: &str) -> Rig {
    Rig::new(&format!(
        r#"
name = "sockets"
[system]
url = "https://{address}"
tls = {{ ca = "authority.pem" }}
http2 = true
{key}
[crowd]
groups = 4
players_per_group = 5
settle = "1s"
idle = "0s"
[[journey]]
name = "talk"
arrive.burst.over = "500ms"
steps = [
  {{ act = "join", websocket = "/live", text = "I am {{player.id}}", answer = {{ pointer = "/nth", equals = "0" }}, capture = {{ said = "/said" }} }},
  {{ act = "repeat", websocket = "/live", text = "you heard: {{said}}", answer = {{ contains = "heard: I am {{player.id}}" }}, think = "100ms" }},
]
"#
    ))
}

#[test]
fn on_order_bare_connects_watch_what_speaks_tls_too() {
    let certificate = Certificate::of("127.0.0.1");
    let rig = talking_and(serve(&certificate).0, "outside = \"often\"");
    fs::copy(certificate.authority(), rig.path().join("authority.pem")).expect("it is copied");
    let summary = rig.run().ended(0).complete().summary();
    let connects = summary["observations"]["bare_connects"].to_string();
    assert!(connects.contains("active: made 20 times a second"), "{connects}");
    assert!(summary["system"]["stalls"].is_u64(), "{}", summary["system"]);
}

#[test]
fn messages_and_their_answers_go_through_tls() {
    let certificate = Certificate::of("127.0.0.1");
    let (address, heard) = serve(&certificate);
    let rig = talking(address);
    fs::copy(certificate.authority(), rig.path().join("authority.pem")).expect("it is copied");
    let left = rig.run().ended(0).complete();
    let acts = left.summary()["acts"].clone();
    let connects = left.summary()["observations"]["bare_connects"].to_string();
    assert!(connects.contains("inactive: the system speaks TLS, and servers log"), "{connects}");
    let planned = acts["join"]["planned"].as_u64().expect("a count");
    assert!(planned > 4, "{acts}");
    for act in ["join", "repeat"] {
        assert_eq!((acts[act]["planned"].as_u64(), acts[act]["ok"].as_u64()), (Some(planned), Some(planned)), "{acts}");
    }
    // Each player's own; the look before the load is one player's as well.
    let heard: BTreeSet<String> = heard.lock().expect("the messages").drain(..).collect();
    let count = |begins: &str| heard.iter().filter(|text| text.starts_with(begins)).count() as u64;
    assert_eq!((count("I am "), count("you heard: I am ")), (planned, planned), "{heard:?}");
}
