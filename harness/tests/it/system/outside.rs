//! Stalls seen from outside alone, as of a system in Go, Rust or Java: in servers without a heartbeat, idle and busy.
//!
//! Orders go from the test to the server, and the server says what it really did and when it served nobody; the rig
//! knows of neither.

use std::ops::Range;
use std::time::Duration;

use floodrig::vitals::Observed;
use floodrig_reports::recording::{Stall, StallKind};

use super::drawn::Drawn;
use super::loops::{Done, Language, Look, Loop};

/// How often a measurement of real time is tried on a machine that others use too.
const TRIES: usize = 5;
/// Where nobody else asks, a stall is known to the 50 ms between two questions.
const WITHIN: Duration = Duration::from_millis(60);
/// One as short as this may be missed while everybody waits, as the report says.
const MAY_BE_MISSED: Duration = Duration::from_millis(200);
/// Each computes for 2 ms, so that everybody waits for a tenth of a second, always.
const PLAYERS: usize = 50;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// One stall of each length and kind, each after a pause that was drawn too.
fn ordered(of: &Loop, lengths: &[u64], drawn: &mut Drawn) -> Vec<Done> {
    let kinds = [StallKind::Computing, StallKind::Blocked].into_iter();
    let orders = kinds.flat_map(|kind| lengths.iter().map(move |least| (kind, *least)));
    orders
        .map(|(kind, least)| {
            std::thread::sleep(ms(drawn.below(300)) + ms(200));
            of.stall(kind, least + drawn.below(least / 4))
        })
        .collect()
}

/// What was done to a system, what it says of itself and what was seen of it.
#[derive(Debug)]
struct Seen {
    done: Vec<Done>,
    /// When everybody was there; at other times a pause is only that nobody was.
    busy: Range<Duration>,
    pauses: Vec<[Duration; 2]>,
    observed: Observed,
}

impl Seen {
    fn missed(&self, least: Duration) -> impl Iterator<Item = &Done> {
        let seen = |done: &Done| self.observed.stalls.iter().any(|stall| done.off(stall) <= WITHIN);
        self.done.iter().filter(move |done| done.len >= least && !seen(done))
    }

    /// No stall in which the server says that it served somebody. Those that it has paused in are right, ordered or not:
    /// the machine's other users cause some too.
    fn assert_nothing_made_up(&self) {
        let served = |stall: &&Stall| {
            let (from, to) =
                (Duration::from_micros(stall.from_us), Duration::from_micros(stall.from_us + stall.len_us));
            self.busy.contains(&from)
                && !self.pauses.iter().any(|[begun, ended]| from + WITHIN >= *begun && to <= *ended + WITHIN)
        };
        let made_up: Vec<&Stall> = self.observed.stalls.iter().filter(served).collect();
        assert!(made_up.is_empty(), "{made_up:?} of {self:?}");
    }
}

/// Calm at first, then with everybody there at once, and calm again.
fn under_saturating_load(language: Language, lengths: &[u64], drawn: &mut Drawn) -> Seen {
    let of = Loop::start(language, Look::OutsideOnly);
    std::thread::sleep(ms(4000));
    let load = of.load(PLAYERS, "/work");
    load.everybody_is_there();
    let busy_from = of.run.epoch.elapsed();
    std::thread::sleep(ms(1500));
    let done = ordered(&of, lengths, drawn);
    std::thread::sleep(ms(500));
    let busy = busy_from..of.run.epoch.elapsed();
    load.end();
    let mut pauses = of.pauses();
    // One that began with nobody there may go on when everybody is.
    pauses.retain(|[begun, ended]| *begun < busy.end && busy.start < *ended);
    Seen { done, busy, pauses, observed: of.end().1 }
}

#[test]
fn an_ordered_stall_is_seen_from_outside_within_60_ms() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        for lengths in [[150, 500].as_slice(), &[2000]] {
            from_outside(language, || Loop::start(language, Look::OutsideOnly), lengths, &mut drawn);
        }
    }
}

/// Each of these lengths, ordered of a system at rest, is seen within 60 ms.
pub(super) fn from_outside(language: Language, start: impl Fn() -> Loop, lengths: &[u64], drawn: &mut Drawn) {
    let tries = (0..TRIES).map(|_| {
        let of = start();
        let done = ordered(&of, lengths, drawn);
        Seen { done, busy: Duration::ZERO..Duration::ZERO, pauses: Vec::new(), observed: of.end().1 }
    });
    assert_seen(language, tries, Duration::ZERO);
}

#[test]
fn an_ordered_stall_under_saturating_load_is_seen_from_outside_within_60_ms_and_the_queue_is_not() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let tries = (0..TRIES).map(|_| {
            let seen = under_saturating_load(language, &[150, 500, 2000], &mut drawn);
            seen.assert_nothing_made_up();
            seen
        });
        assert_seen(language, tries, MAY_BE_MISSED);
    }
}

/// In one of a few tries, which are printed for their instants, lengths and kinds.
#[expect(clippy::print_stdout, reason = "what was drawn, and what was made of it")]
fn assert_seen(language: Language, mut tries: impl Iterator<Item = Seen>, least: Duration) {
    let right = tries.any(|seen| {
        println!("{language:?}: {seen:?}");
        seen.missed(least).next().is_none()
    });
    assert!(right, "{language:?}: a stall of {least:?} or more was missed or wrong in each of {TRIES} tries");
}

#[test]
fn a_server_that_is_merely_busy_answers_late_and_does_not_stall() {
    for language in Language::here() {
        let seen = under_saturating_load(language, &[], &mut Drawn::new());
        assert!(seen.observed.longest_delay > Some(ms(80)), "{language:?} was busy: {seen:?}");
        seen.assert_nothing_made_up();
    }
}
