//! Waits for the system, and which silences in them were too long. Pure.

use std::time::Duration;

use floodrig_reports::recording::Histogram;

use super::silence::Silence;

/// How far beyond the run's median a silence is a stall: a probe every 50 ms cannot tell shorter ones.
const MARGIN: Duration = Duration::from_millis(50);

/// One wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) sent: Duration,
    /// For what was waited for, or for the end of the wait without it.
    pub(super) delay: Duration,
    /// When nobody was served meanwhile.
    pub(super) silences: Vec<Silence>,
    /// When nobody was accepted meanwhile, of a wait for that.
    pub(super) unaccepted: Vec<Silence>,
}

/// The waits of one run. What it keeps grows with the waits, of which there are at most 20 a second.
#[derive(Debug, Default)]
pub(super) struct Delays {
    silences: Usual,
    unaccepted: Usual,
    /// From when to when each wait was that was no longer than the margin, in order.
    prompt: Vec<[Duration; 2]>,
    longest: Option<Duration>,
}

/// What is usual in a run, and what is longer.
#[derive(Debug, Default)]
struct Usual {
    /// The longest silence of each wait: that a queue is long says nothing about how long the system stood still.
    longest: Histogram,
    long: Vec<Silence>,
}

impl Usual {
    fn keep(&mut self, silences: Vec<Silence>) {
        // The median is never negative, so nothing shorter can turn out to be a stall.
        self.long.extend(silences.into_iter().filter(|silence| silence.certain_len() > MARGIN));
    }

    fn threshold(&self) -> Duration {
        MARGIN + Duration::from_micros(self.longest.quantile_us(0.5).unwrap_or(0))
    }

    fn unusual(&self) -> impl Iterator<Item = Silence> {
        let threshold = self.threshold();
        self.long.iter().copied().filter(move |silence| silence.certain_len() > threshold)
    }
}

fn longest(silences: &[Silence]) -> Duration {
    silences.iter().map(Silence::certain_len).max().unwrap_or_default()
}

impl Delays {
    /// A wait that ended with what was waited for.
    pub(super) fn answered(&mut self, wait: Wait) {
        self.silences.longest.record(longest(&wait.silences));
        self.unaccepted.longest.record(longest(&wait.unaccepted));
        if wait.delay <= MARGIN {
            self.prompt.push([wait.sent, wait.sent + wait.delay]);
        }
        self.keep(wait);
    }

    /// A wait that ended without it: with the run, or with the system. It counts if it was long.
    pub(super) fn cut_short(&mut self, wait: Wait) {
        if longest(&wait.silences) > self.silences.threshold()
            || longest(&wait.unaccepted) > self.unaccepted.threshold()
        {
            self.keep(wait);
        }
    }

    fn keep(&mut self, wait: Wait) {
        self.longest = self.longest.max(Some(wait.delay));
        self.silences.keep(wait.silences);
        self.unaccepted.keep(wait.unaccepted);
    }

    /// The longest wait, a stall or not; nothing when nothing came of any.
    pub(super) fn longest(&self) -> Option<Duration> {
        self.longest
    }

    /// Every time in which nobody was served beyond the median of the whole run by more than the margin, in order.
    pub(super) fn silences(&self) -> impl Iterator<Item = Silence> {
        self.silences.unusual()
    }

    /// Likewise in which nobody was accepted, whoever else was answered.
    pub(super) fn unaccepted(&self) -> impl Iterator<Item = Silence> {
        self.unaccepted.unusual()
    }

    /// How many waits began and ended within this time, none of them long.
    pub(super) fn prompt_within(&self, time: &Silence) -> usize {
        let after = self.prompt.partition_point(|[sent, _]| *sent < time.from);
        self.prompt[after..].iter().take_while(|[_, ended]| *ended <= time.to).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn stalls(delays: &Delays) -> Vec<[Duration; 2]> {
        delays.silences().map(|silence| [silence.from, silence.to]).collect()
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
        Wait {
            sent: ms(from),
            delay: ms(len),
            silences: silences.iter().map(silence).collect(),
            unaccepted: Vec::new(),
        }
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
        assert!(stalls(&delays).is_empty());
        delays.answered(silent(7000, 61));
        assert_eq!(stalls(&delays), [[ms(7000), ms(7061)]]);
    }

    #[test]
    fn a_system_that_is_always_slow_does_not_stall() {
        assert!(stalls(&delays(300)).is_empty());
    }

    #[test]
    fn a_queue_that_grows_is_no_stall_and_a_stall_in_it_is_told_alone() {
        let mut delays = delays(1);
        (0..100).for_each(|n| delays.answered(among_others(6000 + 100 * n, 90 + 10 * n, &[(6000 + 100 * n, 4)])));
        assert!(stalls(&delays).is_empty());
        delays.answered(among_others(20_000, 2000, &[(20_000, 4), (20_700, 500)]));
        assert_eq!(stalls(&delays), [[ms(20_700), ms(21_200)]]);
        assert_eq!(delays.longest(), Some(ms(2000)));
    }

    #[test]
    fn a_silence_that_is_not_certain_to_have_been_one_is_no_stall() {
        let mut delays = delays(1);
        let (from, to) = (ms(6000), ms(6100));
        let maybe = |certain| Wait {
            silences: vec![Silence { from, to, certain: ms(certain) }],
            ..among_others(6000, 100, &[])
        };
        delays.answered(maybe(6051));
        assert!(stalls(&delays).is_empty());
        delays.answered(maybe(6052));
        assert_eq!(stalls(&delays), [[from, to]]);
    }

    #[test]
    fn the_longest_delay_is_told_even_when_it_is_no_stall() {
        let mut delays = delays(1);
        delays.answered(silent(6000, 40));
        assert_eq!((delays.longest(), stalls(&delays)), (Some(ms(40)), Vec::new()));
        assert_eq!(Delays::default().longest(), None);
    }

    #[test]
    fn a_long_wait_without_an_answer_counts_and_a_short_one_does_not() {
        let mut delays = delays(1);
        delays.cut_short(silent(6000, 49));
        assert_eq!(delays.longest(), Some(ms(1)));
        delays.cut_short(silent(7000, 900));
        assert_eq!(stalls(&delays), [[ms(7000), ms(7900)]]);
    }

    #[test]
    fn prompt_waits_are_those_within_a_time_and_no_long_one_is_prompt() {
        let mut delays = Delays::default();
        for (at, len) in [(100, 5), (150, 50), (250, 51), (350, 5)] {
            delays.answered(silent(at, len));
        }
        let within = |from, to| delays.prompt_within(&Silence { from: ms(from), to: ms(to), certain: ms(to) });
        assert_eq!([within(100, 355), within(101, 354), within(150, 199), within(150, 200)], [3, 1, 0, 1]);
    }

    #[test]
    fn a_time_in_which_nobody_was_accepted_is_kept_apart() {
        let mut delays = delays(1);
        let unaccepted = vec![Silence { from: ms(6000), to: ms(6500), certain: ms(6500) }];
        delays.answered(Wait { unaccepted: unaccepted.clone(), ..among_others(6000, 500, &[]) });
        assert_eq!(delays.unaccepted().collect::<Vec<_>>(), unaccepted);
        assert!(stalls(&delays).is_empty());
    }
}
