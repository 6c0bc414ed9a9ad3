//! What came after the load -> numbers: what of it was left once the system had rested, and what a stop cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::{self, DeliveryInterval, Header, Observations, OrderedStop, Outcome, ProbePlayer, RigFault};
use crate::timeline::VitalPoint;

/// The level of memory and handles is the median of the ticks of so many seconds: one garbage collection is no level.
const LEVEL_S: f64 = 0.6;

/// The system at rest again. A level that was not measured is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// How long it was left alone before it was looked at, in milliseconds.
    pub idle_ms: u64,
    /// Memory of its process tree after the pre-flight, before the load.
    pub rss_before_bytes: Option<u64>,
    /// The same at the end of the idle time.
    pub rss_after_bytes: Option<u64>,
    /// What had come to it; negative when it gave some back.
    pub rss_left_bytes: Option<i64>,
    /// Handles before the load.
    pub handles_before: Option<u64>,
    /// Handles at the end of the idle time.
    pub handles_after: Option<u64>,
    /// What had come to them.
    pub handles_left: Option<i64>,
    /// The probe players' first acts by name, one of each journey.
    pub acts: BTreeMap<String, ProbeTimes>,
}

/// A first act done alone, before the load and after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeTimes {
    /// In the pre-flight, from the send, in microseconds.
    pub before_us: Option<u64>,
    /// After the load; `null`: it did not succeed.
    pub after_us: Option<u64>,
    /// What became of it after the load: `ok`, or the key of its class among the outcomes of an act.
    pub outcome: String,
    /// What kept the rig itself from sending it, or from judging its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rig_fault: Option<RigFault>,
}

/// A stop that the scenario ordered: never a crash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shutdown {
    /// When SIGTERM was sent, in milliseconds since the start of the load.
    pub at_ms: i64,
    /// From SIGTERM until nothing of the process tree was left; `null`: its end was not seen.
    pub exit_ms: Option<u64>,
    /// Whether SIGKILL had to end it, its time being up.
    pub killed: bool,
    /// Acts in flight at the order.
    pub in_flight: u64,
    /// Acts begun after the order and not served: expected, and charged to nobody.
    pub stopped: u64,
    /// Messages that were accepted and not yet visible at the order; `null` when no act `shows` anything.
    pub waiting: Option<u64>,
    /// Messages that were accepted and never became visible.
    pub lost: Option<u64>,
    /// Updates acknowledged and never acted on; `null` when no act is towards the bot.
    pub unacted: Option<u64>,
}

impl Recovery {
    pub(super) fn of(rested: recording::Recovery, vitals: &[VitalPoint], load_from_us: u64) -> Self {
        let before = levels(vitals, load_from_us as f64 / 1e6);
        let after = levels(vitals, rested.to_us as f64 / 1e6);
        let times = |ProbePlayer { act, before_us, after_us, outcome }| {
            let rig_fault = if let Outcome::RigFault(fault) = outcome { Some(fault) } else { None };
            (act, ProbeTimes { before_us, after_us, outcome: outcome.words().to_owned(), rig_fault })
        };
        Self {
            idle_ms: rested.to_us.saturating_sub(rested.from_us) / 1_000,
            rss_before_bytes: before.0,
            rss_after_bytes: after.0,
            rss_left_bytes: left(before.0, after.0),
            handles_before: before.1,
            handles_after: after.1,
            handles_left: left(before.1, after.1),
            acts: rested.players.into_iter().map(times).collect(),
        }
    }

    /// The slowest of the probe players; nothing when one of them was not served.
    pub fn slowest_us(&self) -> Option<u64> {
        self.acts.values().map(|times| times.after_us).min_by_key(|us| us.map(std::cmp::Reverse))?
    }

    /// What kept the rig from sending a probe player, or from judging the answer, if anything did.
    pub fn rig_fault(&self) -> Option<RigFault> {
        self.acts.values().find_map(|times| times.rig_fault)
    }
}

/// Memory and handles, as they stood in the last ticks up to an instant.
fn levels(vitals: &[VitalPoint], until_s: f64) -> (Option<u64>, Option<u64>) {
    let near = || vitals.iter().filter(|tick| (until_s - LEVEL_S..=until_s).contains(&tick.at_s));
    let memory: Option<Vec<u64>> = near().map(|tick| tick.rss_bytes).collect();
    let handles: Option<Vec<u64>> = near().map(|tick| tick.handles).collect();
    (memory.and_then(median), handles.and_then(median))
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn left(before: Option<u64>, after: Option<u64>) -> Option<i64> {
    Some(after? as i64 - before? as i64)
}

impl Shutdown {
    pub(super) fn of(stop: OrderedStop, deliveries: &DeliveryInterval, stopped: u64, header: &Header) -> Self {
        let shown = Observations::is_active(&header.observations.deliveries);
        Self {
            at_ms: (stop.at_us as i64 - header.load_us.0 as i64) / 1_000,
            exit_ms: stop.gone_us.map(|gone| gone.saturating_sub(stop.at_us) / 1_000),
            killed: stop.killed,
            in_flight: stop.in_flight,
            stopped,
            waiting: shown.then_some(stop.waiting),
            lost: shown.then_some(deliveries.lost),
            unacted: stop.unacted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn ticks(levels: &[(f64, u64)]) -> Vec<VitalPoint> {
        let tick =
            |&(at_s, mib)| VitalPoint { at_s, rss_bytes: Some(mib * MIB), handles: Some(mib), ..VitalPoint::default() };
        levels.iter().map(tick).collect()
    }

    fn rested() -> recording::Recovery {
        recording::Recovery { from_us: 12_000_000, to_us: 15_000_000, players: Vec::new() }
    }

    #[test]
    fn what_is_left_is_the_level_after_the_idle_time_over_the_one_before_the_load() {
        let vitals = ticks(&[(1.8, 30), (1.9, 90), (2.0, 30), (5.0, 400), (14.8, 80), (14.9, 80), (15.0, 81)]);
        let recovery = Recovery::of(rested(), &vitals, 2_000_000);
        assert_eq!((recovery.rss_before_bytes, recovery.rss_after_bytes), (Some(30 * MIB), Some(80 * MIB)));
        assert_eq!(
            (recovery.rss_left_bytes, recovery.handles_left, recovery.idle_ms),
            (Some(50 << 20), Some(50), 3_000)
        );
    }

    #[test]
    fn a_level_that_nobody_measured_is_not_zero() {
        let no_process = [1.9, 15.0].map(|at_s| VitalPoint { at_s, ..VitalPoint::default() });
        for vitals in [ticks(&[(5.0, 400)]), no_process.to_vec()] {
            let recovery = Recovery::of(rested(), &vitals, 2_000_000);
            assert_eq!((recovery.rss_before_bytes, recovery.rss_left_bytes), (None, None));
            assert_eq!((recovery.handles_before, recovery.handles_after, recovery.handles_left), (None, None, None));
        }
    }

    #[test]
    fn a_player_who_was_not_served_is_slower_than_any() {
        let times = |after_us| ProbeTimes { before_us: None, after_us, outcome: "timeout".to_owned(), rig_fault: None };
        let of = |acts: &[(&str, Option<u64>)]| {
            let acts = acts.iter().map(|(name, us)| ((*name).to_owned(), times(*us))).collect();
            Recovery { acts, ..Recovery::default() }.slowest_us()
        };
        assert_eq!(of(&[("open", Some(5)), ("guess", Some(9))]), Some(9));
        assert_eq!(of(&[("open", Some(5)), ("guess", None)]), None);
    }
}
