//! A stub of one's own and a client that shows every byte of what it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use floodrig_stub::{Limits, Stub};
use serde_json::Value;

use crate::shape;

pub(crate) const TOKEN: &str = "123456:secret";
/// A bound against hangs, not a measurement.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Limits whose answers take no time.
pub(crate) fn quick() -> Limits {
    Limits { answer_time: Duration::ZERO..=Duration::ZERO, ..Limits::default() }
}

/// The same without ceilings.
pub(crate) fn free() -> Limits {
    Limits { sends_per_second: 0, group_sends_per_minute: 0, chat_sends_per_second: 0, ..quick() }
}

#[expect(clippy::disallowed_methods, reason = "the test is the caller whose epoch it is")]
pub(crate) fn stub(limits: Limits) -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    floodrig_stub::start(limits, listener, Instant::now(), 7).unwrap()
}

/// One kept-alive connection.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn of(stub: &Stub) -> Self {
        let stream = TcpStream::connect(stub.url().trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.get_mut().write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn read(&mut self) -> Response {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "the connection ended after {head:?}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length =
            head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        Response { status, head, body }
    }

    /// True when the other side has closed, and has said nothing more.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.stream.read(&mut [0]).unwrap() == 0
    }

    /// A call by a body of that type.
    pub(crate) fn post(&mut self, method: &str, content_type: &str, body: impl AsRef<[u8]>) -> Response {
        self.begin(method, content_type, body.as_ref());
        self.read()
    }

    pub(crate) fn begin(&mut self, method: &str, content_type: &str, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "POST /bot{TOKEN}/{method} HTTP/1.1\r\nHost: stub\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.write([head.as_bytes(), body].concat());
    }

    /// Many calls by JSON at once, so that they arrive within the same moment.
    pub(crate) fn burst(&mut self, method: &str, bodies: &[Value]) -> Vec<Response> {
        for body in bodies {
            self.begin(method, "application/json", body.to_string().as_bytes());
        }
        bodies.iter().map(|_| self.read()).collect()
    }

    /// A call by JSON.
    pub(crate) fn call(&mut self, method: &str, body: &Value) -> Response {
        self.post(method, "application/json", body.to_string())
    }

    /// The result of a call that has to work, and to be of the declared type.
    pub(crate) fn result(&mut self, method: &str, body: &Value) -> Value {
        let response = self.call(method, body);
        assert_eq!(response.status, 200, "{method} {body}: {}", response.text());
        let result = response.json()["result"].clone();
        assert_eq!(shape::fault(method, &result), None);
        result
    }

    /// The words of a call that has to be refused.
    pub(crate) fn refusal(&mut self, method: &str, body: &Value) -> String {
        let response = self.call(method, body).json();
        assert_eq!(response["ok"], false, "{method} {body}: {response}");
        response["description"].as_str().unwrap().to_owned()
    }
}

impl Response {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        self.head.lines().any(|header| header == line)
    }
}

/// A call to the control room.
pub(crate) fn control(client: &mut Client, verb: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string();
    let length = body.len();
    client.write(format!(
        "{verb} /_stub/{path} HTTP/1.1\r\nHost: stub\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    client.read().json()
}
