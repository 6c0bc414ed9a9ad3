//! Many kept-alive connections with one call each under way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub(crate) struct Crowd(Vec<BufReader<TcpStream>>);

impl Crowd {
    pub(crate) fn connect(address: &str, connections: usize) -> Self {
        Self((0..connections).map(|_| BufReader::new(TcpStream::connect(address).unwrap())).collect())
    }

    /// One call on every connection, each given its place; then all answers.
    pub(crate) fn round(&mut self, request: impl Fn(usize) -> Vec<u8>) {
        for (at, connection) in self.0.iter_mut().enumerate() {
            connection.get_mut().write_all(&request(at)).unwrap();
        }
        self.0.iter_mut().for_each(skip_response);
    }
}

pub(crate) fn request(method: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST /bot1:a/{method} HTTP/1.1\r\nHost: stub\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn skip_response(connection: &mut BufReader<TcpStream>) {
    let (mut line, mut length) = (String::new(), 0);
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).unwrap();
        if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = told.trim().parse().unwrap();
        }
    }
    connection.read_exact(&mut vec![0; length]).unwrap();
}
