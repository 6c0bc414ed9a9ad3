//! The stub alone, as scripts start it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};

use crate::rig::kill;

fn started(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_floodrig"))
        .arg("stub")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the stub starts")
}

fn ended(arguments: &[&str]) -> Output {
    started(arguments).wait_with_output().expect("the stub ends")
}

fn first_line(stub: &mut Child) -> String {
    let mut line = String::new();
    let out = stub.stdout.as_mut().expect("its output is piped");
    BufReader::new(out).read_line(&mut line).expect("it says its URL");
    line
}

fn get(authority: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(authority).expect("it listens where it says");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n").expect("it is asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn the_first_line_is_the_url_where_any_bot_is_answered_until_ctrl_c() {
    let mut stub = started(&["--port", "0", "--answer-time", "0ms"]);
    let line = first_line(&mut stub);
    let authority = line.trim_end().strip_prefix("http://").expect("a URL alone on the line");
    for bot in [1, 7_000_000_001_u64] {
        let answer = get(authority, &format!("/bot{bot}:AAFakeToken/getMe"));
        assert!(answer.contains(&format!(r#"{{"ok":true,"result":{{"id":{bot},"is_bot":true"#)), "{answer}");
    }
    kill(stub.id(), "INT");
    let output = stub.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("2 calls answered"), "{said}");
}

#[test]
fn a_port_already_taken_names_its_holder_and_the_way_out() {
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("an address").port();
    let output = ended(&["--port", &port.to_string()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("pid {}", std::process::id())) && said.contains("--port 0"), "{said}");
}
