//! Readiness: one look at whether the system answers, and what is waited for in words.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use floodrig_stub::Attendance;

use super::clock::now;
use super::death::Cause;
use super::launch::{Launch, errand};
use crate::exchange::{Speech, glance};
use crate::keeper::{CommandEnd, Exit, KeepError, Kept};
use crate::scenario::Ready;

/// How long one look may take: a first answer may have to wait for a cold start behind it.
const LOOK_WITHIN: Duration = Duration::from_secs(5);
/// Of a head that is longer than this no more is read: its status has come by then.
const HEAD_BYTES: usize = 16 * 1024;
/// And no more of its lines than these.
const HEAD_LINES: usize = 64;

/// What one look saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Glimpse {
    /// It is ready.
    Ready,
    /// Not yet: what is waited for, and what came instead.
    NotYet(String),
}

/// Looks once.
pub(super) fn look(launch: &Launch, within: Duration) -> Glimpse {
    let (target, ready) = ((launch.address(), &launch.speech), &launch.ready);
    if let Ready::Command(command) = ready {
        return succeeds(launch, command, within.min(LOOK_WITHIN));
    }
    let attendance = launch.stub.as_ref().map(|stub| stub.attendance()).unwrap_or_default();
    look_at(target, ready, attendance, within)
}

/// Looks once at one that somebody else may have started; a command of readiness is its starter's to run.
pub(super) fn look_at(
    (target, speech): (SocketAddr, &Speech),
    ready: &Ready,
    attendance: Attendance,
    within: Duration,
) -> Glimpse {
    let within = within.min(LOOK_WITHIN).max(Duration::from_millis(1));
    let wanted = wanted(target, ready);
    let seen = match ready {
        Ready::Accepts | Ready::Command(_) => connect(target, within).map(|_| 200),
        Ready::Path(path) if speech.is_plain() => get(target, path, within),
        Ready::Path(path) => glance(target, speech, &request(target, path), within),
        Ready::Bot => return asked(&wanted, attendance),
    };
    match seen {
        Ok(200..=299) => Glimpse::Ready,
        Ok(status) => Glimpse::NotYet(format!("{wanted}: answered {status} so far")),
        Err(cause) => Glimpse::NotYet(format!("{wanted}: {} so far", in_words(&cause))),
    }
}

/// Whether the bot has asked for its updates.
fn asked(wanted: &str, attendance: Attendance) -> Glimpse {
    match attendance.calls {
        _ if attendance.asked_for_updates => Glimpse::Ready,
        1 => Glimpse::NotYet(format!("{wanted}: 1 call reached the stub so far")),
        calls => Glimpse::NotYet(format!("{wanted}: {calls} calls reached the stub so far")),
    }
}

/// What is waited for.
pub(super) fn wanted(target: SocketAddr, ready: &Ready) -> String {
    match ready {
        Ready::Accepts => format!("a connection to {target}"),
        Ready::Command(command) => format!("`{}` to exit with 0", command.join(" ")),
        Ready::Path(path) => format!("a 2xx answer to GET {path} on {target}"),
        Ready::Bot => "the bot to call getUpdates or setWebhook".to_owned(),
    }
}

fn succeeds(launch: &Launch, command: &[String], within: Duration) -> Glimpse {
    match run_once(launch, command, within) {
        Ok(Some(Exit::Code(0))) => Glimpse::Ready,
        Ok(how) => {
            let how = how.map_or_else(|| "took too long".to_owned(), |how| Cause(how).to_string());
            Glimpse::NotYet(format!("{}: it {how} so far", wanted(launch.address(), &launch.ready)))
        }
        Err(cause) => Glimpse::NotYet(format!("{}: {cause}", wanted(launch.address(), &launch.ready))),
    }
}

/// Runs a command to its end, for no longer than `within`, under a keeper of its own; nothing: it took too long.
pub(super) fn run_once(launch: &Launch, command: &[String], within: Duration) -> Result<Option<Exit>, KeepError> {
    // What it prints is not read: it fits into the pipes, or the command waits and is ended.
    let mut started = Kept::start(&launch.program, &errand(launch, command))?;
    match started.reports.command_end(within) {
        CommandEnd::Ended(how) => Ok(Some(how)),
        CommandEnd::NotYet => Ok(None),
        CommandEnd::KeeperLost(_) => Err(KeepError::Lost),
    }
}

fn in_words(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::ConnectionRefused => "nobody listens".to_owned(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed without an answer".to_owned(),
        _ => cause.to_string(),
    }
}

fn connect(target: SocketAddr, within: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&target, within)?;
    // A connect to a free local port can meet itself: the kernel may choose that very port as its source.
    if stream.local_addr()? == target {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    Ok(stream)
}

fn request(target: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {target}\r\n\r\n")
}

fn get(target: SocketAddr, path: &str, within: Duration) -> io::Result<u16> {
    // A system may drip its answer, so the whole of it has one deadline.
    let until = now() + within;
    let mut stream = connect(target, within)?;
    // In one piece: a server that answers the first piece and closes would break the pipe for the second.
    stream.write_all(request(target, path).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    loop {
        if let Some(status) = status(&head)? {
            return Ok(status);
        }
        let left = until.saturating_duration_since(now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let mut bytes = [0; 2048];
        match stream.read(&mut bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => head.extend_from_slice(&bytes[..read]),
        }
    }
}

const NOT_HTTP: &str = "an answer that is not HTTP: does it speak TLS (`system.tls`) or HTTP/2 alone (`system.http2`)?";

/// The status of an answer whose head is complete, or longer than is read.
fn status(head: &[u8]) -> io::Result<Option<u16>> {
    let mut headers = [httparse::EMPTY_HEADER; HEAD_LINES];
    let mut answer = httparse::Response::new(&mut headers);
    let not_http = || io::Error::new(io::ErrorKind::InvalidData, NOT_HTTP);
    match answer.parse(head) {
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => Ok(answer.code),
        Ok(httparse::Status::Partial) if head.len() > HEAD_BYTES => answer.code.map(Some).ok_or_else(not_http),
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(not_http()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    /// Answers one connection with these bytes after its request has been read.
    fn once(answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _read = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(answer).unwrap();
        });
        target
    }

    fn get_healthz(target: SocketAddr) -> Glimpse {
        look_at((target, &Speech::default()), &Ready::Path("/healthz".to_owned()), Attendance::default(), LOOK_WITHIN)
    }

    #[test]
    fn a_2xx_is_ready() {
        assert_eq!(get_healthz(once(b"HTTP/1.1 204 No Content\r\n\r\n")), Glimpse::Ready);
    }

    #[test]
    fn an_answer_with_a_head_longer_than_is_read_has_a_status_all_the_same() {
        let lines = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(HEAD_LINES + 1));
        let line = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(HEAD_BYTES));
        for head in [lines, line] {
            assert_eq!(get_healthz(once(head.leak().as_bytes())), Glimpse::Ready);
        }
        let Glimpse::NotYet(text) = get_healthz(once(b"220 smtp.example ESMTP\r\n")) else { panic!("ready") };
        assert!(text.contains("not HTTP"), "{text}");
    }

    #[test]
    fn a_404_says_what_is_waited_for_and_what_came() {
        let target = once(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        let text = format!("a 2xx answer to GET /healthz on {target}: answered 404 so far");
        assert_eq!(get_healthz(target), Glimpse::NotYet(text));
    }

    #[test]
    fn a_connection_closed_without_an_answer_is_not_ready() {
        let Glimpse::NotYet(text) = get_healthz(once(b"HTTP/1.1 2")) else { panic!("ready") };
        assert!(text.ends_with("closed without an answer so far"), "{text}");
    }

    #[test]
    fn without_a_path_an_accepted_connection_is_ready() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = listener.local_addr().unwrap();
        let look = || look_at((target, &Speech::default()), &Ready::Accepts, Attendance::default(), LOOK_WITHIN);
        assert_eq!(look(), Glimpse::Ready);
        drop(listener);
        assert_eq!(look(), Glimpse::NotYet(format!("a connection to {target}: nobody listens so far")));
    }

    #[test]
    fn a_bot_is_ready_once_it_asks_for_its_updates_wherever_it_listens() {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let look = |calls, asked_for_updates| {
            look_at((nowhere, &Speech::default()), &Ready::Bot, Attendance { calls, asked_for_updates }, LOOK_WITHIN)
        };
        let not_yet = |calls| {
            let text = format!("the bot to call getUpdates or setWebhook: {calls} reached the stub so far");
            Glimpse::NotYet(text)
        };
        assert_eq!((look(0, false), look(1, false)), (not_yet("0 calls"), not_yet("1 call")));
        assert_eq!(look(1, true), Glimpse::Ready);
    }
}
