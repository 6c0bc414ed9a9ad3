//! What the requests and the bare connects saw from outside -> one list of stalls, each counted once. Pure.
//!
//! Where one waited and the other did not, and that is certain, the stall says so: it tells where the system stood
//! still.

use std::time::Duration;

use floodrig_reports::recording::{Apart, Stall};

use super::silence::Silence;
use super::stalls::Delays;

/// So many prompt waits during a stall of the others prove that it was not one loop which serves both. A busy loop
/// comes round to each once a turn, so that two may fall between two of its turns, and no third one.
const PROOF: usize = 3;

/// The stalls, in order.
pub(super) fn stalls(requests: &Delays, connects: &Delays) -> Vec<Stall> {
    let accepted = |silence: &Silence| connects.prompt_within(silence) >= PROOF;
    let answered = |silence: &Silence| requests.prompt_within(silence) >= PROOF;
    // Without such proof it may be a busy loop, which accepts once a turn: a queue.
    let unaccepted: Vec<Silence> = connects.unaccepted().filter(answered).collect();
    let within = |one: &Silence| unaccepted.iter().any(|other| other.from <= one.from && one.to <= other.to);
    let mut all: Vec<Stall> = requests
        .silences()
        .map(|silence| stall(&silence, accepted(&silence).then_some(Apart::Requests)))
        // Between two answers to others there is a silence too.
        .chain(connects.silences().filter(|silence| !within(silence)).map(|silence| stall(&silence, None)))
        .chain(unaccepted.iter().map(|silence| stall(silence, Some(Apart::Connects))))
        .collect();
    all.sort_by_key(|stall| stall.from_us);
    all.into_iter().fold(Vec::new(), merged)
}

fn stall(silence: &Silence, apart: Option<Apart>) -> Stall {
    let us = |time: Duration| time.as_micros() as u64;
    let len_us = us(silence.to.saturating_sub(silence.from));
    Stall { from_us: us(silence.from), len_us, apart, ..Stall::default() }
}

/// Two that overlap are one, and were seen apart only if both were.
fn merged(mut before: Vec<Stall>, next: Stall) -> Vec<Stall> {
    match before.last_mut() {
        Some(last) if next.from_us < last.from_us + last.len_us => {
            last.len_us = last.len_us.max(next.from_us + next.len_us - last.from_us);
            last.apart = last.apart.filter(|apart| next.apart == Some(*apart));
        }
        Some(_) | None => before.push(next),
    }
    before
}

#[cfg(test)]
mod tests {
    use super::super::stalls::Wait;
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn silence([from, to]: [u64; 2]) -> Silence {
        Silence { from: ms(from), to: ms(to), certain: ms(to) }
    }

    /// Waits of a millisecond every 50 ms, but for one that had these silences.
    fn delays(end: u64, silent: &[[u64; 2]], unaccepted: &[[u64; 2]]) -> Delays {
        let mut delays = Delays::default();
        let waits = silent.iter().chain(unaccepted).copied().collect::<Vec<_>>();
        for at in (0..end).step_by(50) {
            if !waits.iter().any(|[from, to]| *from <= at && at < *to) {
                let quick = vec![silence([at, at + 1])];
                delays.answered(Wait { sent: ms(at), delay: ms(1), silences: quick, unaccepted: Vec::new() });
            }
        }
        for [from, to] in waits {
            let of = |all: &[[u64; 2]]| all.iter().filter(|one| **one == [from, to]).map(|one| silence(*one)).collect();
            delays.answered(Wait {
                sent: ms(from),
                delay: ms(to - from),
                silences: of(silent),
                unaccepted: of(unaccepted),
            });
        }
        delays
    }

    fn found(requests: &Delays, connects: &Delays) -> Vec<(u64, u64, Option<Apart>)> {
        let row = |stall: Stall| (stall.from_us / 1000, stall.len_us / 1000, stall.apart);
        stalls(requests, connects).into_iter().map(row).collect()
    }

    #[test]
    fn a_stall_that_both_met_is_one_from_the_first_wait_to_the_last() {
        let (requests, connects) = (delays(3000, &[[1000, 1500]], &[]), delays(3000, &[[1025, 1510]], &[]));
        assert_eq!(found(&requests, &connects), [(1000, 510, None)]);
    }

    #[test]
    fn either_alone_tells_of_a_stall() {
        let (met, none) = (delays(3000, &[[1000, 1500]], &[]), Delays::default());
        assert_eq!(found(&met, &none), [(1000, 500, None)]);
        assert_eq!(found(&none, &met), [(1000, 500, None)]);
    }

    #[test]
    fn requests_that_wait_while_connects_are_accepted_wait_behind_the_loop() {
        let calm = delays(3000, &[], &[]);
        assert_eq!(found(&delays(3000, &[[1000, 1500]], &[]), &calm), [(1000, 500, Some(Apart::Requests))]);
        let short = delays(3000, &[[1000, 1149]], &[]);
        assert_eq!(found(&short, &calm), [(1000, 149, Some(Apart::Requests))]);
        let too_short = delays(3000, &[[1000, 1100]], &[]);
        assert_eq!(found(&too_short, &calm), [(1000, 100, None)]);
    }

    #[test]
    fn connects_that_wait_while_requests_are_answered_are_a_stall_of_who_accepts() {
        let waited = delays(3000, &[], &[[1000, 1500]]);
        assert_eq!(found(&delays(3000, &[], &[]), &waited), [(1000, 500, Some(Apart::Connects))]);
    }

    #[test]
    fn connects_that_wait_for_a_busy_loop_are_a_queue() {
        let turn = delays(3000, &[], &[[1000, 1099]]);
        assert_eq!(found(&delays(3000, &[], &[]), &turn), [], "two answers may fall between two turns");
        assert_eq!(found(&Delays::default(), &delays(3000, &[], &[[1000, 1500]])), [], "nobody knows who was answered");
    }
}
