//! An end that nobody is known to have ordered. Pure.
//!
//! Whoever ends a run may signal the rig, its keepers and the system all together, as `systemd` and CI do, and the rig
//! may hear of its own signal last. So such an end is held back for a moment before it is called a death, or a failure.

use std::time::Duration;

use super::death::Death;

/// Signals of one cause come within milliseconds; the thread that hears the rig's may have to wait for a busy core.
pub(super) const ONE_CAUSE: Duration = Duration::from_millis(200);

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The system has ended, and this is its death unless somebody has ended the run.
    Died(Death),
    /// Its keeper is lost.
    KeeperLost,
}

/// Something found, and not yet called by its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doubt {
    /// What.
    pub(super) found: Found,
    until: Duration,
}

impl Doubt {
    /// Found now.
    pub(super) fn new(found: Found, now: Duration) -> Self {
        Self { found, until: now + ONE_CAUSE }
    }

    /// Whether nobody's word can explain it any more.
    pub(super) fn is_over(&self, now: Duration) -> bool {
        now >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_in_doubt_for_a_moment_and_no_longer() {
        let doubt = Doubt::new(Found::KeeperLost, Duration::from_secs(1));
        assert!(!doubt.is_over(Duration::from_millis(1199)));
        assert!(doubt.is_over(Duration::from_millis(1200)));
    }
}
