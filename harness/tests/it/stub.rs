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

#[test]
fn a_journal_has_a_line_of_every_call_when_ctrl_c_has_ended_the_stub() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("calls.jsonl");
    let path = file.to_str().expect("a path that is text");
    let mut stub = started(&["--port", "0", "--answer-time", "0ms", "--journal", path]);
    let line = first_line(&mut stub);
    let authority = line.trim_end().strip_prefix("http://").expect("a URL");
    get(authority, "/bot7:AAFakeToken/getMe");
    get(authority, "/bot7:AAFakeToken/sendMessage?chat_id=5&text=secret");
    kill(stub.id(), "INT");
    let output = stub.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(&format!("2 calls are in {path}")), "{said}");
    let written = std::fs::read_to_string(&file).expect("the journal");
    let lines: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(lines[1]["method"], "sendMessage");
    assert_eq!((&lines[1]["chat"], &lines[1]["bot"], &lines[1]["status"]), (&5.into(), &7.into(), &200.into()));
    assert!(!written.contains("FakeToken") && !written.contains("secret"), "{written}");
}

#[test]
fn a_journal_that_cannot_be_written_is_told_before_anything_starts() {
    let output = ended(&["--port", "0", "--journal", "/nowhere/calls.jsonl"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("/nowhere/calls.jsonl") && output.stdout.is_empty(), "{said}");
}

#[test]
fn with_tls_the_second_line_is_an_authority_that_is_gone_with_the_stub() {
    let mut stub = started(&["--port", "0", "--tls", "--host", "bot.example"]);
    let out = BufReader::new(stub.stdout.as_mut().expect("its output is piped"));
    let lines: Vec<String> = out.lines().take(2).map(|line| line.expect("a line")).collect();
    assert!(lines[0].starts_with("https://127.0.0.1:"), "{lines:?}");
    let pem = std::fs::read_to_string(&lines[1]).expect("the authority's certificate");
    assert!(pem.starts_with("-----BEGIN CERTIFICATE-----"), "{pem}");
    kill(stub.id(), "TERM");
    let output = stub.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("NODE_EXTRA_CA_CERTS"), "{said}");
    assert!(!std::path::Path::new(&lines[1]).exists(), "its folder is gone");
}

#[test]
fn certificates_that_were_asked_for_by_name_stay_and_their_key_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("certificates");
    let mut stub = started(&["--port", "0", "--tls", "--tls-files", place.to_str().expect("text")]);
    first_line(&mut stub);
    kill(stub.id(), "INT");
    assert!(stub.wait().expect("it ends").success());
    for name in ["ca.pem", "cert.pem", "key.pem"] {
        assert!(place.join(name).exists(), "{name}");
    }
    let mode = std::fs::metadata(place.join("key.pem")).expect("the key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_name_that_no_certificate_can_bear_is_refused() {
    let output = ended(&["--port", "0", "--tls", "--host", "café"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_shipped_world_is_there_from_the_first_call_on() {
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/examples/world.toml");
    let mut stub = started(&["--port", "0", "--answer-time", "0ms", "--world", world]);
    let line = first_line(&mut stub);
    let authority = line.trim_end().strip_prefix("http://").expect("a URL");
    let me = get(authority, "/bot123456:AAFakeToken/getMe");
    assert!(me.contains(r#""username":"puzzle_bot""#), "{me}");
    let known = get(authority, "/bot123456:AAFakeToken/getChatMember?chat_id=-1001234567890&user_id=79");
    assert!(known.contains(r#""status":"administrator""#) && known.contains("Patra"), "{known}");
    let unknown = get(authority, "/bot123456:AAFakeToken/getChat?chat_id=-5");
    assert!(unknown.contains("chat not found"), "{unknown}");
    kill(stub.id(), "INT");
    stub.wait().expect("it ends");
}

#[test]
fn a_world_that_is_wrong_is_told_with_its_line_a_caret_and_a_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.toml");
    std::fs::write(&file, "[[user]]\nid = 77\nname = \"Ada\"\nuser_name = \"ada_l\"\n").expect("written");
    let output = ended(&["--port", "0", "--world", file.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in ["world.toml:4:1", "unknown key `user_name`", "^^^^^^^^^", "did you mean `username`?"] {
        assert!(said.contains(part), "{part} in {said}");
    }
}
