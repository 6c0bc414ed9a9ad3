//! Kept-alive connections that cost as little as they can, a stub, and what the kernel knows of this process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use floodrig_stub::{Limits, Stub};

pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn to(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::with_capacity(2048, stream))
    }

    pub(crate) fn write(&mut self, request: &[u8]) {
        self.0.get_mut().write_all(request).unwrap();
    }

    /// The status of the next response, whose body is read and let go.
    pub(crate) fn status(&mut self) -> u16 {
        let (mut line, mut length, mut status) = (String::new(), 0, 0);
        while line != "\r\n" {
            line.clear();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the other side closed");
            if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = told.trim().parse().unwrap();
            } else if let Some(told) = line.strip_prefix("HTTP/1.1 ") {
                status = told[..3].parse().unwrap();
            }
        }
        self.0.read_exact(&mut vec![0; length]).unwrap();
        status
    }
}

/// A call of that bot by JSON.
pub(crate) fn request(bot: usize, method: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST /bot{bot}:a/{method} HTTP/1.1\r\nHost: stub\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// No chat that is sent to has its id: a bot can't write to itself.
const BOT: usize = 1_000_000_000;

pub(crate) fn send(chat: i64, nth: usize) -> Vec<u8> {
    request(BOT, "sendMessage", &format!(r#"{{"chat_id":{chat},"text":"Round {nth}: 7 of 10 players have finished"}}"#))
}

/// A stub that holds every ceiling and refuses nothing of what is measured; its answers take no time.
#[expect(clippy::disallowed_methods, reason = "the caller whose epoch it is")]
pub(crate) fn stub() -> Stub {
    let limits = Limits {
        answer_time: Duration::ZERO..=Duration::ZERO,
        sends_per_second: 1_000_000,
        paid_sends_per_second: 1_000_000,
        slow_mode: Duration::from_millis(1),
        penalty_growth: Duration::from_secs(1),
        absorb_short_waits: true,
        gateway_shedding: true,
        ..Limits::default()
    };
    floodrig_stub::start(limits, TcpListener::bind("127.0.0.1:0").unwrap(), Instant::now(), 1).unwrap()
}

pub(crate) fn address_of(stub: &Stub) -> String {
    stub.url().trim_start_matches("http://").to_owned()
}

/// Nanoseconds that a thread of this process has run.
pub(crate) fn cpu(thread: u32) -> f64 {
    let told = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).unwrap();
    told.split_whitespace().next().unwrap().parse().unwrap()
}

/// What this process holds in memory.
pub(crate) fn rss_mib() -> f64 {
    rss_mib_of("self")
}

/// What a process holds, by its id.
pub(crate) fn rss_mib_of(process: &str) -> f64 {
    let told = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = told.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap() / 1024.0
}
