//! One kept connection to the system, asked for one answer at a time.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::event::PollFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::patience::{Patience, Waited};
use crate::system::Clock;

/// A head or body beyond this is not read to its end; the connection is given up instead.
const ANSWER_BYTES: usize = 64 * 1024;
/// How long the rest of an answer may take once its first byte is there.
const REST_WITHIN: Duration = Duration::from_secs(1);

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The run is over.
    Stopped,
    /// The connection was refused, reset or closed.
    Gone,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
}

impl Line {
    /// Connects.
    pub(super) fn open(target: SocketAddr, patience: &mut Patience) -> Result<Self, NoAnswer> {
        let socket = begin_connect(target).map_err(|_| NoAnswer::Gone)?;
        until_ready(patience.wait(&socket, PollFlags::OUT))?;
        let stream = TcpStream::from(socket);
        match (stream.take_error(), stream.local_addr()) {
            // A connect to a free local port can meet itself: the kernel may choose that very port as its source.
            (Ok(None), Ok(local)) if local != target => Ok(Self { stream }),
            _ => Err(NoAnswer::Gone),
        }
    }

    /// Asks, and waits for the first byte of the answer.
    pub(super) fn ask(&mut self, request: &[u8], patience: &mut Patience) -> Result<(), NoAnswer> {
        self.stream.write_all(request).map_err(|_| NoAnswer::Gone)?;
        until_ready(patience.wait(&self.stream, PollFlags::IN))?;
        match self.stream.peek(&mut [0; 1]) {
            Ok(1..) => Ok(()),
            Ok(0) | Err(_) => Err(NoAnswer::Gone),
        }
    }

    /// Reads the rest of the answer; the line comes back when it can be used again.
    pub(super) fn finish(mut self, clock: Clock) -> Option<Self> {
        let until = clock.now() + REST_WITHIN;
        self.stream.set_nonblocking(false).ok()?;
        self.stream.set_read_timeout(Some(REST_WITHIN)).ok()?;
        let mut answer = Vec::new();
        loop {
            match length(&answer) {
                Length::Known(length) if answer.len() == length => break,
                Length::Known(_) | Length::Unfinished if answer.len() < ANSWER_BYTES && clock.now() < until => {}
                Length::Known(_) | Length::Unfinished | Length::UntilClosed => return None,
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes).ok()? {
                0 => return None,
                read => answer.extend_from_slice(&bytes[..read]),
            }
        }
        self.stream.set_nonblocking(true).ok()?;
        Some(self)
    }
}

/// Begins to connect; the socket is writable once it is done.
pub(super) fn begin_connect(target: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(target), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&target.into()) {
        Err(cause) if cause.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(cause),
        Ok(()) | Err(_) => Ok(socket),
    }
}

fn until_ready(waited: Waited) -> Result<(), NoAnswer> {
    match waited {
        Waited::Ready => Ok(()),
        Waited::Stopped => Err(NoAnswer::Stopped),
        Waited::Failed => Err(NoAnswer::Gone),
    }
}

/// The length of an answer, head and body.
#[derive(Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    /// The head is not complete yet.
    Unfinished,
    /// Chunked, to the end of the connection, or not HTTP: the connection is worth less than reading that.
    UntilClosed,
}

fn length(answer: &[u8]) -> Length {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Response::new(&mut headers);
    let head = match parsed.parse(answer) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Length::Unfinished,
        Err(_) => return Length::UntilClosed,
    };
    let value = |name: &str| {
        let header = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    let closes = value("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let kept = parsed.version == Some(1) && !closes;
    match (kept, parsed.code, value("content-length").map(str::parse::<usize>)) {
        (true, Some(204 | 304), _) => Length::Known(head),
        (true, _, Some(Ok(body))) => Length::Known(head + body),
        (true | false, _, _) => Length::UntilClosed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_kept_only_when_the_end_of_the_answer_is_known() {
        let of = |text: &str| length(text.as_bytes());
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), Length::Known(40));
        assert_eq!(of("HTTP/1.1 204 No Content\r\n\r\n"), Length::Known(27));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Le"), Length::Unfinished);
        assert_eq!(of("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\n"), Length::UntilClosed);
        assert_eq!(of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), Length::UntilClosed);
        assert_eq!(of("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n"), Length::UntilClosed);
        assert_eq!(of("SSH-2.0-x\r\n"), Length::UntilClosed);
    }
}
