//! A bench over TLS, in HTTP/1.1 and HTTP/2, against Node's own servers, which count for themselves.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};

use super::*;
use crate::certificate::Certificate;

/// Answers until its standard input ends, and then says how many requests of each version came over how many sessions.
const SERVER: &str = r"
const fs = require('fs');
const [, kind, folder] = process.argv;
const file = (name) => fs.readFileSync(`${folder}/${name}`);
const files = { key: file('key.pem'), cert: file('certificate.pem'), allowHTTP1: true };
const requests = {};
let sessions = 0;
const answer = (request, response) => {
  requests[request.httpVersion] = (requests[request.httpVersion] ?? 0) + 1;
  response.end('ok');
};
const server = kind === 'https'
  ? require('https').createServer(files, answer)
  : require('http2').createSecureServer(files, answer);
server.on('secureConnection', () => { sessions += 1; });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => {
  console.log(JSON.stringify({ requests, sessions }));
  process.exit();
});
";

/// A server whose certificate bears the name `localhost`; it ends when it is asked for its counts, or dropped.
struct Secure {
    node: Child,
    said: BufReader<ChildStdout>,
    port: u16,
    certificate: Certificate,
}

impl Secure {
    /// Of Node's module `https` or `http2`; the latter speaks both versions.
    fn serve(kind: &str) -> Self {
        let certificate = Certificate::of("localhost");
        let mut node = Command::new("node");
        node.args(["-e", SERVER, kind]).arg(certificate.folder()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut node = node.spawn().expect("node starts");
        let mut said = BufReader::new(node.stdout.take().expect("its output"));
        let port = line(&mut said).trim().parse().expect("its port");
        Self { node, said, port, certificate }
    }

    /// How many requests of each version it answered, and over how many sessions.
    fn counted(mut self) -> Value {
        drop(self.node.stdin.take());
        serde_json::from_str(&line(&mut self.said)).expect("its counts")
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        drop(self.node.stdin.take());
        let ended = self.node.wait();
        assert!(thread::panicking() || ended.is_ok_and(|status| status.success()), "node ends well");
    }
}

fn line(said: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    said.read_line(&mut line).expect("node speaks");
    line
}

fn over_tls(server: &Secure, host: &str, ca: &Certificate, more: &[&str]) -> Output {
    let url = format!("https://{host}:{}/", server.port);
    let ca = ca.authority();
    bench(&[&[url.as_str(), "--ca", ca.to_str().expect("UTF-8"), "--json"], more].concat())
}

#[test]
fn under_tls_every_request_is_counted_by_the_server_in_the_best_version_that_both_speak() {
    for (kind, asks, spoken) in [
        ("https", &[][..], "1.1"),
        ("https", &["--http2"], "1.1"),
        ("http2", &[], "1.1"),
        ("http2", &["--http2"], "2.0"),
    ] {
        let server = Secure::serve(kind);
        let more = [&["--connections", "4", "--duration", "300ms"], asks].concat();
        let output = over_tls(&server, "localhost", &server.certificate, &more);
        let act = summary(&output)["acts"]["bench"].clone();
        let counted = server.counted();
        let count = counted["requests"][spoken].as_u64();
        assert!(count.is_some_and(|count| count > 4), "{kind} {asks:?}: {counted}, {act}");
        assert_eq!((act["planned"].as_u64(), act["ok"].as_u64()), (count, count), "{kind} {asks:?}: {act}");
        assert_eq!(act["response_us"]["count"].as_u64(), count);
        assert_eq!(counted["requests"].as_object().map(serde_json::Map::len), Some(1), "{kind} {asks:?}: {counted}");
        assert_eq!(counted["sessions"], 4, "{kind} {asks:?}");
        assert!(!said(&output).contains("help: "), "{}", said(&output));
    }
}

#[test]
fn under_tls_an_open_loop_sends_as_many_as_its_rate_says() {
    for (asks, spoken) in [(&[][..], "1.1"), (&["--http2"], "2.0")] {
        let server = Secure::serve("http2");
        let more = [&["--rate", "200", "--duration", "500ms"], asks].concat();
        let output = over_tls(&server, "localhost", &server.certificate, &more);
        let act = &summary(&output)["acts"]["bench"];
        assert_eq!((act["planned"].as_u64(), act["ok"].as_u64()), (Some(100), Some(100)), "{asks:?}: {act}");
        assert_eq!(server.counted()["requests"], serde_json::json!({ spoken: 100 }), "{asks:?}");
    }
}

#[test]
fn a_certificate_that_is_not_trusted_fails_every_request_and_what_to_do_is_said() {
    let stranger = Certificate::of("localhost");
    for (kind, host, trusts_another) in [("https", "localhost", true), ("http2", "127.0.0.1", false)] {
        let server = Secure::serve(kind);
        let ca = if trusts_another { &stranger } else { &server.certificate };
        let output = over_tls(&server, host, ca, &["--connections", "2", "--duration", "200ms", "--http2"]);
        let act = summary(&output)["acts"]["bench"].clone();
        let planned = act["planned"].as_u64().expect("a count");
        assert!(planned >= 2 && act["outcomes"]["tls_failed"].as_u64() == Some(planned), "{act}");
        let help = format!(
            "{planned} of {planned} requests found no TLS session\nhelp: --ca has to hold the server's own certificate, \
             or that of who signed it; one that was signed has to bear the name `{host}`"
        );
        assert!(said(&output).contains(&help), "{}", said(&output));
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert_eq!(server.counted()["requests"], serde_json::json!({}));
    }
}

#[test]
fn a_server_without_tls_fails_every_request_of_an_https_bench() {
    let (address, received) = counting();
    let certificate = Certificate::of("localhost");
    let (url, ca) = (format!("https://{address}/"), certificate.authority());
    let output =
        bench(&[&url, "--ca", ca.to_str().expect("UTF-8"), "--connections", "1", "--duration", "200ms", "--json"]);
    let act = &summary(&output)["acts"]["bench"];
    assert_eq!(act["planned"], act["outcomes"]["tls_failed"], "{act}");
    assert!(received.load(Ordering::SeqCst) > 0 && said(&output).contains("found no TLS session"), "{}", said(&output));
    assert!(said(&output).contains("help: the server speaks HTTP without TLS: write http://"), "{}", said(&output));
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
}

#[test]
fn a_server_under_tls_fails_every_request_of_an_http_bench_and_what_to_do_is_said() {
    for kind in ["https", "http2"] {
        let server = Secure::serve(kind);
        let output = bench(&[&format!("http://127.0.0.1:{}/", server.port), "--duration", "200ms", "--json"]);
        assert_eq!(summary(&output)["acts"]["bench"]["ok"], 0);
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(said(&output).contains("help: the server speaks TLS: write https://"), "{}", said(&output));
    }
}
