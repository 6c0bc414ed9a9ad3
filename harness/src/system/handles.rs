//! The rig's own limit on open files: raised for its connections, and known, so that the system gets the old one.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The soft limit on open files, before and after it was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    /// What the rig was started with, and what the system gets; nothing: unlimited.
    pub before: Option<u64>,
    /// What the rig has now; nothing: unlimited.
    pub now: Option<u64>,
}

/// Raises the soft limit of this process to the hard one.
pub fn raise_open_files() -> io::Result<OpenFiles> {
    let Rlimit { current: before, maximum } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(OpenFiles { before, now: maximum })
}
