//! More connections than the stub may have: each is answered, or told why not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::rig::kill;

/// Soft and hard, so that the stub cannot raise it.
const HANDLES: usize = 64;
/// A bound against a hang, not a measurement.
const PATIENCE: Duration = Duration::from_secs(30);

fn started_with_few_handles() -> (Child, String) {
    let shell = format!("ulimit -n {HANDLES}; exec \"$0\" stub --port 0 --answer-time 0ms");
    let mut stub = Command::new("sh")
        .args(["-c", &shell, env!("CARGO_BIN_EXE_floodrig")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the stub starts");
    let mut line = String::new();
    BufReader::new(stub.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it says its URL");
    (stub, line.trim_end().trim_start_matches("http://").to_owned())
}

fn ask(authority: &str) -> TcpStream {
    let mut stream = TcpStream::connect(authority).expect("the queue takes it");
    stream.set_read_timeout(Some(PATIENCE)).expect("a bound");
    // One that was turned away already has its answer, and takes no request any more.
    drop(write!(stream, "GET /bot1:a/getMe HTTP/1.1\r\nHost: stub\r\n\r\n"));
    stream
}

fn status(stream: &mut TcpStream) -> String {
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("an answer");
    String::from_utf8_lossy(&status[9..]).into_owned()
}

#[test]
fn connections_beyond_the_file_handles_are_told_so_and_the_others_are_served() {
    let (mut stub, authority) = started_with_few_handles();
    let mut crowd: Vec<TcpStream> = (0..3 * HANDLES).map(|_| ask(&authority)).collect();
    let statuses: Vec<String> = crowd.iter_mut().map(status).collect();
    let served = statuses.iter().filter(|status| *status == "200").count();
    let told = statuses.iter().filter(|status| *status == "503").count();
    assert_eq!(served + told, crowd.len(), "{statuses:?}");
    assert!(served > HANDLES / 2 && served < HANDLES, "{served}");
    drop(crowd);
    while status(&mut ask(&authority)) != "200" {}
    kill(stub.id(), "INT");
    stub.wait().expect("it ends");
}
