//! An HTTP/1.1 answer, read piece by piece as it arrives (RFC 9112). Pure: it is handed bytes and says when it is whole.

use std::mem::MaybeUninit;

use super::chunks::Chunks;

/// What the peer sent is not an HTTP/1.1 answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// Why an answer cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not an HTTP/1.1 answer.
    Malformed,
    /// It is one as far as can be seen, and its head is longer than the rig reads.
    TooLong,
}

impl From<Malformed> for Unread {
    fn from(Malformed: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<httparse::Error> for Unread {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => Self::TooLong,
            httparse::Error::HeaderName
            | httparse::Error::HeaderValue
            | httparse::Error::NewLine
            | httparse::Error::Status
            | httparse::Error::Token
            | httparse::Error::Version => Self::Malformed,
        }
    }
}

/// The longest head that is read to its end: four times what nginx and Node allow by default.
const LONGEST_HEAD: usize = 64 * 1024;

/// The header lines that there is always room for.
const USUAL_HEADERS: usize = 100;

/// The most header lines of an answer that are read.
const MOST_HEADERS: usize = 1000;

/// The longest body kept, for each act in flight that reads its own: a bound on the rig's memory, far beyond what a
/// page or its data come to on a phone. A longer one is read to its end all the same.
pub(super) const LONGEST_KEPT_BODY: usize = 16 * 1024 * 1024;

/// One answer on its way in.
#[derive(Debug)]
pub(super) struct Answer {
    state: State,
    /// Whether any byte of it has arrived.
    pub(super) begun: bool,
    /// The final status, once its head has been read.
    pub(super) status: u16,
    /// Whether the connection may carry another exchange.
    pub(super) reusable: bool,
    /// The body so far, when it is wanted.
    kept: Option<Vec<u8>>,
    keeps_headers: bool,
    /// The headers of the final head that are text, when they are wanted.
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Debug)]
enum State {
    /// In a head, with the part of it that an earlier piece ended in.
    Head(Vec<u8>),
    Length(u64),
    Chunked(Chunks),
    UntilClose,
    Done,
}

/// A head, as far as the rest of the answer depends on it.
struct Head {
    len: usize,
    status: u16,
    reusable: bool,
    body: State,
    headers: Vec<(String, String)>,
}

impl Answer {
    /// An answer of which nothing has arrived; its body and its headers are kept or not.
    pub(super) fn new(keeps_body: bool, keeps_headers: bool) -> Self {
        Self {
            state: State::Head(Vec::new()),
            begun: false,
            status: 0,
            reusable: false,
            kept: keeps_body.then(Vec::new),
            keeps_headers,
            headers: Vec::new(),
        }
    }

    /// Takes the next bytes; says whether the answer is whole.
    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<bool, Unread> {
        self.begun |= !piece.is_empty();
        while let State::Head(_) = self.state {
            if !self.feed_head(&mut piece)? {
                return Ok(false);
            }
        }
        self.feed_body(&mut piece)?;
        let whole = matches!(self.state, State::Done);
        self.reusable &= piece.is_empty();
        Ok(whole)
    }

    /// Says whether the answer is whole now that the connection has ended.
    pub(super) fn ends_here(&mut self) -> bool {
        matches!(self.state, State::UntilClose | State::Done)
    }

    /// The body; nothing when it was not wanted or was longer than is kept.
    pub(super) fn into_body(self) -> Option<Vec<u8>> {
        self.kept
    }

    /// Takes a head from the front of `piece`; says whether it was all there.
    fn feed_head(&mut self, piece: &mut &[u8]) -> Result<bool, Unread> {
        let State::Head(before) = &mut self.state else { return Ok(true) };
        let head = if before.is_empty() {
            parse(piece, self.keeps_headers)?
        } else {
            before.extend_from_slice(piece);
            parse(before, self.keeps_headers)?
        };
        let Some(head) = head else {
            if before.is_empty() {
                before.extend_from_slice(piece);
            }
            return if before.len() > LONGEST_HEAD { Err(Unread::TooLong) } else { Ok(false) };
        };
        // The bytes of earlier pieces were all head: a head that had ended there would have been taken there.
        let earlier = before.len().saturating_sub(piece.len());
        *piece = &piece[head.len - earlier..];
        self.follow(head);
        Ok(true)
    }

    /// An interim answer (1xx but 101) is followed by another head, a final one by its body.
    fn follow(&mut self, head: Head) {
        if (100..200).contains(&head.status) && head.status != 101 {
            self.state = State::Head(Vec::new());
            return;
        }
        (self.status, self.reusable, self.state) = (head.status, head.reusable, head.body);
        self.headers = head.headers;
    }

    fn feed_body(&mut self, piece: &mut &[u8]) -> Result<(), Malformed> {
        let kept = &mut self.kept;
        match &mut self.state {
            State::Length(left) => {
                let (now, later) = piece.split_at((*left).min(piece.len() as u64) as usize);
                keep(kept, now);
                (*left, *piece) = (*left - now.len() as u64, later);
                if *left == 0 {
                    self.state = State::Done;
                }
            }
            State::Chunked(chunks) => {
                chunks.feed(piece, |data| keep(kept, data))?;
                if *chunks == Chunks::Done {
                    self.state = State::Done;
                }
            }
            State::UntilClose => keep(kept, std::mem::take(piece)),
            State::Head(_) | State::Done => {}
        }
        Ok(())
    }
}

/// Keeps `data` if bodies are kept and it fits. A body cut short would be misread, so one that does not fit is forgotten.
fn keep(kept: &mut Option<Vec<u8>>, data: &[u8]) {
    let Some(body) = kept else { return };
    if body.len() + data.len() > LONGEST_KEPT_BODY {
        *kept = None;
    } else {
        body.extend_from_slice(data);
    }
}

/// Reads a head from the front of `bytes`, if all of it is there.
fn parse(bytes: &[u8], keeps_headers: bool) -> Result<Option<Head>, Unread> {
    let mut headers = [const { MaybeUninit::uninit() }; USUAL_HEADERS];
    match parse_into(&mut headers, bytes, keeps_headers) {
        Err(Unread::TooLong) => parse_many(bytes, keeps_headers),
        parsed => parsed,
    }
}

/// Reads a head of more lines than usual, which needs more room than a stack should give.
#[cold]
fn parse_many(bytes: &[u8], keeps_headers: bool) -> Result<Option<Head>, Unread> {
    parse_into(&mut Box::new_uninit_slice(MOST_HEADERS), bytes, keeps_headers)
}

fn parse_into<'b>(
    headers: &mut [MaybeUninit<httparse::Header<'b>>],
    bytes: &'b [u8],
    keeps_headers: bool,
) -> Result<Option<Head>, Unread> {
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, headers);
    let httparse::Status::Complete(len) = parsed? else { return Ok(None) };
    let status = response.code.ok_or(Malformed)?;
    let framing = Framing::read(response.version == Some(1), response.headers)?;
    let body = framing.body(status);
    let reusable = framing.keeps_alive && status != 101 && !matches!(body, State::UntilClose);
    let headers = if keeps_headers { texts(response.headers) } else { Vec::new() };
    Ok(Some(Head { len, status, reusable, body, headers }))
}

/// The headers whose values are text.
fn texts(headers: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    let text = |header: &httparse::Header<'_>| {
        let value = std::str::from_utf8(header.value).ok()?;
        Some((header.name.to_owned(), value.trim().to_owned()))
    };
    headers.iter().filter_map(text).collect()
}

/// What the headers say of where the body ends and of what happens to the connection then.
struct Framing {
    length: Option<u64>,
    chunked: bool,
    coded: bool,
    keeps_alive: bool,
}

impl Framing {
    fn read(persistent: bool, headers: &[httparse::Header<'_>]) -> Result<Self, Malformed> {
        let mut framing = Self { length: None, chunked: false, coded: false, keeps_alive: persistent };
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                framing.add_length(header.value)?;
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                framing.coded = true;
                framing.chunked = tokens(header.value).next_back().is_some_and(|last| is(last, "chunked"));
            } else if header.name.eq_ignore_ascii_case("connection") {
                framing.add_connection(header.value);
            }
        }
        Ok(framing)
    }

    /// Several equal lengths are one; different ones are an attack or a fault (RFC 9112, section 6.3).
    fn add_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for token in tokens(value) {
            let digits = token.iter().all(u8::is_ascii_digit);
            let text = std::str::from_utf8(token).map_err(|_| Malformed)?;
            let length = text.parse().ok().filter(|_| digits).ok_or(Malformed)?;
            if self.length.is_some_and(|before| before != length) {
                return Err(Malformed);
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn add_connection(&mut self, value: &[u8]) {
        if tokens(value).any(|token| is(token, "close")) {
            self.keeps_alive = false;
        } else if tokens(value).any(|token| is(token, "keep-alive")) {
            self.keeps_alive = true;
        }
    }

    fn body(&self, status: u16) -> State {
        match (status, self.length) {
            (100..=199 | 204 | 304, _) => State::Done,
            _ if self.chunked => State::Chunked(Chunks::START),
            _ if self.coded => State::UntilClose,
            (_, Some(0)) => State::Done,
            (_, Some(length)) => State::Length(length),
            (_, None) => State::UntilClose,
        }
    }
}

fn tokens(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn is(token: &[u8], word: &str) -> bool {
    token.eq_ignore_ascii_case(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_kept_when_they_are_wanted_and_those_that_are_text() {
        let head = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nETag:  w1 \r\nX-Bytes: \xff\r\nContent-Length: 0\r\n\r\n";
        let headers = |wanted| {
            let mut answer = Answer::new(false, wanted);
            assert_eq!(answer.feed(head), Ok(true));
            answer.headers.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(headers(true), ["ETag=w1", "Content-Length=0"]);
        assert!(headers(false).is_empty());
    }

    #[derive(Debug, PartialEq)]
    struct Read {
        whole: bool,
        status: u16,
        reusable: bool,
        body: String,
    }

    fn read(text: &str, size: usize) -> Result<Read, Unread> {
        let mut answer = Answer::new(true, false);
        let mut whole = false;
        for piece in text.as_bytes().chunks(size) {
            whole = answer.feed(piece)?;
        }
        let (status, reusable) = (answer.status, answer.reusable);
        Ok(Read { whole, status, reusable, body: String::from_utf8(answer.into_body().unwrap()).unwrap() })
    }

    #[track_caller]
    fn reads(text: &str, status: u16, reusable: bool, body: &str) {
        let expected = Read { whole: true, status, reusable, body: body.to_owned() };
        for size in 1..=text.len() {
            assert_eq!(read(text, size).as_ref(), Ok(&expected), "cut into {size}");
        }
    }

    #[test]
    fn a_length_delimited_answer_is_whole_at_its_last_byte() {
        reads("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true, "hello");
        assert!(!read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 99).unwrap().whole);
    }

    #[test]
    fn a_chunked_answer_is_whole_after_its_trailer() {
        let head = "HTTP/1.1 201 Created\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n";
        reads(&format!("{head}5\r\nhello\r\n0\r\n\r\n"), 201, true, "hello");
        assert!(!read(&format!("{head}5\r\nhello\r\n0\r\n"), 99).unwrap().whole);
    }

    #[test]
    fn answers_without_a_body_end_with_their_head() {
        for (status, text) in [(204, "204 No Content"), (304, "304 Not Modified\r\nContent-Length: 9")] {
            reads(&format!("HTTP/1.1 {text}\r\n\r\n"), status, true, "");
        }
        reads("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, true, "");
    }

    #[test]
    fn interim_answers_are_passed_over() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        reads(&format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), 200, true, "hi");
        assert!(!read(interim, 9).unwrap().whole);
    }

    #[test]
    fn a_connection_that_says_close_is_not_used_again() {
        reads("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", 200, false, "hi");
        reads("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, false, "hi");
        reads("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", 200, true, "hi");
    }

    #[test]
    fn bytes_after_an_answer_spoil_the_connection() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!";
        assert!(!read(text, text.len()).unwrap().reusable);
    }

    #[test]
    fn without_a_length_the_body_ends_with_the_connection() {
        for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"] {
            let mut answer = Answer::new(true, false);
            assert_eq!(answer.feed(head.as_bytes()), Ok(false));
            assert_eq!(answer.feed(b"all of it"), Ok(false));
            assert!(answer.ends_here() && !answer.reusable);
            assert_eq!(answer.into_body().unwrap(), b"all of it");
        }
    }

    #[test]
    fn an_end_in_the_middle_is_not_an_end() {
        for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh"] {
            let mut answer = Answer::new(false, false);
            answer.feed(text.as_bytes()).unwrap();
            assert!(!answer.ends_here(), "{text:?}");
            assert_eq!(answer.begun, !text.is_empty());
        }
    }

    #[test]
    fn what_is_not_http_is_malformed() {
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
        let signed = "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n";
        for text in ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", twice, signed] {
            assert_eq!(read(text, 4096).unwrap_err(), Unread::Malformed);
        }
        reads("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi", 200, true, "hi");
    }

    #[test]
    fn a_head_is_read_up_to_its_bounds_and_beyond_them_it_is_too_long_and_not_malformed() {
        let lines = |count| format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{}\r\nhi", "X: y\r\n".repeat(count - 1));
        for count in [USUAL_HEADERS, USUAL_HEADERS + 1, MOST_HEADERS] {
            let text = lines(count);
            let expected = Read { whole: true, status: 200, reusable: true, body: "hi".to_owned() };
            for size in [4096, text.len()] {
                assert_eq!(read(&text, size).as_ref(), Ok(&expected), "{count} lines");
            }
        }
        assert_eq!(read(&lines(MOST_HEADERS + 1), 4096), Err(Unread::TooLong));
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
        assert_eq!(read(&long, 4096), Err(Unread::TooLong));
        let broken = format!("HTTP/1.1 200 OK\r\n{}no header\r\n\r\n", "X: y\r\n".repeat(USUAL_HEADERS + 1));
        assert_eq!(read(&broken, 4096), Err(Unread::Malformed));
    }

    #[test]
    fn a_body_is_kept_up_to_its_bound_and_not_beyond() {
        for (length, kept) in [(LONGEST_KEPT_BODY, Some(LONGEST_KEPT_BODY)), (LONGEST_KEPT_BODY + 1, None)] {
            let mut answer = Answer::new(true, false);
            answer.feed(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").as_bytes()).unwrap();
            assert_eq!(answer.feed(&vec![b' '; length]), Ok(true));
            assert_eq!(answer.into_body().map(|body| body.len()), kept);
        }
    }
}
