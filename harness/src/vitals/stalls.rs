//! Delays of the probe, and which of them are stalls. Pure.

use std::time::Duration;

use floodrig_reports::recording::{Histogram, Stall};

/// How far beyond the run's median an answer is a stall: a probe every 50 ms cannot tell shorter ones.
const MARGIN: Duration = Duration::from_millis(50);

/// The delays of one run. What it keeps grows with the late answers, of which there are at most 20 a second.
#[derive(Debug, Default)]
pub(super) struct Delays {
    answered: Histogram,
    late: Vec<(Duration, Duration)>,
    longest: Option<Duration>,
}

impl Delays {
    /// An answer to what was sent at `sent`.
    pub(super) fn answered(&mut self, sent: Duration, delay: Duration) {
        self.answered.record(delay);
        self.keep(sent, delay);
    }

    /// A wait that ended without an answer: with the run, or with the system. It counts if it was long.
    pub(super) fn cut_short(&mut self, sent: Duration, delay: Duration) {
        if delay > self.threshold() {
            self.keep(sent, delay);
        }
    }

    fn keep(&mut self, sent: Duration, delay: Duration) {
        self.longest = self.longest.max(Some(delay));
        // The median is never negative, so nothing shorter can turn out to be a stall.
        if delay > MARGIN {
            self.late.push((sent, delay));
        }
    }

    fn threshold(&self) -> Duration {
        MARGIN + Duration::from_micros(self.answered.quantile_us(0.5).unwrap_or(0))
    }

    /// The longest delay, a stall or not; nothing when nothing was answered.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// The stalls, in order: every delay beyond the median of the whole run by more than the margin.
    pub(super) fn stalls(&self) -> Vec<Stall> {
        let threshold = self.threshold();
        let stalls = self.late.iter().filter(|(_, delay)| *delay > threshold);
        stalls.map(|(from, delay)| outside(*from, *delay)).collect()
    }
}

fn outside(from: Duration, len: Duration) -> Stall {
    Stall { from_us: from.as_micros() as u64, len_us: len.as_micros() as u64, ..Stall::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn delays(usual: Duration) -> Delays {
        let mut delays = Delays::default();
        for n in 0..100 {
            delays.answered(ms(50 * n), usual);
        }
        delays
    }

    #[test]
    fn an_answer_50_ms_over_the_median_is_no_stall_and_beyond_it_is_one() {
        let mut delays = delays(ms(10));
        delays.answered(ms(6000), ms(60));
        assert_eq!(delays.stalls(), []);
        delays.answered(ms(7000), ms(61));
        assert_eq!(delays.stalls(), [outside(ms(7000), ms(61))]);
    }

    #[test]
    fn a_system_that_is_always_slow_does_not_stall() {
        assert_eq!(delays(ms(300)).stalls(), []);
    }

    #[test]
    fn the_longest_delay_is_told_even_when_it_is_no_stall() {
        let mut delays = delays(ms(1));
        delays.answered(ms(6000), ms(40));
        assert_eq!((delays.longest(), delays.stalls()), (Some(ms(40)), Vec::new()));
        assert_eq!(Delays::default().longest(), None);
    }

    #[test]
    fn a_long_wait_without_an_answer_counts_and_a_short_one_does_not() {
        let mut delays = delays(ms(1));
        delays.cut_short(ms(6000), ms(49));
        assert_eq!(delays.longest(), Some(ms(1)));
        delays.cut_short(ms(7000), ms(900));
        assert_eq!(delays.stalls(), [outside(ms(7000), ms(900))]);
    }
}
