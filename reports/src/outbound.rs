//! The system's own connections over time, and what they say of a pool: all of it busy while acts queue up and the
//! event loop is calm means that the pool is the bottleneck. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Value;
use crate::recording::{Apart, Outbound, Stall, Towards};
use crate::timeline::{LoadPoint, Timeline};

/// A pool that is busy for so long is no passing burst.
const AT_LEAST_US: u64 = 2_000_000;
/// Of its connections, this share waits for an answer, on average: samples that fall between an answer and the next
/// question see some idle (measured on Postgres at pool 10: mostly 10 of 10, now and then 3 to 9).
const BUSY: f64 = 0.8;
/// A pool keeps its size; connections made for each request come and go. At most this share is missing at times.
const STEADY: f64 = 0.9;
/// Acts in flight for each connection: with one each nobody queues.
const QUEUED: f64 = 2.0;
/// The loop is calm when it stood still for less than this share of the time.
const CALM: f64 = 0.1;

/// The system's connections to one port, over the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named in full")]
pub struct Connections {
    pub name: Option<String>,
    pub established_peak: u64,
    pub waiting_peak: u64,
}

/// A pool of which all was busy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Saturated {
    pub(crate) port: u16,
    pub(crate) name: Option<String>,
    /// How many connections it had.
    pub(crate) size: u64,
    /// For how long it was busy without a break.
    pub(crate) us: u64,
    /// Acts in flight, at most, meanwhile.
    pub(crate) in_flight: u64,
    /// For how long the loop stood still meanwhile.
    pub(crate) stalled_us: u64,
}

/// The peaks by port.
pub(crate) fn connections(samples: &[Outbound]) -> BTreeMap<u16, Connections> {
    let mut all: BTreeMap<u16, Connections> = BTreeMap::new();
    for to in samples.iter().flat_map(|sample| &sample.to) {
        let one = all.entry(to.port).or_default();
        one.name.clone_from(&to.name);
        one.established_peak = one.established_peak.max(to.established);
        one.waiting_peak = one.waiting_peak.max(to.waiting);
    }
    all
}

/// Remote ports that were left out of the count.
pub(crate) fn uncounted_ports(samples: &[Outbound]) -> u64 {
    samples.iter().map(|sample| sample.uncounted_ports).max().unwrap_or(0)
}

/// The pool that was busy the longest, if any was for long enough.
pub(crate) fn saturated(timeline: &Timeline) -> Option<Saturated> {
    let ports = connections(&timeline.outbound);
    let pools = ports.iter().filter(|(_, one)| one.name.as_deref() != Some(Towards::STUB) && one.established_peak > 1);
    let found = pools.flat_map(|(port, one)| {
        spans(timeline, *port, one.established_peak).into_iter().map(move |span| (port, one, span))
    });
    let judged = found.filter_map(|(port, one, span)| {
        let in_flight = timeline.load.iter().filter(|point| within(point, span)).map(|point| point.in_flight).max()?;
        let stalled_us = stalled(&timeline.stalls, span);
        let us = span.1 - span.0;
        let queued = in_flight as f64 >= one.established_peak as f64 * QUEUED;
        let calm = (stalled_us as f64) < us as f64 * CALM;
        let name = one.name.clone();
        (queued && calm).then_some(Saturated {
            port: *port,
            name,
            size: one.established_peak,
            us,
            in_flight,
            stalled_us,
        })
    });
    judged.max_by_key(|saturated| saturated.us)
}

/// From and to, of each stretch in which a pool of this size was busy throughout.
fn spans(timeline: &Timeline, port: u16, size: u64) -> Vec<(u64, u64)> {
    let of_port = |sample: &Outbound| {
        sample.to.iter().find(|to| to.port == port).map(|to| (sample.at_us, to.established, to.waiting))
    };
    let samples: Vec<_> = timeline.outbound.iter().filter_map(of_port).collect();
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for (nth, first) in samples.iter().enumerate() {
        let Some(length) = samples[nth..].iter().position(|(at_us, ..)| at_us - first.0 >= AT_LEAST_US) else { break };
        let window = &samples[nth..=nth + length];
        let busy = window.iter().map(|(.., waiting)| *waiting as f64).sum::<f64>()
            >= BUSY * (size * window.len() as u64) as f64;
        let steady = window.iter().all(|(_, established, _)| *established as f64 >= size as f64 * STEADY);
        let until = window[length].0;
        match spans.last_mut() {
            _ if !busy || !steady => {}
            Some((_, end)) if *end >= first.0 => *end = until,
            Some(_) | None => spans.push((first.0, until)),
        }
    }
    spans
}

fn within(point: &LoadPoint, (from, until): (u64, u64)) -> bool {
    (from..until).contains(&((point.from_s * 1e6) as u64))
}

/// Requests that wait while connects are accepted wait behind a calm loop, for the pool most likely.
fn stalled(stalls: &[Stall], (from, until): (u64, u64)) -> u64 {
    let shared = |stall: &Stall| (stall.from_us + stall.len_us).min(until).saturating_sub(stall.from_us.max(from));
    stalls.iter().filter(|stall| stall.apart != Some(Apart::Requests)).map(shared).sum()
}

impl Saturated {
    /// In one line of words.
    pub(crate) fn hint(&self) -> String {
        let Self { port, name, size, us, .. } = self;
        let place = Towards::place(*port, name.as_deref());
        format!("pool of about {size} to {place} saturated for {} while the loop is calm", Value::Time(*us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of a pool of this size of which so many wait, with so many acts in flight.
    fn timeline(established: u64, waiting: impl Fn(u64) -> u64, in_flight: u64, name: Option<&str>) -> Timeline {
        let sample = |nth: u64| {
            let to = Towards { port: 5432, name: name.map(str::to_owned), established, waiting: waiting(nth) };
            Outbound { at_us: nth * 200_000, to: vec![to], uncounted_ports: 0 }
        };
        let point = |second: u64| LoadPoint { from_s: second as f64, len_s: 1.0, in_flight, ..LoadPoint::default() };
        Timeline { outbound: (0..50).map(sample).collect(), load: (0..10).map(point).collect(), ..Timeline::default() }
    }

    #[test]
    fn a_busy_pool_with_acts_queueing_and_a_calm_loop_is_saturated() {
        // As measured: full but for the samples that fall between an answer and the next question.
        let found = saturated(&timeline(10, |nth| if nth % 5 == 0 { 3 } else { 10 }, 400, Some("db"))).unwrap();
        assert_eq!((found.port, found.size, found.in_flight, found.stalled_us), (5432, 10, 400, 0));
        assert_eq!(found.hint(), "pool of about 10 to port 5432 (db) saturated for 9.8 s while the loop is calm");
    }

    #[test]
    fn a_pool_that_is_partly_idle_is_not_saturated() {
        assert_eq!(saturated(&timeline(30, |_| 23, 400, None)), None);
    }

    #[test]
    fn a_busy_pool_for_which_nobody_queues_is_not_saturated() {
        assert_eq!(saturated(&timeline(10, |_| 10, 19, None)), None);
        assert!(saturated(&timeline(10, |_| 10, 20, None)).is_some());
    }

    #[test]
    fn a_pool_that_is_busy_for_a_moment_is_not_saturated() {
        assert_eq!(saturated(&timeline(10, |nth| if nth < 7 { 10 } else { 0 }, 400, None)), None);
        assert!(saturated(&timeline(10, |nth| if nth < 12 { 10 } else { 0 }, 400, None)).is_some());
    }

    #[test]
    fn a_loop_that_stands_still_is_the_bottleneck_itself() {
        let mut stalled = timeline(10, |_| 10, 400, None);
        stalled.stalls = vec![Stall { from_us: 1_000_000, len_us: 970_000, ..Stall::default() }];
        assert!(saturated(&stalled).is_some());
        stalled.stalls = vec![Stall { from_us: 1_000_000, len_us: 990_000, ..Stall::default() }];
        assert_eq!(saturated(&stalled), None);
    }

    #[test]
    fn requests_that_wait_while_the_system_accepts_do_not_make_the_loop_the_bottleneck() {
        let mut waiting = timeline(10, |_| 10, 400, None);
        let of = |apart| vec![Stall { from_us: 1_000_000, len_us: 990_000, apart: Some(apart), ..Stall::default() }];
        waiting.stalls = of(Apart::Requests);
        assert!(saturated(&waiting).is_some());
        waiting.stalls = of(Apart::Connects);
        assert_eq!(saturated(&waiting), None);
    }

    #[test]
    fn a_bot_that_waits_for_updates_has_no_saturated_pool() {
        assert_eq!(saturated(&timeline(10, |_| 10, 400, Some(Towards::STUB))), None);
    }

    #[test]
    fn connections_that_come_and_go_are_no_pool() {
        let mut fanned_out = timeline(10, |_| 10, 400, None);
        fanned_out.outbound.iter_mut().step_by(3).for_each(|sample| sample.to[0].established = 8);
        assert_eq!(saturated(&fanned_out), None);
    }
}
