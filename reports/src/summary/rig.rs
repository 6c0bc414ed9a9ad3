//! Vitals -> how hard the rig itself had it, during the load alone.

use std::collections::BTreeMap;

use super::Rig;
use crate::recording::{Header, Part, Vital};

/// How long the rig must be busy for it to count as sustained: one busy second is a burst, and lag tells what it did.
const SUSTAINED_SECONDS: usize = 5;

/// Gathers what the vitals say of the rig while the load is on.
#[derive(Debug, Default)]
pub(super) struct RigWatch {
    load_us: (u64, u64),
    /// How many cores the rig and its stub have.
    cores: usize,
    busy_by_second: BTreeMap<u64, Mean>,
    own: OwnUse,
    steal: Mean,
    pressure: Mean,
    core_mhz: Option<(u64, u64)>,
    rig_cpu_us: Span,
    stub_cpu_us: Option<u64>,
}

/// What the rig and its stub have used: the first reading of the load, then the last of each second.
#[derive(Debug, Default)]
struct OwnUse {
    first: Option<Reading>,
    by_second: BTreeMap<u64, Reading>,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    at_us: u64,
    cpu_us: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Mean {
    sum: f64,
    count: u32,
}

/// The first and the last of a growing number.
#[derive(Debug, Default, Clone, Copy)]
struct Span(Option<(u64, u64)>);

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Span {
    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.0 = Some((self.0.map_or(value, |(first, _)| first), value));
        }
    }

    fn length(self) -> Option<u64> {
        self.0.map(|(first, last)| last.saturating_sub(first))
    }
}

impl OwnUse {
    fn add(&mut self, second: u64, reading: Reading) {
        self.first.get_or_insert(reading);
        self.by_second.insert(second, reading);
    }

    /// The share of the cores' time that was used in each second.
    fn shares(&self, cores: usize) -> Vec<f64> {
        let readings: Vec<Reading> = self.first.into_iter().chain(self.by_second.values().copied()).collect();
        let spans = readings.windows(2).map(|pair| (pair[1].at_us - pair[0].at_us, pair[1].cpu_us - pair[0].cpu_us));
        spans
            .filter(|(length, _)| *length > 0)
            .map(|(length, cpu)| cpu as f64 / (length * cores as u64) as f64)
            .collect()
    }
}

impl RigWatch {
    pub(super) fn new(header: &Header) -> Self {
        Self { load_us: header.load_us, cores: header.cores.rig.len().max(1), ..Self::default() }
    }

    pub(super) fn take(&mut self, vital: &Vital) {
        self.stub_cpu_us = vital.stub_cpu_us.or(self.stub_cpu_us);
        let (from_us, to_us) = self.load_us;
        if vital.at_us < from_us {
            return;
        }
        self.rig_cpu_us.add(vital.rig_cpu_us);
        if vital.at_us <= to_us {
            let second = (vital.at_us - from_us) / 1_000_000;
            self.busy_by_second.entry(second).or_default().add(vital.rig_core_busy);
            self.steal.add(vital.steal);
            self.pressure.add(vital.pressure);
            if let Some(mhz) = vital.core_mhz {
                let (lowest, highest) = self.core_mhz.unwrap_or((mhz, mhz));
                self.core_mhz = Some((lowest.min(mhz), highest.max(mhz)));
            }
            if let Some(rig) = vital.rig_cpu_us {
                let cpu_us = rig + self.stub_cpu_us.unwrap_or(0);
                self.own.add(second, Reading { at_us: vital.at_us, cpu_us });
            }
        }
    }

    /// With the CPU time that the load took before it began.
    pub(super) fn summary(&self, requests: u64, ahead_us: u64) -> Rig {
        let own = self.own.shares(self.cores);
        let cpu_us = self.rig_cpu_us.length().map(|us| us + ahead_us);
        Rig {
            cpu_us_per_request: cpu_us.filter(|_| requests > 0).map(|us| us as f64 / requests as f64),
            core_busy: greatest(self.busy_by_second.values().filter_map(|second| second.get())),
            own_busy: greatest(own.iter().copied()),
            own_busy_sustained: greatest(own.windows(SUSTAINED_SECONDS).map(least)),
            steal: self.steal.get(),
            pressure: self.pressure.get(),
            core_mhz: self.core_mhz,
            stub_cpu_seconds: self.stub_cpu_us.map(|us| us as f64 / 1e6),
            ..Rig::default()
        }
    }
}

impl Rig {
    /// Of several rigs the CPU time is added up; of shares the worst counts. One rig's own figures stay as they are.
    pub(super) fn of_all(self, parts: &[Part], requests: u64) -> Self {
        if parts.is_empty() {
            return self;
        }
        let worst = |of: fn(&Part) -> Option<f64>| greatest(parts.iter().filter_map(of));
        let cpu_us: Option<u64> = parts.iter().map(|part| part.cpu_us).sum();
        Self {
            cpu_us_per_request: cpu_us.filter(|_| requests > 0).map(|us| us as f64 / requests as f64),
            core_busy: worst(|part| part.core_busy),
            own_busy: worst(|part| part.own_busy),
            own_busy_sustained: worst(|part| part.own_busy_sustained),
            steal: worst(|part| part.steal),
            ..self
        }
    }

    /// CPU time of the rig during the load, as its figure for each of this many requests implies.
    pub(crate) fn cpu_us(&self, requests: f64) -> Option<u64> {
        self.cpu_us_per_request.map(|us| (us * requests).round() as u64)
    }
}

fn greatest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Cores;

    fn watch(load_us: (u64, u64), cores: u32) -> RigWatch {
        let cores = Cores { rig: (0..cores).collect(), ..Cores::default() };
        RigWatch::new(&Header { load_us, cores, ..Header::default() })
    }

    /// Ten ticks for each second, the load beginning two seconds after the epoch; of each second the rig and its stub
    /// use the given share on each of `cores`, half each, while the cores are wholly busy.
    fn watched(cores: u32, own: &[f64]) -> Rig {
        let mut watch = watch((2_000_000, 2_000_000 + own.len() as u64 * 1_000_000), cores);
        let mut used = 0.0;
        for (tick, share) in own.iter().flat_map(|share| [*share; 10]).enumerate() {
            used += share * f64::from(cores) * 100_000.0 / 2.0;
            let (at_us, half) = (2_100_000 + tick as u64 * 100_000 - 1, Some(used as u64));
            let vital =
                Vital { at_us, rig_core_busy: Some(1.0), rig_cpu_us: half, stub_cpu_us: half, ..Vital::default() };
            watch.take(&vital);
        }
        watch.summary(1_000, 0)
    }

    fn is_about(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-3)
    }

    #[test]
    fn what_others_use_of_the_rigs_cores_is_not_the_rigs_own_use() {
        let rig = watched(1, &[0.2; 6]);
        assert!(is_about(rig.core_busy, 1.0));
        assert!(is_about(rig.own_busy, 0.2) && is_about(rig.own_busy_sustained, 0.2), "{rig:?}");
    }

    #[test]
    fn the_use_is_of_all_the_cores_that_the_rig_has() {
        assert!(is_about(watched(2, &[0.95; 6]).own_busy_sustained, 0.95));
    }

    #[test]
    fn the_busiest_second_is_no_sustained_load() {
        let rig = watched(1, &[0.1, 0.1, 1.0, 0.1, 0.1, 0.1]);
        assert!(is_about(rig.own_busy, 1.0) && is_about(rig.own_busy_sustained, 0.1), "{rig:?}");
    }

    #[test]
    fn five_busy_seconds_on_end_are_and_four_are_not() {
        let sustained = |own: &[f64]| watched(1, own).own_busy_sustained;
        assert!(is_about(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.95, 0.2]), 0.95));
        assert!(is_about(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.2, 0.2]), 0.2));
        assert_eq!(sustained(&[0.95; 4]), None);
    }

    #[test]
    fn what_was_not_measured_is_not_zero() {
        let rig = watch((0, 1), 1).summary(10, 7);
        assert_eq!((rig.core_busy, rig.own_busy, rig.own_busy_sustained, rig.steal), (None, None, None, None));
        assert_eq!((rig.cpu_us_per_request, rig.stub_cpu_seconds), (None, None));
    }

    #[test]
    fn what_signing_took_before_the_load_is_part_of_every_request() {
        let mut watch = watch((0, 1_000_000), 1);
        for (at_us, used) in [(0, 100), (1_000_000, 700)] {
            watch.take(&Vital { at_us, rig_cpu_us: Some(used), ..Vital::default() });
        }
        assert_eq!([0, 300].map(|ahead| watch.summary(100, ahead).cpu_us_per_request), [Some(6.0), Some(9.0)]);
    }

    #[test]
    fn a_busy_core_before_the_load_is_nobodys_concern() {
        let mut watch = watch((1_000_000, 2_000_000), 1);
        let busy = Vital { rig_core_busy: Some(1.0), steal: Some(0.5), rig_cpu_us: Some(900_000), ..Vital::default() };
        watch.take(&Vital { at_us: 999_999, ..busy });
        let rig = watch.summary(1, 0);
        assert_eq!((rig.core_busy, rig.own_busy, rig.steal), (None, None, None));
    }
}
