//! Waits of the probe, and which silences in them are stalls. Pure.

use std::time::Duration;

use floodrig_reports::recording::{Histogram, Stall};

use super::silence::Silence;

/// How far beyond the run's median a silence is a stall: a probe every 50 ms cannot tell shorter ones.
const MARGIN: Duration = Duration::from_millis(50);

/// One question's wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    /// For the answer, or for the end of the wait without one.
    pub(super) delay: Duration,
    /// When nobody was answered meanwhile.
    pub(super) silences: Vec<Silence>,
}

/// The waits of one run. What it keeps grows with the long silences, of which there are at most 20 a second.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// The longest silence of each wait: that a queue is long says nothing about how long the system stood still.
    quiet: Histogram,
    silences: Vec<Silence>,
    longest: Option<Duration>,
}

impl Wait {
    fn quiet(&self) -> Duration {
        self.silences.iter().map(Silence::certain_len).max().unwrap_or_default()
    }
}

impl Delays {
    /// A wait that ended with an answer.
    pub(super) fn answered(&mut self, wait: Wait) {
        self.quiet.record(wait.quiet());
        self.keep(wait);
    }

    /// A wait that ended without an answer: with the run, or with the system. It counts if it was long.
    pub(super) fn cut_short(&mut self, wait: Wait) {
        if wait.quiet() > self.threshold() {
            self.keep(wait);
        }
    }

    fn keep(&mut self, wait: Wait) {
        self.longest = self.longest.max(Some(wait.delay));
        // The median is never negative, so nothing shorter can turn out to be a stall.
        self.silences.extend(wait.silences.into_iter().filter(|silence| silence.certain_len() > MARGIN));
    }

    fn threshold(&self) -> Duration {
        MARGIN + Duration::from_micros(self.quiet.quantile_us(0.5).unwrap_or(0))
    }

    /// The longest delay, a stall or not; nothing when nothing was answered.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// The stalls, in order: every silence beyond the median of the whole run by more than the margin.
    pub(super) fn stalls(&self) -> Vec<Stall> {
        let threshold = self.threshold();
        let stalls = self.silences.iter().filter(|silence| silence.certain_len() > threshold);
        stalls.map(|silence| outside(silence.from, silence.to.saturating_sub(silence.from))).collect()
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

    /// A wait that was silent from its first to its last instant.
    fn silent(from: u64, len: u64) -> Wait {
        among_others(from, len, &[(from, len)])
    }

    /// A wait in which others were answered, but for these silences.
    fn among_others(from: u64, len: u64, silences: &[(u64, u64)]) -> Wait {
        let silence = |(from, len): &(u64, u64)| {
            let to = ms(from + len);
            Silence { from: ms(*from), to, certain: to }
        };
        assert!(silences.iter().all(|(at, lasts)| *at >= from && at + lasts <= from + len));
        Wait { delay: ms(len), silences: silences.iter().map(silence).collect() }
    }

    fn delays(usual: u64) -> Delays {
        let mut delays = Delays::default();
        (0..100).for_each(|n| delays.answered(silent(50 * n, usual)));
        delays
    }

    #[test]
    fn a_silence_50_ms_over_the_median_is_no_stall_and_beyond_it_is_one() {
        let mut delays = delays(10);
        delays.answered(silent(6000, 60));
        assert_eq!(delays.stalls(), []);
        delays.answered(silent(7000, 61));
        assert_eq!(delays.stalls(), [outside(ms(7000), ms(61))]);
    }

    #[test]
    fn a_system_that_is_always_slow_does_not_stall() {
        assert_eq!(delays(300).stalls(), []);
    }

    #[test]
    fn a_queue_that_grows_is_no_stall_and_a_stall_in_it_is_told_alone() {
        let mut delays = delays(1);
        (0..100).for_each(|n| delays.answered(among_others(6000 + 100 * n, 90 + 10 * n, &[(6000 + 100 * n, 4)])));
        assert_eq!(delays.stalls(), []);
        delays.answered(among_others(20_000, 2000, &[(20_000, 4), (20_700, 500)]));
        assert_eq!(delays.stalls(), [outside(ms(20_700), ms(500))]);
        assert_eq!(delays.longest(), Some(ms(2000)));
    }

    #[test]
    fn a_silence_that_is_not_certain_to_have_been_one_is_no_stall() {
        let mut delays = delays(1);
        let (from, to) = (ms(6000), ms(6100));
        let maybe = |certain| Wait { delay: ms(100), silences: vec![Silence { from, to, certain: ms(certain) }] };
        delays.answered(maybe(6051));
        assert_eq!(delays.stalls(), []);
        delays.answered(maybe(6052));
        assert_eq!(delays.stalls(), [outside(from, ms(100))]);
    }

    #[test]
    fn the_longest_delay_is_told_even_when_it_is_no_stall() {
        let mut delays = delays(1);
        delays.answered(silent(6000, 40));
        assert_eq!((delays.longest(), delays.stalls()), (Some(ms(40)), Vec::new()));
        assert_eq!(Delays::default().longest(), None);
    }

    #[test]
    fn a_long_wait_without_an_answer_counts_and_a_short_one_does_not() {
        let mut delays = delays(1);
        delays.cut_short(silent(6000, 49));
        assert_eq!(delays.longest(), Some(ms(1)));
        delays.cut_short(silent(7000, 900));
        assert_eq!(delays.stalls(), [outside(ms(7000), ms(900))]);
    }
}
