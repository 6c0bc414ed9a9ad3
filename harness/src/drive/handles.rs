//! The cap on open connections that the rig's own limit of open files allows.

use std::fs;

use rustix::process::{Resource, getrlimit};

/// Beyond this no run needs handles; a limit may be "none".
const MOST_HANDLES: u64 = 1 << 20;

/// Handles kept under a low limit: for files of `/proc` that are read while the load is on, and for the bot's
/// connections to the stub.
const SPARE: u64 = 16;

/// How many connections may be open at once beside what this process has open already.
pub(crate) fn most_open() -> u64 {
    let handles = getrlimit(Resource::Nofile).current.unwrap_or(MOST_HANDLES);
    // Where they cannot be counted, the eighth has to do.
    let taken = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64;
    left(handles, taken)
}

/// An eighth of the handles is kept for the stub and the files, or what these have taken and some to spare.
fn left(handles: u64, taken: u64) -> u64 {
    handles.saturating_sub((handles / 8).max(taken + SPARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_is_kept_and_under_a_low_limit_what_is_taken_and_some_to_spare() {
        assert_eq!((left(1024, 40), left(1024, 112), left(1024, 113)), (896, 896, 895));
        assert_eq!((left(64, 30), left(64, 48), left(64, 60)), (18, 0, 0));
    }
}
