//! `run.jsonl`, read and written a row at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{FORMAT, Row};

/// The recording's name in a run's folder.
pub const FILE_NAME: &str = "run.jsonl";

/// Why a row could not be written.
#[derive(Debug, thiserror::Error)]
#[error("could not write the recording: {0}")]
pub struct WriteError(#[from] io::Error);

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such file, or it may not be read.
    #[error("could not open the recording {path}: {cause}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The file could not be read.
    #[error("could not read the recording: {0}")]
    Io(#[from] io::Error),
    /// There is not even a header, which is written when the load begins.
    #[error("the recording is empty: the rig ended before the load began, so nothing was measured")]
    Empty,
    /// A header must be the first row, and only the first.
    #[error("the recording does not begin with its one header line: is it a run.jsonl?")]
    Header,
    /// Written by another version of the rig.
    #[error("the recording has format {found}, and this version reads format {FORMAT}: use the version that wrote it")]
    Format {
        /// Its format.
        found: u64,
    },
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

/// As much of a first line as every format has.
#[derive(Deserialize)]
struct Preamble {
    row: String,
    format: u64,
}

/// Opens the recording of a run: its folder, or the file itself.
pub fn open(run: &Path) -> Result<Reader<BufReader<File>>, ReadError> {
    let path = if run.is_dir() { run.join(FILE_NAME) } else { run.to_owned() };
    match File::open(&path) {
        Ok(file) => Ok(Reader::new(BufReader::new(file))),
        Err(cause) => Err(ReadError::Open { path, cause }),
    }
}

impl<R: BufRead> Reader<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Self {
        Self { from, line: 0 }
    }

    /// The next whole line, as bytes: a line may have been cut off inside a character.
    fn line(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let mut text = Vec::new();
        self.from.read_until(b'\n', &mut text)?;
        self.line += 1;
        Ok(text.ends_with(b"\n").then_some(text))
    }

    fn row(&self, text: &[u8]) -> Result<Row, ReadError> {
        if self.line == 1 {
            check_preamble(text)?;
        }
        serde_json::from_slice(text).map_err(|cause| ReadError::Row { line: self.line, cause })
    }
}

fn check_preamble(text: &[u8]) -> Result<(), ReadError> {
    match serde_json::from_slice::<Preamble>(text) {
        Ok(Preamble { row, format }) if row == "header" && format == u64::from(FORMAT) => Ok(()),
        Ok(Preamble { row, format: found }) if row == "header" => Err(ReadError::Format { found }),
        Ok(_) | Err(_) => Err(ReadError::Header),
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.line() {
            Ok(line) => line.map(|text| self.row(&text)),
            Err(cause) => Some(Err(cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn written(rows: &[Row]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for row in rows {
            writer.write(row).unwrap();
        }
        writer.to
    }

    fn read(bytes: &[u8]) -> Result<Vec<Row>, ReadError> {
        Reader::new(bytes).collect()
    }

    #[test]
    fn every_kind_of_row_survives_the_file() {
        let rows = fixture::one_row_of_each_kind();
        assert_eq!(read(&written(&rows)).unwrap(), rows);
    }

    #[test]
    fn a_recording_from_before_the_network_was_kept_is_still_read() {
        let text = String::from_utf8(written(&[fixture::header_row()])).unwrap();
        let mut header: serde_json::Value = serde_json::from_str(&text).unwrap();
        header["how"].as_object_mut().unwrap().remove("network").unwrap();
        let rows = read(format!("{header}\n").as_bytes()).unwrap();
        assert!(matches!(&rows[0], Row::Header(header) if header.how.network.is_none()));
    }

    #[test]
    fn wherever_the_last_line_is_cut_off_the_lines_before_it_are_read() {
        let rows = [fixture::header_row(), fixture::note("погибла 🐟")];
        let bytes = written(&rows);
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for end in first..bytes.len() {
            assert_eq!(read(&bytes[..end]).unwrap(), rows[..1]);
        }
        assert_eq!(read(&bytes).unwrap(), rows);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_named_by_its_number() {
        let mut bytes = written(&[fixture::header_row()]);
        bytes.extend(b"{\"row\":\"interv\n");
        let said = read(&bytes).unwrap_err().to_string();
        assert!(said.starts_with("line 2 of the recording is not a row of format 2"), "{said}");
    }

    #[test]
    fn another_format_is_refused_whatever_else_its_header_says() {
        let found = read(b"{\"row\":\"header\",\"format\":1,\"new\":true}\n").unwrap_err();
        assert!(matches!(found, ReadError::Format { found: 1 }), "{found}");
    }

    #[test]
    fn a_file_that_does_not_begin_with_a_header_is_no_recording() {
        for text in ["hello\n", "{\"row\":\"seal\",\"partial\":false}\n"] {
            assert!(matches!(read(text.as_bytes()).unwrap_err(), ReadError::Header));
        }
    }

    #[test]
    fn a_missing_recording_is_named_by_its_path() {
        let said = open(Path::new("/nowhere/run.jsonl")).unwrap_err().to_string();
        assert!(said.starts_with("could not open the recording /nowhere/run.jsonl"), "{said}");
    }
}
