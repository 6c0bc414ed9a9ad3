//! Ten thousand connections at once: each is served, or told why not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::client::{request, stub};
use crate::row::Row;

const CROWD: usize = 10_000;
/// A connection that has not been answered by then was left waiting.
const PATIENCE: Duration = Duration::from_secs(30);

/// A stub alone in this process, until its standard input ends: a crowd's two ends would fill one process's handles.
pub(crate) fn serve() -> Vec<Row> {
    let stub = stub();
    println!("{}", stub.url());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    Vec::new()
}

pub(crate) fn measure() -> Vec<Row> {
    let mut server = Server::new();
    let mut crowd: Vec<_> = (0..CROWD).map(|_| ask(&server.address)).collect();
    let statuses: Vec<Option<u16>> = crowd.iter_mut().map(|stream| status(stream.as_mut()?)).collect();
    let count = |status: Option<u16>| statuses.iter().filter(|of| **of == status).count();
    let (served, refused) = (count(Some(200)), count(Some(503)));
    let rss = server.rss_mib();
    let row = |what: &str, figure: usize, most| Row { what: what.to_owned(), figure: figure as f64, unit: "", most };
    vec![
        row("of 10,000 connections at once: served", served, None),
        row("refused in words", refused, None),
        row("neither", CROWD - served - refused, Some(0.0)),
        Row { what: "RSS with all of them open".to_owned(), figure: rss, unit: "MiB", most: None },
    ]
}

fn ask(address: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    // One that was refused already takes no request any more, but has an answer.
    drop(stream.write_all(&request(1, "getMe", "{}")));
    Some(stream)
}

fn status(stream: &mut TcpStream) -> Option<u16> {
    let mut line = [0; 12];
    stream.read_exact(&mut line).ok()?;
    std::str::from_utf8(&line[9..]).ok()?.parse().ok()
}

/// This program again, as a stub.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn new() -> Self {
        let own = std::env::current_exe().unwrap();
        let mut child = Command::new(own).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, address: line.trim().trim_start_matches("http://").to_owned() }
    }

    fn rss_mib(&mut self) -> f64 {
        crate::client::rss_mib_of(&self.child.id().to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
