//! The writer thread: rows from a bounded queue into `run.jsonl`.
//!
//! It flushes whenever it has caught up with the queue, so that a rig that is killed leaves all but its last
//! moments. It ends with the seal; an error ends it early and is returned by [`Recorder::finish`].

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use floodrig_reports::recording::{Histogram, Interval, Row, Seal, WriteError, Writer};

use super::patient::{PATIENCE, eventually, hand_over_within};
use super::progress::Progress;

/// Rows that wait for the disk at most. A run makes some tens a second, so this rides out a disk that stops for half a minute.
const QUEUE: usize = 1024;

/// Why a recording was not made.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file could not be created.
    #[error("could not create {path}: {cause}")]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file could not be written.
    #[error("{path}: {cause}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: WriteError,
    },
    /// The writer's thread could not be started.
    #[error("could not start the thread that writes the recording: {0}")]
    Thread(io::Error),
    /// The disk has stopped taking anything.
    #[error(
        "{path}: the disk took nothing for {within:.0?}, and the recording is not whole: see to it, or name \
         another folder with --out"
    )]
    Stuck {
        /// The file.
        path: PathBuf,
        /// For how long it was waited for.
        within: Duration,
    },
    /// The writer's thread panicked, with its message on stderr.
    #[error("the thread that writes the recording panicked")]
    Panicked,
}

/// A recording in the making.
#[derive(Debug)]
pub struct Recorder {
    rows: SyncSender<Row>,
    writer: JoinHandle<Result<(), WriteError>>,
    path: PathBuf,
    progress: Arc<Progress>,
    /// For how long the disk is waited for at the end.
    within: Duration,
}

impl Recorder {
    /// Creates the file at `path`, which must not be there yet, and starts its writer, which also keeps the p99 of
    /// `progress`. A recording is never written over.
    pub fn create(path: &Path, progress: Arc<Progress>) -> Result<Self, RecordError> {
        let created = File::create_new(path).map_err(|cause| RecordError::Create { path: path.to_owned(), cause });
        Self::writing(created?, path.to_owned(), progress)
    }

    fn writing(file: File, path: PathBuf, progress: Arc<Progress>) -> Result<Self, RecordError> {
        let (rows, queue) = sync_channel(QUEUE);
        let start = thread::Builder::new().name("recorder".to_owned());
        let shown = Arc::clone(&progress);
        let writer = start.spawn(move || write(&queue, file, &shown)).map_err(RecordError::Thread)?;
        Ok(Self { rows, writer, path, progress, within: PATIENCE })
    }

    /// Where rows go. On a measuring path, `try_send` and count what does not fit.
    pub fn rows(&self) -> SyncSender<Row> {
        self.rows.clone()
    }

    /// Writes the seal as the last line and waits for the disk, but not for ever. Rows that are sent later find the
    /// queue closed.
    pub fn finish(self, seal: Seal) -> Result<(), RecordError> {
        // A queue that is already closed means the writer has failed, which `join` tells.
        hand_over_within(&self.rows, Row::Seal(seal), &self.progress, self.within);
        let ended = eventually(self.within, || self.writer.is_finished().then_some(()));
        if ended.is_none() || self.progress.lost() > 0 {
            return Err(RecordError::Stuck { path: self.path, within: self.within });
        }
        let written = self.writer.join().map_err(|_| RecordError::Panicked)?;
        written.map_err(|cause| RecordError::Write { path: self.path, cause })
    }
}

fn write(queue: &Receiver<Row>, file: File, progress: &Progress) -> Result<(), WriteError> {
    let mut writer = Writer::new(BufWriter::new(file));
    let mut responses = Histogram::default();
    for row in header_first(queue) {
        writer.write(&row)?;
        if matches!(row, Row::Seal(_)) {
            return writer.flush();
        }
    }
    while let Some(row) = next(queue, &mut writer)? {
        writer.write(&row)?;
        match &row {
            Row::Interval(interval) => show(&mut responses, interval, progress),
            Row::Vital(vital) => progress.seen(vital),
            Row::Seal(_) => break,
            Row::Header(_)
            | Row::Exemplar(_)
            | Row::Outbound(_)
            | Row::Confined(_)
            | Row::Stall(_)
            | Row::Stack(_)
            | Row::Probed(_)
            | Row::Calls(_)
            | Row::Deliveries(_)
            | Row::Event(_)
            | Row::Recovery(_)
            | Row::OrderedStop(_)
            | Row::Logs(_)
            | Row::Ending(_) => {}
        }
    }
    writer.flush()
}

/// The first rows, up to the header. It is the first line, and a system can die before there is one: what comes
/// earlier follows it. A recording that is sealed without a header has none.
fn header_first(queue: &Receiver<Row>) -> VecDeque<Row> {
    let mut rows = VecDeque::new();
    for row in queue {
        if matches!(row, Row::Header(_)) {
            rows.push_front(row);
            break;
        }
        let sealed = matches!(row, Row::Seal(_));
        rows.push_back(row);
        if sealed {
            break;
        }
    }
    rows
}

/// The next row; before waiting for one, everything so far goes to the operating system.
fn next(queue: &Receiver<Row>, writer: &mut Writer<BufWriter<File>>) -> Result<Option<Row>, WriteError> {
    if let Ok(row) = queue.try_recv() {
        return Ok(Some(row));
    }
    writer.flush()?;
    Ok(queue.recv().ok())
}

fn show(responses: &mut Histogram, interval: &Interval, progress: &Progress) {
    for act in interval.acts.values() {
        responses.merge(&act.response);
    }
    progress.p99(responses.quantile_us(0.99).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _, pipe};
    use std::os::fd::OwnedFd;

    use floodrig_reports::recording::{ActInterval, Event, EventKind, FORMAT, Header, Reader};

    use super::*;
    use crate::exchange::rough::eventually;

    fn note(text: &str) -> Row {
        Row::Event(Event { at_us: 1, kind: EventKind::Note, text: text.to_owned() })
    }

    fn seal() -> Seal {
        Seal { samples: 1, ..Seal::default() }
    }

    fn header() -> Row {
        Row::Header(Box::new(Header { format: FORMAT, ..Header::default() }))
    }

    /// A recorder that has its header.
    fn begun(path: &Path, progress: Arc<Progress>) -> Recorder {
        let recorder = Recorder::create(path, progress).unwrap();
        recorder.rows().send(header()).unwrap();
        recorder
    }

    fn read(path: &Path) -> Vec<Row> {
        Reader::new(BufReader::new(File::open(path).unwrap())).collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn rows_are_written_in_order_and_the_seal_is_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let recorder = begun(&path, Arc::default());
        let rows = recorder.rows();
        rows.send(note("one")).unwrap();
        rows.send(note("two")).unwrap();
        recorder.finish(seal()).unwrap();
        assert_eq!(read(&path), [header(), note("one"), note("two"), Row::Seal(seal())]);
        assert!(rows.send(note("late")).is_err());
    }

    #[test]
    fn the_header_is_the_first_line_whatever_came_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let recorder = Recorder::create(&path, Arc::default()).unwrap();
        recorder.rows().send(note("early")).unwrap();
        recorder.rows().send(header()).unwrap();
        recorder.finish(seal()).unwrap();
        assert_eq!(read(&path), [header(), note("early"), Row::Seal(seal())]);
    }

    #[test]
    fn a_recording_without_a_header_still_ends() {
        let folder = tempfile::tempdir().unwrap();
        Recorder::create(&folder.path().join("run.jsonl"), Arc::default()).unwrap().finish(seal()).unwrap();
    }

    #[test]
    fn a_rig_that_is_killed_leaves_what_it_had_handed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let recorder = begun(&path, Arc::default());
        recorder.rows().send(note("one")).unwrap();
        eventually(|| read(&path) == [header(), note("one")]);
        recorder.finish(seal()).unwrap();
    }

    #[test]
    fn the_p99_so_far_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let progress = Arc::new(Progress::default());
        let recorder = begun(&folder.path().join("run.jsonl"), Arc::clone(&progress));
        let mut act = ActInterval::default();
        act.response.record(Duration::from_millis(7));
        let acts = [("open".to_owned(), act)].into();
        recorder.rows().send(Row::Interval(Interval { acts, ..Interval::default() })).unwrap();
        recorder.finish(seal()).unwrap();
        assert_eq!(progress.standing().p99.unwrap().as_millis(), 7);
    }

    #[test]
    fn a_file_that_cannot_be_created_is_named() {
        let error = Recorder::create(Path::new("/nowhere/run.jsonl"), Arc::default()).unwrap_err();
        assert!(error.to_string().starts_with("could not create /nowhere/run.jsonl: No such file"), "{error}");
    }

    #[test]
    fn a_recording_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        begun(&path, Arc::default()).finish(seal()).unwrap();
        let error = Recorder::create(&path, Arc::default()).unwrap_err().to_string();
        assert!(error.contains("File exists"), "{error}");
        assert_eq!(read(&path), [header(), Row::Seal(seal())]);
    }

    #[test]
    fn a_disk_that_takes_nothing_any_more_is_an_error_and_holds_nobody_up_for_ever() {
        let (mut never_read, stuck) = pipe().unwrap();
        let progress = Arc::new(Progress::default());
        let file = File::from(OwnedFd::from(stuck));
        let recorder = Recorder::writing(file, PathBuf::from("stuck"), Arc::clone(&progress)).unwrap();
        let rows = recorder.rows();
        rows.send(header()).unwrap();
        // A pipe holds 64 KiB.
        let long = "x".repeat(100 * 1024);
        for _ in 0..QUEUE + 2 {
            hand_over_within(&rows, note(&long), &progress, Duration::from_millis(50));
        }
        assert!(progress.lost() > 0);
        let within = Duration::from_millis(50);
        let error = Recorder { within, ..recorder }.finish(seal()).unwrap_err();
        assert!(error.to_string().starts_with("stuck: the disk took nothing for 50ms"), "{error}");
        // The writer goes on, and ends once nobody can hand it anything.
        drop(rows);
        never_read.read_to_end(&mut Vec::new()).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error_and_holds_nobody_up() {
        let full = File::create("/dev/full").unwrap();
        let recorder = Recorder::writing(full, PathBuf::from("/dev/full"), Arc::default()).unwrap();
        let rows = recorder.rows();
        rows.send(header()).unwrap();
        eventually(|| rows.send(note("no room")).is_err());
        let error = recorder.finish(seal()).unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: could not write the recording: No space left"), "{error}");
    }
}
