//! The rig's own limit of open files, raised for as long as it drives, and the cap on connections that comes of it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Beyond this no run needs handles; a hard limit may be "none".
const MOST_HANDLES: u64 = 1 << 20;

/// The limit while it is raised. Dropped, it is put back, so that what the rig starts later inherits what the
/// user had set and not what the rig needed.
#[derive(Debug)]
pub(super) struct Handles {
    /// Nothing: the limit was not raised.
    before: Option<Rlimit>,
}

impl Handles {
    /// Raises the soft limit to the hard one. Where that is refused, the limit stays, and with it the cap of
    /// [`most_open`].
    pub(super) fn raise() -> Self {
        let before = getrlimit(Resource::Nofile);
        let highest = before.maximum.unwrap_or(MOST_HANDLES).min(MOST_HANDLES);
        let raised = Rlimit { current: before.current.map(|now| now.max(highest)), ..before };
        Self { before: setrlimit(Resource::Nofile, raised).is_ok().then_some(before) }
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        let lowered = self.before.map_or(Ok(()), |before| setrlimit(Resource::Nofile, before));
        debug_assert!(lowered.is_ok(), "lowering a soft limit is always permitted");
    }
}

/// How many connections may be open at once: an eighth of the handles is kept for the stub and the files.
pub(super) fn most_open() -> u64 {
    let handles = getrlimit(Resource::Nofile).current.unwrap_or(MOST_HANDLES);
    handles - handles / 8
}
