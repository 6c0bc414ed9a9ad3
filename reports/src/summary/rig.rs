//! Vitals -> how hard the rig itself had it, during the load alone.

use std::collections::BTreeMap;

use super::looks::Looks;
use super::{Busy, Rig};
use crate::recording::{Header, Part, Vital};

/// How long the rig must be busy for it to count as sustained: one busy second is a burst, and lag tells what it did.
/// A load that is over sooner counts as a whole.
const SUSTAINED_SECONDS: usize = 5;

/// Gathers what the vitals say of the rig while the load is on.
#[derive(Debug, Default)]
pub(super) struct RigWatch {
    load_us: (u64, u64),
    /// How many cores the rig and its stub have.
    cores: usize,
    looks: Looks,
    busy_by_second: BTreeMap<u64, Mean>,
    own: OwnUse,
    /// One thread each, which can use one core however many there are.
    driver: OwnUse,
    stub: OwnUse,
    steal: Mean,
    pressure: Mean,
    core_mhz: Option<(u64, u64)>,
    rig_cpu_us: Span,
    stub_cpu_us: Option<u64>,
}

/// What the rig or a part of it has used: the first reading of the load, then the last of each second.
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
    fn add(&mut self, second: u64, at_us: u64, cpu_us: Option<u64>) {
        let Some(cpu_us) = cpu_us else { return };
        let reading = Reading { at_us, cpu_us };
        self.first.get_or_insert(reading);
        self.by_second.insert(second, reading);
    }

    fn busy(&self, cores: usize) -> Busy {
        let shares = self.shares(cores);
        let window = SUSTAINED_SECONDS.min(shares.len());
        let sustained = (window > 0).then(|| greatest(shares.windows(window).map(least))).flatten();
        Busy { most: greatest(shares.iter().copied()), sustained }
    }

    /// The share of the cores' time that was used in each second.
    fn shares(&self, cores: usize) -> Vec<f64> {
        let readings: Vec<Reading> = self.first.into_iter().chain(self.by_second.values().copied()).collect();
        let spans = readings
            .windows(2)
            .map(|pair| (pair[1].at_us - pair[0].at_us, pair[1].cpu_us.saturating_sub(pair[0].cpu_us)));
        spans
            .filter(|(length, _)| *length > 0)
            .map(|(length, cpu)| cpu as f64 / (length * cores as u64) as f64)
            .collect()
    }
}

impl RigWatch {
    pub(super) fn new(header: &Header) -> Self {
        let cores = header.cores.rig.len().max(1);
        Self { load_us: header.load_us, cores, looks: Looks::of(header), ..Self::default() }
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
            if self.looks.is_of_load(vital.at_us) {
                self.busy_by_second.entry(second).or_default().add(vital.rig_core_busy);
                self.steal.add(vital.steal);
                self.pressure.add(vital.pressure);
            }
            if let Some(mhz) = vital.core_mhz {
                let (lowest, highest) = self.core_mhz.unwrap_or((mhz, mhz));
                self.core_mhz = Some((lowest.min(mhz), highest.max(mhz)));
            }
            let both = vital.rig_cpu_us.map(|rig| rig + self.stub_cpu_us.unwrap_or(0));
            self.own.add(second, vital.at_us, both);
            self.driver.add(second, vital.at_us, vital.driver_cpu_us);
            self.stub.add(second, vital.at_us, vital.stub_cpu_us);
        }
    }

    /// With the CPU time that the load took before it began.
    pub(super) fn summary(&self, requests: u64, ahead_us: u64) -> Rig {
        let (own, driver, stub) = (self.own.busy(self.cores), self.driver.busy(1), self.stub.busy(1));
        let greatest_of = |of: fn(&Busy) -> Option<f64>| greatest([own, driver, stub].iter().filter_map(of));
        let cpu_us = self.rig_cpu_us.length().map(|us| us + ahead_us);
        Rig {
            cpu_us_per_request: cpu_us.filter(|_| requests > 0).map(|us| us as f64 / requests as f64),
            core_busy: greatest(self.busy_by_second.values().filter_map(|second| second.get())),
            own_busy: greatest_of(|busy| busy.most),
            own_busy_sustained: greatest_of(|busy| busy.sustained),
            driver,
            stub,
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
            driver: Busy::default(),
            stub: Busy::default(),
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
    /// use the given share on each of `cores`, half each, while the cores are wholly busy. The stub's one thread tells
    /// its time, but for a rig of several cores, where it would use more than one.
    fn watched(cores: u32, own: &[f64]) -> Rig {
        let ticks = own.iter().flat_map(|share| [*share * f64::from(cores) * 100_000.0 / 2.0; 10]);
        let told = |half| Vital { rig_cpu_us: Some(half), stub_cpu_us: Some(half), ..Vital::default() };
        watched_as(cores, ticks, |half| if cores == 1 { told(half) } else { rig_alone(2 * half) })
    }

    fn rig_alone(used: u64) -> Vital {
        Vital { rig_cpu_us: Some(used), ..Vital::default() }
    }

    /// So many microseconds are used in each tick, and this is what is told of what has been used so far.
    fn watched_as(cores: u32, ticks: impl Iterator<Item = f64>, told: impl Fn(u64) -> Vital) -> Rig {
        let ticks: Vec<f64> = ticks.collect();
        let mut watch = watch((2_000_000, 2_000_000 + ticks.len() as u64 * 100_000), cores);
        let mut used = 0.0;
        for (tick, share) in ticks.into_iter().enumerate() {
            used += share;
            let at_us = 2_100_000 + tick as u64 * 100_000 - 1;
            watch.take(&Vital { at_us, rig_core_busy: Some(1.0), ..told(used as u64) });
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
    fn one_thread_that_fills_its_core_is_the_rigs_limit_however_many_cores_there_are() {
        let full = || [96_000.0; 60].into_iter();
        let driver = watched_as(7, full(), |used| Vital { driver_cpu_us: Some(used), ..rig_alone(used) });
        let stub = watched_as(7, full(), |used| Vital { stub_cpu_us: Some(used), ..rig_alone(0) });
        for (rig, busy) in [(&driver, driver.driver), (&stub, stub.stub)] {
            assert!(is_about(busy.most, 0.96) && is_about(busy.sustained, 0.96), "{rig:?}");
            assert_eq!((rig.own_busy, rig.own_busy_sustained), (busy.most, busy.sustained));
        }
        assert_eq!((driver.stub, stub.driver), (Busy::default(), Busy::default()));
        // Seven threads at a seventh of their time each are far from it.
        assert!(is_about(watched_as(7, full(), rig_alone).own_busy_sustained, 0.96 / 7.0));
    }

    #[test]
    fn the_busiest_second_is_no_sustained_load() {
        let rig = watched(1, &[0.1, 0.1, 1.0, 0.1, 0.1, 0.1]);
        assert!(is_about(rig.own_busy, 1.0) && is_about(rig.own_busy_sustained, 0.1), "{rig:?}");
    }

    #[test]
    fn five_busy_seconds_on_end_are_and_four_are_not_unless_they_are_the_whole_load() {
        let sustained = |own: &[f64]| watched(1, own).own_busy_sustained;
        assert!(is_about(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.95, 0.2]), 0.95));
        assert!(is_about(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.2, 0.2]), 0.2));
        assert!(is_about(sustained(&[0.95; 4]), 0.95));
        assert!(is_about(sustained(&[0.95, 0.95, 0.2, 0.95]), 0.2));
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
        // The second look is in the load, and tells of what was before it all the same.
        for at_us in [999_999, 1_000_050] {
            watch.take(&Vital { at_us, ..busy.clone() });
        }
        let rig = watch.summary(1, 0);
        assert_eq!((rig.core_busy, rig.own_busy, rig.steal), (None, None, None));
    }
}
