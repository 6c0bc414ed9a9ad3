//! `run.jsonl`, read and written a row at a time.

use std::io::{self, BufRead, Write};

use super::{FORMAT, Row};

/// Why a row could not be written.
#[derive(Debug, thiserror::Error)]
#[error("could not write the recording: {0}")]
pub struct WriteError(#[from] io::Error);

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("could not read the recording: {0}")]
    Io(#[from] io::Error),
    /// A line is not a row.
    #[error("line {line} of the recording is not a row of format {FORMAT}: {cause}")]
    Row {
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        cause: serde_json::Error,
    },
}

/// Writes rows, one line each.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
}

impl<W: Write> Writer<W> {
    /// Writes to `to`, which should be buffered.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Writes one row.
    pub fn write(&mut self, row: &Row) -> Result<(), WriteError> {
        serde_json::to_writer(&mut self.to, row).map_err(io::Error::from)?;
        self.to.write_all(b"\n")?;
        Ok(())
    }

    /// Hands everything written so far to the operating system.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        Ok(self.to.flush()?)
    }
}

/// Reads rows. A last line that was cut off in the middle (a killed rig) ends the recording without an error.
#[derive(Debug)]
pub struct Reader<R: BufRead> {
    from: R,
    line: usize,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Self {
        Self { from, line: 0 }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        match self.from.read_line(&mut text) {
            Err(cause) => return Some(Err(cause.into())),
            Ok(_) if !text.ends_with('\n') => return None,
            Ok(_) => self.line += 1,
        }
        let line = self.line;
        Some(serde_json::from_str(&text).map_err(|cause| ReadError::Row { line, cause }))
    }
}
