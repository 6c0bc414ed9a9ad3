//! Whose end is the system's: the command's, or, once that has ended with 0 while a process of its serves on, that
//! one's.
//!
//! A command that puts its server into the background has done what it was to do. Its server descends from the keeper
//! like all the rest, so it is watched and stopped as the command would have been. Any other status says that the
//! command failed, and is the system's death, whoever is left.

use std::fmt;
use std::time::Duration;

use crate::keeper::Exit;

/// Whose end is the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MainProcess {
    /// The command's.
    Command,
    /// That of this process, a child of the keeper's since its parent ended.
    Successor(u32),
    /// The command has ended with 0 before it was known who serves; this is the last end seen since.
    Open {
        /// How.
        how: Exit,
        /// When.
        at: Duration,
    },
}

impl MainProcess {
    /// Whether the end of this process is the system's. An orphan is any process but the command that was the keeper's.
    pub(super) fn ends_with(self, pid: u32, orphan: bool) -> bool {
        match self {
            Self::Command => !orphan,
            Self::Successor(successor) => successor == pid,
            Self::Open { .. } => false,
        }
    }
}

/// Whoever serves after the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Successor {
    /// The child of the keeper's that it is or descends from.
    pub(super) branch: u32,
    /// Itself.
    pub(super) pid: u32,
    /// The name of its program.
    pub(super) program: String,
    /// The port that it listens on; nothing: it only calls the stub.
    pub(super) port: Option<u16>,
}

impl fmt::Display for Successor {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "pid {} ({}) ", self.pid, self.program)?;
        match self.port {
            Some(port) => write!(to, "listens on port {port}"),
            None => to.write_str("calls the stub"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_end_is_the_commands_and_then_its_successors_alone() {
        assert!(MainProcess::Command.ends_with(7, false) && !MainProcess::Command.ends_with(8, true));
        assert!(MainProcess::Successor(8).ends_with(8, true) && !MainProcess::Successor(8).ends_with(9, true));
        let open = MainProcess::Open { how: Exit::Code(0), at: Duration::ZERO };
        assert!(!open.ends_with(8, true), "nobody knows who serves");
    }

    #[test]
    fn a_successor_says_who_it_is_and_how_it_serves() {
        let successor = |port| Successor { branch: 8, pid: 9, program: "node".to_owned(), port }.to_string();
        assert_eq!(successor(Some(8080)), "pid 9 (node) listens on port 8080");
        assert_eq!(successor(None), "pid 9 (node) calls the stub");
    }
}
