//! A queue told from a stall: whether anybody was answered while the probe waited. Pure.
//!
//! A busy system answers the probe late and everybody else meanwhile; one that stalls answers nobody. What the kernel
//! knows of its connections, looked at again and again during one wait, gives the times in which nobody was answered.

use std::time::Duration;

/// The kernel counts in ticks of up to 10 ms: of two looks at one answer, each may be off by one.
const SAME: Duration = Duration::from_millis(20);
/// How long before the probe's own question somebody else's may count: it would have met a stall of a longer past.
/// A connection that never gets an answer, as of a system that only listens, would reach back without end.
const REACH: Duration = Duration::from_millis(50);

/// A time in which nobody was answered though somebody had asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Silence {
    pub(super) from: Duration,
    /// The first answer that is known of.
    pub(super) to: Duration,
    /// Until when there was certainly none: a connection tells of its latest answer alone, and an earlier one between
    /// two looks is forgotten by it.
    pub(super) certain: Duration,
}

/// What all connections tell at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    at: Duration,
    since: Duration,
    /// The earliest answer after `since`.
    first: Option<Duration>,
    /// Whether the system has closed a connection since the look before, and what that one was told is forgotten.
    pub(super) closed: bool,
    /// Whether it has accepted one since then.
    pub(super) accepted: bool,
    /// How many connections have had an answer after it.
    pub(super) answered: usize,
    /// The latest answer to anybody.
    pub(super) latest: Option<Duration>,
    /// The earliest question that no answer has followed.
    pub(super) asked: Option<Duration>,
}

/// The silences of one wait, as they become known.
#[derive(Debug)]
pub(super) struct Silences {
    sent: Duration,
    open: Option<Open>,
    over: Vec<Silence>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    from: Duration,
    certain: Duration,
}

impl Silence {
    /// How long there was certainly no answer.
    pub(super) fn certain_len(&self) -> Duration {
        self.certain.saturating_sub(self.from)
    }
}

impl Look {
    /// At this instant, with an eye on what was answered since another one.
    pub(super) fn at(at: Duration, since: Duration) -> Self {
        Self { at, since, ..Self::default() }
    }

    /// For one who waits to be accepted: somebody else who was has been served too.
    pub(super) fn counting_acceptance(self) -> Self {
        Self { closed: self.closed || self.accepted, ..self }
    }

    /// As if nobody was ever answered, and all that the system did was to accept.
    pub(super) fn of_acceptance_alone(self) -> Self {
        Self { closed: self.accepted, ..Self::at(self.at, self.since) }
    }

    /// One connection's latest question and answer.
    pub(super) fn take(&mut self, asked: Option<Duration>, answered: Option<Duration>) {
        self.latest = self.latest.max(answered);
        if let Some(answered) = answered.filter(|answered| *answered > self.since) {
            self.first = Some(self.first.map_or(answered, |first| first.min(answered)));
            self.answered += 1;
        }
        if let Some(asked) = asked.filter(|asked| answered.is_none_or(|answered| answered < *asked)) {
            self.asked = Some(self.asked.map_or(asked, |first| first.min(asked)));
        }
    }
}

impl Silences {
    /// Of a wait that began with a question at this instant.
    pub(super) fn of(sent: Duration) -> Self {
        Self { sent, open: None, over: Vec::new() }
    }

    /// Since when the next look is to count answers.
    pub(super) fn since(&self) -> Duration {
        self.open.map_or(self.sent, |open| open.from + SAME)
    }

    /// Whether anything was heard of this wait.
    pub(super) fn is_heard(&self) -> bool {
        self.open.is_some()
    }

    /// A look while the wait goes on.
    pub(super) fn hear(&mut self, look: &Look) {
        let first = look.first.or(look.closed.then_some(look.at));
        match (&mut self.open, first) {
            (Some(open), None) => open.certain = look.at,
            (Some(open), Some(first)) => {
                self.over.push(Silence { from: open.from, to: first, certain: open.certain.min(first) });
                self.open = Some(self.begun(look));
            }
            (None, _) => self.open = Some(self.begun(look)),
        }
    }

    fn begun(&self, look: &Look) -> Open {
        if look.closed {
            return Open { from: look.at, certain: look.at };
        }
        let asked = look.asked.map_or(self.sent, |asked| asked.min(self.sent)).max(self.sent.saturating_sub(REACH));
        Open { from: look.latest.map_or(asked, |latest| latest.max(asked)), certain: look.at }
    }

    /// The wait has ended at this instant, with a last look if there is one and so many answers to the rig itself.
    /// Where nothing was heard it was all silence.
    pub(super) fn end(mut self, look: Option<&Look>, ended: Duration, own: usize) -> Vec<Silence> {
        let Some(open) = self.open else { return vec![Silence { from: self.sent, to: ended, certain: ended }] };
        let first = look.and_then(|look| look.first).map_or(ended, |first| first.min(ended));
        // Where all answers are the rig's own, no other can have been forgotten.
        let alone = look.is_some_and(|look| look.answered <= own && !look.closed);
        let certain = if alone { first } else { open.certain.min(first) };
        self.over.push(Silence { from: open.from.min(first), to: first, certain });
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A look at connections, each with its latest question and answer; 0: there was none.
    fn look(at: u64, silences: &Silences, connections: &[(u64, u64)]) -> Look {
        let mut look = Look::at(ms(at), silences.since());
        let known = |at: u64| (at > 0).then_some(ms(at));
        for (asked, answered) in connections {
            look.take(known(*asked), known(*answered));
        }
        look
    }

    fn silence(from: u64, to: u64, certain: u64) -> Silence {
        Silence { from: ms(from), to: ms(to), certain: ms(certain) }
    }

    #[test]
    fn a_wait_in_which_others_are_answered_is_a_queue() {
        let mut silences = Silences::of(ms(1000));
        for at in [1030, 1060, 1090] {
            silences.hear(&look(at, &silences, &[(1000, 950), (at - 3, at - 4), (at - 1, at - 2)]));
        }
        let last = look(1100, &silences, &[(1000, 1099), (1097, 1098), (1095, 1096)]);
        let all = silences.end(Some(&last), ms(1100), 1);
        assert!(all.iter().all(|silence| silence.certain_len() < ms(35)), "{all:?}");
    }

    #[test]
    fn a_stall_in_a_queue_lasts_from_the_last_answer_to_anybody_to_the_first_one_after_it() {
        let mut silences = Silences::of(ms(1000));
        let stalled = [(1000, 950), (1009, 1010), (1007, 1008)];
        silences.hear(&look(1030, &silences, &stalled));
        silences.hear(&look(1060, &silences, &stalled));
        silences.hear(&look(1490, &silences, &stalled));
        silences.hear(&look(1520, &silences, &[(1000, 950), (1009, 1503), (1506, 1505)]));
        let last = look(1530, &silences, &[(1000, 1527), (1509, 1529), (1506, 1528)]);
        assert_eq!(silences.end(Some(&last), ms(1531), 1)[0], silence(1010, 1503, 1490));
    }

    #[test]
    fn where_nobody_else_asks_it_lasts_from_the_probes_question_to_its_answer() {
        let mut silences = Silences::of(ms(1000));
        silences.hear(&look(1030, &silences, &[(1000, 951)]));
        let last = look(1200, &silences, &[(1000, 1199)]);
        assert_eq!(silences.end(Some(&last), ms(1201), 1), [silence(1000, 1199, 1199)]);
    }

    #[test]
    fn somebody_who_asked_before_the_probe_did_shows_when_it_began() {
        let mut silences = Silences::of(ms(1000));
        silences.hear(&look(1030, &silences, &[(1000, 951), (970, 0)]));
        let last = look(1200, &silences, &[(1000, 1199), (970, 1198)]);
        assert_eq!(silences.end(Some(&last), ms(1201), 1), [silence(970, 1198, 1030)]);
    }

    #[test]
    fn a_connection_that_never_gets_an_answer_reaches_back_50_ms_and_no_further() {
        let mut silences = Silences::of(ms(1000));
        silences.hear(&look(1030, &silences, &[(1000, 551), (100, 0)]));
        assert_eq!(silences.end(None, ms(1200), 1)[0].from, ms(950));
    }

    #[test]
    fn an_answer_that_a_later_one_may_hide_is_not_certain_to_have_been_missing() {
        let mut silences = Silences::of(ms(1000));
        silences.hear(&look(1030, &silences, &[(1000, 950), (1029, 1028)]));
        let last = look(1100, &silences, &[(1000, 1099), (1099, 1098)]);
        assert_eq!(silences.end(Some(&last), ms(1100), 1), [silence(1028, 1098, 1030)]);
    }

    #[test]
    fn connections_that_are_closed_one_after_another_are_a_queue_too() {
        let mut silences = Silences::of(ms(1000));
        for at in (1030..1300).step_by(30) {
            let look = Look { closed: true, ..look(at, &silences, &[(1000, 950)]) };
            silences.hear(&look);
        }
        let last = Look { closed: true, ..look(1310, &silences, &[(1000, 1309)]) };
        let all = silences.end(Some(&last), ms(1310), 1);
        assert!(all.iter().all(|silence| silence.certain_len() < ms(35)), "{all:?}");
    }

    #[test]
    fn a_wait_that_nothing_was_heard_of_was_all_silence() {
        assert_eq!(Silences::of(ms(7)).end(None, ms(70), 1), [silence(7, 70, 70)]);
    }

    #[test]
    fn a_queue_that_is_accepted_in_turn_is_none_and_one_that_is_not_is_silence_though_others_are_answered() {
        let accepts = |accepted: &[u64]| {
            let (mut both, mut alone) = (Silences::of(ms(1000)), Silences::of(ms(1000)));
            for at in (1030..1300).step_by(30) {
                let look = Look { accepted: accepted.contains(&at), ..look(at, &both, &[(at - 3, at - 2)]) };
                both.hear(&look.counting_acceptance());
                alone.hear(&look.of_acceptance_alone());
            }
            let longest = |all: &[Silence]| all.iter().map(Silence::certain_len).max().unwrap();
            (longest(&both.end(None, ms(1301), 0)), longest(&alone.end(None, ms(1301), 0)))
        };
        let (both, alone) = accepts(&(1030..1300).step_by(30).collect::<Vec<_>>());
        assert!(both < ms(35) && alone < ms(35), "{both:?} {alone:?}");
        let (both, alone) = accepts(&[]);
        assert!(both < ms(35) && alone == ms(270), "{both:?} {alone:?}");
    }
}
