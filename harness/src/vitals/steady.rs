//! The schedule of what is tried over and over: on planned instants, and never twice at a time.
//!
//! While one try is outstanding there is no other: the instants that pass meanwhile belong to the same wait.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::stalls::{Delays, Wait};
use crate::system::Clock;

/// How long the first try may take; after that there are no others, since there would be nothing to measure.
pub(super) const FIRST_WITHIN: Duration = Duration::from_secs(2);

/// When something is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steady {
    /// An instant of the schedule; those before the start are not made up for.
    pub(super) from: Duration,
    /// From one to the next.
    pub(super) period: Duration,
}

impl Steady {
    /// Tries until it is told to stop. A try gives its wait, or the wait that ended without what was waited for.
    pub(super) fn until_stopped(
        self,
        clock: Clock,
        stop: &Receiver<()>,
        mut once: impl FnMut(&Receiver<()>) -> Result<Wait, Wait>,
    ) -> Delays {
        let mut delays = Delays::default();
        loop {
            let next = next_planned(self.from, clock.now(), self.period);
            match stop.recv_timeout(next.saturating_sub(clock.now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return delays,
            }
            match once(stop) {
                Ok(wait) => delays.answered(wait),
                Err(wait) => delays.cut_short(wait),
            }
        }
    }
}

/// The first planned instant after `now`.
fn next_planned(from: Duration, now: Duration, period: Duration) -> Duration {
    let passed = now.saturating_sub(from).as_nanos() / period.as_nanos() + 1;
    from + period * passed as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_that_passed_during_a_wait_are_not_made_up_for() {
        let ms = Duration::from_millis;
        let next = |now| next_planned(ms(7), ms(now), ms(50));
        assert_eq!([next(7), next(56), next(57), next(700)], [ms(57), ms(57), ms(107), ms(707)]);
    }
}
