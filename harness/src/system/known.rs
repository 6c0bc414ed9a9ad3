//! What is known of the system's end, shared between the watcher, which learns it, and whoever waits for it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::death::Death;
use super::servers::Servers;
use crate::keeper::Exit;

/// What is known of the system's end.
#[derive(Debug, Default)]
pub(super) struct End {
    /// Who serves, on the way from whoever waited for readiness to the watcher.
    pub(super) servers: Option<Servers>,
    /// When it ended without an order of the rig's, whatever that will be called.
    pub(super) ended_at: Option<Duration>,
    /// It died by itself.
    pub(super) death: Option<Death>,
    /// The command has ended with 0 and left processes behind.
    pub(super) command_left: bool,
    /// Who serves in its place, in words.
    pub(super) successor: Option<String>,
    /// Who still served when it died, in words.
    pub(super) survivor: Option<String>,
    /// The rig's own failure that ended it.
    pub(super) fault: Option<String>,
    /// The processes of it that have served until then.
    pub(super) served: Vec<u32>,
    /// When the rig ordered it to stop.
    pub(super) stop_ordered: Option<Duration>,
    /// How it ended after that, and when.
    pub(super) stopped: Option<(Exit, Duration)>,
    /// When, since that order, the last process of its tree ended.
    pub(super) last_ended: Option<Duration>,
    /// And the last of those that SIGKILL ended.
    pub(super) last_killed: Option<Duration>,
    /// Nothing of its tree is left, or the keeper has given up.
    pub(super) gone: bool,
    /// When nothing of its tree was left.
    pub(super) gone_at: Option<Duration>,
    /// Processes that SIGKILL did not end.
    pub(super) left: Vec<u32>,
    /// Events that found no room in the recorder's queue.
    pub(super) dropped: u64,
}

/// The end, shared between the watcher and whoever waits for it.
#[derive(Debug, Default)]
pub(super) struct Known {
    end: Mutex<End>,
    changed: Condvar,
}

impl Known {
    /// What is known now.
    pub(super) fn look(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it ends by itself within this time.
    pub(super) fn ends_within(&self, within: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(self.look(), within, |end| end.ended_at.is_none());
        waited.map_or_else(|poisoned| poisoned.into_inner().0.ended_at, |(end, _)| end.ended_at).is_some()
    }

    /// Waits until the whole tree is gone, for no longer than `within`.
    pub(super) fn wait_gone(&self, within: Duration) {
        // Whoever panicked with it in hand has left it as it was.
        let _waited = self.changed.wait_timeout_while(self.look(), within, |end| !end.gone);
    }

    /// Any process of the tree, the command or not, that ended after the order to stop.
    pub(super) fn note_of_stop(&self, how: Exit, at: Duration) {
        let mut end = self.look();
        if end.stop_ordered.is_some_and(|ordered| ordered <= at) {
            end.last_ended = Some(at);
            end.last_killed = if how == Exit::Signal(9) { Some(at) } else { end.last_killed };
        }
    }

    /// Changes it, and wakes whoever waits for that.
    pub(super) fn change(&self, how: impl FnOnce(&mut End)) {
        how(&mut self.look());
        self.changed.notify_all();
    }
}
