//! The rig's own limit on open files: raised for its connections, and known, so that the system gets the old one.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of this process to the hard one. The answer is the old one, which the system gets; nothing:
/// it was unlimited.
pub fn raise_open_files() -> io::Result<Option<u64>> {
    let Rlimit { current: before, maximum } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(before)
}
