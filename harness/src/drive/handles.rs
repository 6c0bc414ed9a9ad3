//! The cap on open connections that the rig's own limit of open files allows.

use rustix::process::{Resource, getrlimit};

/// Beyond this no run needs handles; a limit may be "none".
const MOST_HANDLES: u64 = 1 << 20;

/// How many connections may be open at once: an eighth of the handles is kept for the stub and the files.
pub(crate) fn most_open() -> u64 {
    let handles = getrlimit(Resource::Nofile).current.unwrap_or(MOST_HANDLES);
    handles - handles / 8
}
