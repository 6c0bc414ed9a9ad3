//! The journal of a stub: one line of JSON about every call, written by a thread of its own that the calls never wait
//! for. Memory and disk are bounded: lines that come faster than the disk takes them are dropped and counted, and a
//! file that is full makes room for the next one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, SystemTime};

use floodrig_stub::{CallRecord, Stub};
use jiff::Timestamp;
use serde::Serialize;

use super::super::refused::Refused;

/// How many lines wait at most: ten megabytes, and a second of what one core answers.
const MOST_WAITING: usize = 65_536;
/// How large a file grows; the one before it is kept.
const LARGEST_FILE: u64 = 64 << 20;
/// How long a line stays out of the file while nothing follows it.
const LONGEST_UNSEEN: Duration = Duration::from_secs(1);
/// How long the last lines may take.
const LONGEST_END: Duration = Duration::from_secs(10);

/// A journal being written.
pub(super) struct Journal {
    path: PathBuf,
    written: Receiver<(u64, io::Result<()>)>,
}

impl Journal {
    /// Begins one; what the file held becomes `FILE.1`.
    pub(super) fn begin(path: &Path, stub: &Stub) -> Result<Self, Refused> {
        let cannot = |cause: io::Error| {
            let says = format_args!("could not write the journal `{}`: {cause}", path.display());
            Refused::usage(says, "name a file that you may write with --journal")
        };
        let pages = Pages::open(path, LARGEST_FILE).map_err(cannot)?;
        let (records, taken) = mpsc::sync_channel(MOST_WAITING);
        let (tell, written) = mpsc::sync_channel(1);
        let begun = began(stub);
        thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write(pages, begun, &taken, &tell))
            .map_err(cannot)?;
        assert!(stub.record(records), "nobody else takes the records of a stub that was just started");
        Ok(Self { path: path.to_owned(), written })
    }

    /// Waits for the last line, once the stub has stopped: how many were written.
    pub(super) fn end(self, dropped: u64) -> Result<String, Refused> {
        let path = self.path.display();
        let cannot =
            |cause: &dyn std::fmt::Display| Refused::failed(format_args!("the journal `{path}` is not whole: {cause}"));
        match self.written.recv_timeout(LONGEST_END) {
            Ok((lines, Ok(()))) if dropped == 0 => Ok(format!("{lines} calls are in {path}")),
            Ok((lines, Ok(()))) => {
                Ok(format!("{lines} calls are in {path}; {dropped} came too fast for it and are not"))
            }
            Ok((lines, Err(cause))) => Err(cannot(&format!("{cause}, after {lines} calls"))),
            Err(_) => Err(cannot(&format!("its last lines could not be written within {LONGEST_END:?}"))),
        }
    }
}

/// The wall clock at the stub's epoch.
#[expect(clippy::disallowed_methods, reason = "the journal's times are of the day, for people")]
fn began(stub: &Stub) -> SystemTime {
    SystemTime::now() - stub.age()
}

fn write(mut pages: Pages, begun: SystemTime, taken: &Receiver<CallRecord>, tell: &SyncSender<(u64, io::Result<()>)>) {
    let (mut lines, mut result) = (0, Ok(()));
    while result.is_ok() {
        result = match taken.recv_timeout(LONGEST_UNSEEN) {
            Ok(record) => pages.write(&Line::of(&record, begun)).inspect(|()| lines += 1),
            Err(RecvTimeoutError::Timeout) => pages.file.flush(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
    }
    let result = result.and_then(|()| pages.file.flush());
    // Whoever began it waits for this, or has given up.
    drop(tell.send((lines, result)));
}

/// One call.
#[derive(Debug, Serialize)]
struct Line<'a> {
    time: String,
    at_us: u64,
    bot: i64,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<i64>,
    #[serde(skip_serializing_if = "is_zero")]
    file_bytes: u64,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    waited_us: u64,
    answer_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl<'a> Line<'a> {
    fn of(record: &'a CallRecord, begun: SystemTime) -> Self {
        let time = Timestamp::try_from(begun + record.begun).unwrap_or_default();
        Self {
            time: format!("{time:.6}"),
            at_us: record.begun.as_micros() as u64,
            bot: record.bot,
            method: &record.method,
            chat: record.chat,
            file_bytes: record.file_bytes,
            status: record.status,
            retry_after: record.retry_after,
            rule: record.rule.as_deref(),
            waited_us: record.answered.saturating_sub(record.begun).as_micros() as u64,
            answer_bytes: record.answer_bytes,
        }
    }
}

/// The file, and the one before it.
struct Pages {
    file: BufWriter<File>,
    path: PathBuf,
    bytes: u64,
    /// None for a pipe or a terminal, which never fill up.
    largest: Option<u64>,
}

impl Pages {
    fn open(path: &Path, largest: u64) -> io::Result<Self> {
        let is_special = fs::metadata(path).is_ok_and(|there| !there.is_file());
        if is_special {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { file: BufWriter::new(file), path: path.to_owned(), bytes: 0, largest: None });
        }
        turn(path)?;
        let file = BufWriter::new(File::create(path)?);
        Ok(Self { file, path: path.to_owned(), bytes: 0, largest: Some(largest) })
    }

    fn write(&mut self, line: &Line<'_>) -> io::Result<()> {
        if self.largest.is_some_and(|largest| self.bytes >= largest) {
            self.file.flush()?;
            turn(&self.path)?;
            self.file = BufWriter::new(File::create(&self.path)?);
            self.bytes = 0;
        }
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.bytes += text.len() as u64;
        self.file.write_all(&text)
    }
}

/// What the file holds becomes `FILE.1`, in place of what that held; an empty one is not kept.
fn turn(path: &Path) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| there.len() > 0) {
        let mut before = path.as_os_str().to_owned();
        before.push(".1");
        fs::rename(path, before)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(method: &'static str) -> CallRecord {
        CallRecord {
            begun: Duration::from_micros(1_500),
            answered: Duration::from_micros(2_750),
            bot: 123,
            method: method.into(),
            chat: Some(-5),
            file_bytes: 0,
            status: 429,
            retry_after: Some(7),
            rule: Some("group".into()),
            answer_bytes: 90,
        }
    }

    fn write_to(pages: &mut Pages, methods: &[&'static str]) {
        for method in methods {
            pages.write(&Line::of(&record(method), SystemTime::UNIX_EPOCH)).unwrap();
        }
        pages.file.flush().unwrap();
    }

    #[test]
    fn a_line_says_when_what_where_and_how_it_was_answered() {
        let line = serde_json::to_string(&Line::of(&record("sendMessage"), SystemTime::UNIX_EPOCH)).unwrap();
        assert_eq!(
            line,
            r#"{"time":"1970-01-01T00:00:00.001500Z","at_us":1500,"bot":123,"method":"sendMessage","chat":-5,"status":429,"retry_after":7,"rule":"group","waited_us":1250,"answer_bytes":90}"#
        );
    }

    #[test]
    fn a_full_file_becomes_the_one_before_and_older_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let mut pages = Pages::open(&path, 1).unwrap();
        write_to(&mut pages, &["getMe", "getFile", "getChat"]);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("calls.jsonl").contains("getChat") && read("calls.jsonl.1").contains("getFile"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the first is gone");
    }

    #[test]
    fn what_a_file_held_before_is_kept_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        fs::write(&path, "before").unwrap();
        write_to(&mut Pages::open(&path, 1000).unwrap(), &["getMe"]);
        assert_eq!(fs::read_to_string(folder.path().join("calls.jsonl.1")).unwrap(), "before");
        assert!(fs::read_to_string(&path).unwrap().contains("getMe"));
    }
}
