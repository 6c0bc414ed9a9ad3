//! Rows gathered in memory: all intervals as one, and ten times a second what the rig itself used.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use floodrig_reports::recording::{Histogram, Interval, Row, Vital};

use crate::system::Clock;
use crate::vitals::OwnUse;

/// Ten looks a second.
const PERIOD: Duration = Duration::from_millis(100);

/// What a bench left. It grows with its length by a vital ten times a second, and with its requests not at all.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// All intervals as one.
    pub(super) total: Interval,
    /// What the rig itself used.
    pub(super) vitals: Vec<Vital>,
}

/// Gathers.
#[derive(Debug)]
pub(super) struct Gathering {
    clock: Clock,
    own: OwnUse,
    next_look: Duration,
    gathered: Gathered,
}

impl Gathering {
    /// The first look is at the start of the load.
    pub(super) fn new(clock: Clock, load_from: Duration, own: OwnUse) -> Self {
        Self { clock, own, next_look: load_from, gathered: Gathered::default() }
    }

    /// Gathers until the engine has ended, and tells the time and the p99 so far with each look.
    pub(super) fn until_closed(
        mut self,
        queue: &Receiver<Row>,
        tell: &mut dyn FnMut(Duration, Option<Duration>),
    ) -> Gathered {
        loop {
            match queue.recv_timeout(self.next_look.saturating_sub(self.clock.now())) {
                Ok(Row::Interval(interval)) => merge(&mut self.gathered.total, &interval),
                Ok(
                    Row::Exemplar(_)
                    | Row::Header(_)
                    | Row::Vital(_)
                    | Row::Outbound(_)
                    | Row::Confined(_)
                    | Row::Stall(_)
                    | Row::Stack(_)
                    | Row::Probed(_)
                    | Row::Calls(_)
                    | Row::Deliveries(_)
                    | Row::Event(_)
                    | Row::Recovery(_)
                    | Row::OrderedStop(_)
                    | Row::Logs(_)
                    | Row::Ending(_)
                    | Row::Seal(_),
                ) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.look();
                    tell(now, p99(&self.gathered.total));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.look();
                    return self.gathered;
                }
            }
        }
    }

    fn look(&mut self) -> Duration {
        let now = self.clock.now();
        self.gathered.vitals.push(self.own.look(now));
        self.next_look = now + PERIOD;
        now
    }
}

fn merge(total: &mut Interval, interval: &Interval) {
    for (name, act) in &interval.acts {
        total.acts.entry(name.clone()).or_default().merge(act);
    }
    let until = interval.from_us + interval.len_us;
    if total.len_us == 0 {
        total.from_us = interval.from_us;
    }
    total.len_us = until - total.from_us;
    total.in_flight = interval.in_flight;
}

fn p99(total: &Interval) -> Option<Duration> {
    let mut responses = Histogram::default();
    total.acts.values().for_each(|act| responses.merge(&act.response));
    responses.quantile_us(0.99).map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodrig_reports::recording::ActInterval;

    #[test]
    fn intervals_become_one_that_spans_them_all() {
        let interval = |from_us, ok| {
            let act = ActInterval { ok, ..ActInterval::default() };
            Interval { from_us, len_us: 100, acts: [("bench".to_owned(), act)].into(), in_flight: ok, unmatched: None }
        };
        let mut total = Interval::default();
        merge(&mut total, &interval(50, 3));
        merge(&mut total, &interval(150, 4));
        assert_eq!((total.from_us, total.len_us, total.acts["bench"].ok, total.in_flight), (50, 200, 7, 4));
    }
}
