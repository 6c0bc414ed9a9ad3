//! The system's output: drained so that it never blocks, the last lines kept, errors counted by what they say.
//!
//! Everything kept has a bound: bytes of a line, lines of the tail, different messages.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use floodrig_reports::recording::{Logs, Message};

use super::clock::now;

/// Lines kept of each stream.
const TAIL_LINES: usize = 200;
/// Bytes kept of a line; the rest of it is read and forgotten.
const LINE_BYTES: usize = 2000;
/// Different error messages told apart; any beyond are counted together.
const MESSAGES: usize = 1000;
/// Messages handed on, the commonest first.
const TOP: usize = 10;
/// Characters kept of a message.
const MESSAGE_CHARS: usize = 160;
/// How long readers may take to come to the end of their pipes once the tree is gone.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);
/// Where the messages beyond [`MESSAGES`] are counted.
const OTHERS: &str = "(other messages)";

/// What one stream has said so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    tail: VecDeque<String>,
    lines: u64,
    errors: u64,
    messages: BTreeMap<String, u64>,
}

impl Output {
    fn line(&mut self, text: String) {
        self.lines += 1;
        if looks_like_an_error(&text) {
            self.errors += 1;
            self.count(fold(&text));
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(text);
    }

    fn count(&mut self, message: String) {
        let known = self.messages.len() < MESSAGES || self.messages.contains_key(&message);
        *self.messages.entry(if known { message } else { OTHERS.to_owned() }).or_default() += 1;
    }

    /// The last lines, oldest first.
    pub(super) fn tail(&self, lines: usize) -> Vec<String> {
        self.tail.iter().skip(self.tail.len().saturating_sub(lines)).cloned().collect()
    }

    /// As many of the last lines as are kept.
    pub(super) fn whole_tail(&self) -> Vec<String> {
        self.tail(TAIL_LINES)
    }

    /// The counts as they are recorded.
    pub(super) fn logs(&self) -> Logs {
        let mut top: Vec<Message> =
            self.messages.iter().map(|(text, count)| Message { text: text.clone(), count: *count }).collect();
        top.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
        top.truncate(TOP);
        Logs { stderr_lines: self.lines, stderr_errors: self.errors, top_messages: top }
    }
}

/// A stream's output, filled by the thread that reads it.
pub(super) type Shared = Arc<Mutex<Output>>;

/// Looks at what a stream has said; a reader that panicked leaves what it had counted.
pub(super) fn look<T>(output: &Shared, at: impl FnOnce(&Output) -> T) -> T {
    at(&output.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Reads a stream to its end, handing each line on to `heard` as well.
pub(super) fn drain(stream: impl Read, output: &Shared, mut heard: impl FnMut(&str)) {
    let mut stream = BufReader::new(stream);
    while let Some(line) = next_line(&mut stream) {
        heard(&line);
        output.lock().unwrap_or_else(PoisonError::into_inner).line(line);
    }
}

/// Waits until the threads that read a tree which is gone have ended. A process that nobody could end may hold a pipe
/// open; its reader is then left to itself.
pub(super) fn await_end(readers: impl IntoIterator<Item = JoinHandle<()>>) {
    let until = now() + DRAIN_WITHIN;
    for reader in readers {
        while !reader.is_finished() && now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        if reader.is_finished() {
            reader.join().expect("a reader never panics");
        }
    }
}

/// The next line without its end, cut at [`LINE_BYTES`]; nothing at the end of the stream, or when it breaks.
fn next_line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    loop {
        let bytes = match stream.fill_buf() {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => &[],
        };
        if bytes.is_empty() {
            return (!line.is_empty()).then(|| as_text(&line));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let text = &bytes[..end.unwrap_or(bytes.len())];
        line.extend_from_slice(&text[..text.len().min(LINE_BYTES.saturating_sub(line.len()))]);
        let used = text.len() + usize::from(end.is_some());
        stream.consume(used);
        if end.is_some() {
            return Some(as_text(&line));
        }
    }
}

fn as_text(line: &[u8]) -> String {
    let mut text = without_escapes(String::from_utf8_lossy(line).trim_end());
    // What is left of them would ring bells and move cursors in every report that quotes the line.
    text.retain(|c| c == '\t' || !c.is_control());
    text
}

/// Takes out terminal colours (`ESC [ ... letter`), which would hide that two lines say the same.
fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = escape.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &escape[end + 1..]);
    }
    plain + rest
}

/// The words by which loggers and runtimes announce an error, in whole words and any case.
const ERROR_WORDS: [&str; 14] = [
    "err",
    "error",
    "exception",
    "panic",
    "panicked",
    "fatal",
    "critical",
    "traceback",
    "unhandled",
    "uncaught",
    "failed",
    "failure",
    "segfault",
    "aborted",
];

/// Whether a line announces an error. `TypeError:` and `RuntimeException` do; `0 errors` does not.
fn looks_like_an_error(line: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).any(|word| {
        let lower = word.to_lowercase();
        let typed = word.ends_with("Error") || word.ends_with("Exception");
        typed || ERROR_WORDS.contains(&lower.as_str())
    })
}

/// A message without what differs each time: every word that holds a digit becomes `#`, so do the digits of a
/// number with a unit, an id, a date.
fn fold(line: &str) -> String {
    let mut folded = String::new();
    let mut word = String::new();
    for c in line.trim().chars().chain([' ']) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        folded.push_str(if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { &word });
        word.clear();
        folded.push(c);
    }
    folded.trim_end().chars().take(MESSAGE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Output {
        let output = Shared::default();
        drain(text, &output, |_| {});
        Arc::into_inner(output).unwrap().into_inner().unwrap()
    }

    #[test]
    fn messages_that_differ_in_numbers_alone_are_one() {
        let output = read(b"2026-11-02T10:00:01Z ERROR chat -1001 failed after 30ms\n2026-11-02T10:00:02Z ERROR chat -1002 failed after 7ms\n");
        let logs = output.logs();
        assert_eq!((logs.stderr_lines, logs.stderr_errors), (2, 2));
        assert_eq!(
            logs.top_messages,
            [Message { text: "#-#-#:#:# ERROR chat -# failed after #".to_owned(), count: 2 }]
        );
    }

    #[test]
    fn what_would_ring_bells_and_move_cursors_is_left_out() {
        let output = read(b"error:\x07 \x1b[2Ja\tb\x00\x1b\x08c\xff\r\n");
        assert_eq!(output.tail(1), ["error: a\tbc\u{fffd}"]);
    }

    #[test]
    fn an_error_is_told_by_whole_words() {
        for line in
            ["TypeError: x is not a function", "thread 'main' panicked at", "level=error", "\u{1b}[31mERROR\u{1b}[0m"]
        {
            assert!(looks_like_an_error(&without_escapes(line)), "{line}");
        }
        for line in ["0 errors", "listening on 8080", "terror", "    at Object.<anonymous> (app.js:1:1)"] {
            assert!(!looks_like_an_error(line), "{line}");
        }
    }

    #[test]
    fn the_commonest_message_comes_first() {
        let logs = read(b"error: a\nerror: b\nerror: b\n").logs();
        let texts: Vec<_> = logs.top_messages.iter().map(|message| (message.text.as_str(), message.count)).collect();
        assert_eq!(texts, [("error: b", 2), ("error: a", 1)]);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let lines: Vec<String> = (0..=TAIL_LINES).map(|n| format!("line {n}")).collect();
        let output = read(lines.join("\n").as_bytes());
        assert_eq!(output.lines, TAIL_LINES as u64 + 1);
        assert_eq!(output.tail(TAIL_LINES + 5).first().map(String::as_str), Some("line 1"));
        assert_eq!(output.tail(1), [format!("line {TAIL_LINES}")]);
    }

    #[test]
    fn a_line_without_end_is_cut_and_counted_once() {
        let mut text = vec![b'x'; 50_000];
        text.extend_from_slice(b"\nlast");
        let output = read(&text);
        assert_eq!(output.lines, 2);
        assert_eq!(output.tail(2)[0].len(), LINE_BYTES);
        assert_eq!(output.tail(1), ["last"]);
    }

    #[test]
    fn messages_beyond_the_bound_are_counted_together() {
        let letter = |n: usize| char::from(b'a' + n as u8);
        let line = |n: usize| format!("error {}{}{}", letter(n / 26 / 26), letter(n / 26 % 26), letter(n % 26));
        let lines: Vec<String> = (0..MESSAGES + 2).map(line).collect();
        let output = read(lines.join("\n").as_bytes());
        assert_eq!(output.messages.len(), MESSAGES + 1);
        assert_eq!(output.messages[OTHERS], 2);
    }
}
