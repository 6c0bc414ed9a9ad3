//! A row for the writer from whoever may wait for the disk, and for how long: a disk that takes nothing any more must
//! not hold a run up for ever.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use floodrig_reports::recording::Row;

use super::progress::Progress;

/// A disk that takes nothing for so long, on top of what the queue rides out, is not coming back during a run.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How often the queue is looked at again: its writer needs microseconds for a row.
const EVERY: Duration = Duration::from_millis(5);

/// Hands over a row, and waits for room if need be. What finds none in time is lost and counted, and the recording is
/// then at fault: [`super::Recorder::finish`] says so. A writer that is gone tells its own error there.
pub fn hand_over(rows: &SyncSender<Row>, row: Row, progress: &Progress) {
    hand_over_within(rows, row, progress, PATIENCE);
}

pub(super) fn hand_over_within(rows: &SyncSender<Row>, row: Row, progress: &Progress, within: Duration) {
    let mut waiting = Some(row);
    // Who has waited in vain once does not wait again.
    let within = if progress.lost() > 0 { Duration::ZERO } else { within };
    let handed_over = eventually(within, || match rows.try_send(waiting.take()?) {
        Ok(()) | Err(TrySendError::Disconnected(_)) => Some(()),
        Err(TrySendError::Full(row)) => {
            waiting = Some(row);
            None
        }
    });
    if handed_over.is_none() {
        progress.lose();
    }
}

/// Looks until something comes of it, for no longer than `within`.
pub(super) fn eventually<T>(within: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut left = within;
    loop {
        let seen = look();
        if seen.is_some() || left.is_zero() {
            return seen;
        }
        let pause = left.min(EVERY);
        thread::sleep(pause);
        left -= pause;
    }
}
