//! Players who wait to try again, each for an instant of their own.
//!
//! They wait on the pacer's alarm, as arrivals do: tokio's own timers have ticks of 1 ms, and would send a tick's worth
//! of tries in one lump. There is at most one for each player, which is what bounds the queue.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::oneshot;

/// Who waits, by when and by the arrival that is tried again.
#[derive(Debug, Default)]
pub(super) struct Retries {
    waiting: BTreeMap<(Duration, u32), oneshot::Sender<()>>,
}

impl Retries {
    /// Puts a try down for `due`; whoever waits for it hears of it then.
    pub(super) fn wait(&mut self, due: Duration, arrival: u32) -> oneshot::Receiver<()> {
        let (ring, rung) = oneshot::channel();
        self.waiting.insert((due, arrival), ring);
        rung
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.waiting.first_key_value().map(|((due, _), _)| *due)
    }

    /// Tells everybody whose try has come due by `now`, in the order of their instants.
    pub(super) fn ring(&mut self, now: Duration) {
        while let Some(first) = self.waiting.first_entry().filter(|first| first.key().0 <= now) {
            // A load that is being ended has nobody left who waits.
            let _heard = first.remove().send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_is_told_of_when_it_is_due_and_not_before() {
        let us = Duration::from_micros;
        let mut retries = Retries::default();
        let (mut late, mut early) = (retries.wait(us(2), 0), retries.wait(us(1), 1));
        let mut beside = retries.wait(us(2), 2);
        assert_eq!(retries.next_due(), Some(us(1)));
        retries.ring(us(0));
        assert!(early.try_recv().is_err());
        retries.ring(us(1));
        assert!(early.try_recv().is_ok() && late.try_recv().is_err());
        assert_eq!(retries.next_due(), Some(us(2)));
        retries.ring(us(3));
        assert!(late.try_recv().is_ok() && beside.try_recv().is_ok());
        assert_eq!(retries.next_due(), None);
    }
}
