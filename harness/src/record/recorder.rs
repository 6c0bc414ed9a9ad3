//! The writer thread: rows from a bounded queue into `run.jsonl`.
//!
//! It flushes whenever it has caught up with the queue, so that a rig that is killed leaves all but its last
//! moments. It ends with the seal; an error ends it early and is returned by [`Recorder::finish`].

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use floodrig_reports::recording::{Histogram, Interval, Row, Seal, WriteError, Writer};

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
}

impl Recorder {
    /// Creates the file at `path` and starts its writer, which also keeps the p99 of `progress`.
    pub fn create(path: &Path, progress: Arc<Progress>) -> Result<Self, RecordError> {
        let path = path.to_owned();
        let file = File::create(&path).map_err(|cause| RecordError::Create { path: path.clone(), cause })?;
        let (rows, queue) = sync_channel(QUEUE);
        let start = thread::Builder::new().name("recorder".to_owned());
        let writer = start.spawn(move || write(&queue, file, &progress)).map_err(RecordError::Thread)?;
        Ok(Self { rows, writer, path })
    }

    /// Where rows go. On a measuring path, `try_send` and count what does not fit.
    pub fn rows(&self) -> SyncSender<Row> {
        self.rows.clone()
    }

    /// Writes the seal as the last line and waits for the disk. Rows that are sent later find the queue closed.
    pub fn finish(self, seal: Seal) -> Result<(), RecordError> {
        // A queue that is already closed means the writer has failed, which `join` tells.
        drop(self.rows.send(Row::Seal(seal)));
        let written = self.writer.join().map_err(|_| RecordError::Panicked)?;
        written.map_err(|cause| RecordError::Write { path: self.path, cause })
    }
}

fn write(queue: &Receiver<Row>, file: File, progress: &Progress) -> Result<(), WriteError> {
    let mut writer = Writer::new(BufWriter::new(file));
    let mut responses = Histogram::default();
    while let Some(row) = next(queue, &mut writer)? {
        writer.write(&row)?;
        if let Row::Interval(interval) = &row {
            show(&mut responses, interval, progress);
        }
        if matches!(row, Row::Seal(_)) {
            break;
        }
    }
    writer.flush()
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
