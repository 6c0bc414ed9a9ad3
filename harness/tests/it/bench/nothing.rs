//! A bench in which nothing succeeds is no pass, and says what to do.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use super::*;

/// A server that gives its answers in turn, on each connection anew. Its threads end with their connections.
fn answering(answers: Vec<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answers = answers.clone();
            thread::spawn(move || {
                for answer in answers.iter().cycle() {
                    let asked = stream.read(&mut [0; 4096]);
                    if !matches!(asked, Ok(1..)) || stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// A bench of two connections, and the acts in its summary.
fn of(address: SocketAddr, more: &[&str]) -> (Output, Value) {
    let url = format!("http://{address}/play");
    let output = bench(&[&[url.as_str(), "--connections", "2", "--duration", "200ms", "--json"], more].concat());
    let summary = summary(&output);
    (output, summary)
}

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_bench_in_which_nothing_succeeds_is_invalid_and_says_what_to_do() {
    let unanswerable = "220 smtp.example ESMTP\r\n";
    let redirect = "HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: /login\r\n\r\n";
    for (answer, class, help) in [
        (NOT_FOUND, "status_4xx", "the server answers 404: there is nothing at `/play`: write the path that it serves"),
        (redirect, "status_3xx", "the server answers 302: redirects are not followed"),
        (unanswerable, "malformed", "what listens there speaks neither HTTP nor TLS"),
    ] {
        let (output, summary) = of(answering(vec![answer]), &[]);
        let act = &summary["acts"]["bench"];
        assert!(act["planned"].as_u64() > Some(0) && act["outcomes"][class] == act["planned"], "{act}");
        assert_eq!((output.status.code(), &summary["verdict"]), (Some(4), &"invalid".into()), "{answer}");
        let reason = summary["invalid_because"].to_string();
        assert!(reason.contains(&format!("not one act succeeded ({class} ")), "{reason}");
        let planned = act["planned"].as_u64().unwrap_or_default();
        let words = format!("none of {planned} requests succeeded\nhelp: {help}");
        assert!(said(&output).contains(&words), "{}", said(&output));
    }
}

#[test]
fn a_server_of_the_other_version_is_told_by_asking_it() {
    let (output, summary) = of(answering(vec![OK]), &["--http2"]);
    assert_eq!((output.status.code(), &summary["acts"]["bench"]["ok"]), (Some(4), &0.into()));
    assert!(said(&output).contains("help: the server speaks HTTP/1.1: leave --http2 out"), "{}", said(&output));
}

#[test]
fn of_a_bench_in_which_some_fail_they_are_counted_by_class_and_no_advice_is_given() {
    let (output, summary) = of(answering(vec![OK, NOT_FOUND]), &[]);
    let act = &summary["acts"]["bench"];
    assert!(act["ok"].as_u64() > Some(0) && act["outcomes"]["status_4xx"].as_u64() > Some(0), "{act}");
    assert!(!summary["invalid_because"].to_string().contains("not one act"), "{summary}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("What did not succeed") && text.contains("status_4xx"), "{text}");
    assert!(!said(&output).contains("help: "), "{}", said(&output));
}
