//! What rig, keeper and launcher say to each other: one JSON object a line.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What to start. The first line from the rig, handed on to the launcher as it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Variables added to the rig's own environment.
    pub env: BTreeMap<String, String>,
    /// Variables taken out of it.
    pub without: Vec<String>,
    /// The cores it and its children are pinned to; nothing: as the rig itself.
    pub cores: Option<Vec<u32>>,
    /// Its soft limit on open files; nothing: as the rig itself.
    pub open_files: Option<u64>,
    /// Folders of the run that go when the tree has ended, the rig's own death included.
    pub remove: Vec<PathBuf>,
    /// Its limit on open files, soft and hard, so that it cannot raise it; nothing: as the rig itself.
    pub open_files_at_most: Option<u64>,
    /// Folders of control groups to enter; the keeper removes them when the rig cannot.
    pub cgroups: Vec<PathBuf>,
    /// A folder that the keeper makes, names to it as `TMPDIR`, and removes with all in it once the tree has ended.
    pub scratch: Option<PathBuf>,
}

/// What the rig orders after the spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// SIGTERM to the whole tree, SIGKILL to what is left after the grace.
    Stop {
        /// The grace.
        grace_ms: u64,
    },
}

/// What the keeper reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The command runs.
    Spawned {
        /// Its process id.
        pid: u32,
        /// Its start time in clock ticks since boot, which tells it from a later process of the same id.
        start: u64,
    },
    /// The command could not be started.
    Failed(Fault),
    /// A process of the tree ended.
    Ended {
        /// Its process id.
        pid: u32,
        /// How.
        how: Exit,
        /// When the keeper learned of it, on `CLOCK_MONOTONIC`.
        at_ns: u64,
        /// Whether it was not the command itself but a descendant that had lost its parent.
        orphan: bool,
    },
    /// Somebody else's signal told the keeper to end. It leaves the ending to the rig, which may give its grace.
    Told {
        /// The signal's number.
        signal: i32,
    },
    /// Nothing of the tree is left; the keeper's last word.
    Empty {},
    /// These could not be ended, SIGKILL included; the keeper's last word.
    Left {
        /// Their process ids.
        pids: Vec<u32>,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Why the command could not be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What was being done.
    pub stage: Stage,
    /// What the operating system said; 0: nothing.
    pub errno: i32,
}

/// The steps of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The keeper making itself ready.
    Keep,
    /// Making the folder that goes with the tree.
    Scratch,
    /// Starting the launcher.
    Launch,
    /// Tying the command's life to the keeper's.
    Tie,
    /// Entering the directory.
    Dir,
    /// Pinning to the cores.
    Cores,
    /// Entering the control group.
    Cgroup,
    /// Setting the limit on open files.
    OpenFiles,
    /// Executing the command.
    Exec,
}

impl Fault {
    /// A fault at this stage.
    pub fn new(stage: Stage, cause: &io::Error) -> Self {
        Self { stage, errno: cause.raw_os_error().unwrap_or(0) }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Keep => "prepare the keeper",
            Self::Scratch => "make its temporary folder",
            Self::Launch => "start the launcher",
            Self::Tie => "tie the command to its keeper",
            Self::Dir => "enter the directory",
            Self::Cores => "pin the command to its cores",
            Self::Cgroup => "enter its control group",
            Self::OpenFiles => "set the limit on open files",
            Self::Exec => "run the command",
        })
    }
}

/// Writes one line.
pub(super) fn say<T: Serialize>(to: &mut impl Write, what: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Bytes as they arrive, handed out as lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Adds what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Whether a whole line is there.
    pub(super) fn has_one(&self) -> bool {
        self.pending.contains(&b'\n')
    }

    /// The next whole line, if there is one.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Option<io::Result<T>> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_err(io::Error::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_between_two_reads_is_one_line() {
        let mut wire = Vec::new();
        say(&mut wire, &Order::Stop { grace_ms: 10_000 }).unwrap();
        let (head, tail) = wire.split_at(7);
        let mut lines = Lines::default();
        lines.push(head);
        assert!(!lines.has_one() && lines.next::<Order>().is_none());
        lines.push(tail);
        assert!(lines.has_one());
        assert_eq!(lines.next::<Order>().unwrap().unwrap(), Order::Stop { grace_ms: 10_000 });
        assert!(lines.next::<Order>().is_none());
    }

    #[test]
    fn a_report_says_how_a_process_ended() {
        let mut wire = Vec::new();
        say(&mut wire, &Report::Ended { pid: 7, how: Exit::Signal(11), at_ns: 5, orphan: false }).unwrap();
        let text = String::from_utf8(wire).unwrap();
        assert_eq!(text.trim(), r#"{"ended":{"pid":7,"how":{"signal":11},"at_ns":5,"orphan":false}}"#);
    }
}
