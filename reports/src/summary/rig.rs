//! Vitals -> how hard the rig itself had it, during the load alone.

use std::collections::BTreeMap;

use super::Rig;
use crate::recording::Vital;

/// How long a core must be busy for it to count as sustained: one busy second is a burst, and lag tells what it did.
const SUSTAINED_SECONDS: usize = 5;

/// Gathers what the vitals say of the rig while the load is on.
#[derive(Debug, Default)]
pub(super) struct RigWatch {
    load_us: (u64, u64),
    busy_by_second: BTreeMap<u64, Mean>,
    steal: Mean,
    rig_cpu_us: Span,
    stub_cpu_us: Option<u64>,
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

impl RigWatch {
    pub(super) fn new(load_us: (u64, u64)) -> Self {
        Self { load_us, ..Self::default() }
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
        }
    }

    pub(super) fn summary(&self, requests: u64) -> Rig {
        let seconds: Vec<f64> = self.busy_by_second.values().filter_map(|second| second.get()).collect();
        Rig {
            cpu_us_per_request: self.rig_cpu_us.length().filter(|_| requests > 0).map(|us| us as f64 / requests as f64),
            core_busy: greatest(seconds.iter().copied()),
            core_busy_sustained: greatest(seconds.windows(SUSTAINED_SECONDS).map(least)),
            steal: self.steal.get(),
            stub_cpu_seconds: self.stub_cpu_us.map(|us| us as f64 / 1e6),
            ..Rig::default()
        }
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

    /// Ten ticks for each second, the load beginning two seconds after the epoch.
    fn watched(busy: &[f64]) -> Rig {
        let length = busy.len() as u64 * 1_000_000;
        let mut watch = RigWatch::new((2_000_000, 2_000_000 + length - 1));
        for (tick, busy) in busy.iter().flat_map(|busy| [*busy; 10]).enumerate() {
            let at_us = 2_000_000 + tick as u64 * 100_000;
            watch.take(&Vital { at_us, rig_core_busy: Some(busy), rig_cpu_us: Some(at_us / 10), ..Vital::default() });
        }
        watch.summary(1_000)
    }

    #[test]
    fn the_busiest_second_is_no_sustained_load() {
        let rig = watched(&[0.1, 0.1, 1.0, 0.1, 0.1, 0.1]);
        assert!(rig.core_busy.is_some_and(|busy| (busy - 1.0).abs() < 1e-9));
        assert!(rig.core_busy_sustained.is_some_and(|busy| (busy - 0.1).abs() < 1e-9));
    }

    #[test]
    fn five_busy_seconds_on_end_are_and_four_are_not() {
        let sustained = |busy: &[f64]| watched(busy).core_busy_sustained.unwrap();
        assert!(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.95, 0.2]) > 0.94);
        assert!(sustained(&[0.2, 0.95, 0.95, 0.95, 0.95, 0.2, 0.2]) < 0.21);
    }

    #[test]
    fn what_was_not_measured_is_not_zero() {
        let rig = RigWatch::new((0, 1)).summary(10);
        assert_eq!((rig.core_busy, rig.steal, rig.cpu_us_per_request, rig.stub_cpu_seconds), (None, None, None, None));
    }

    #[test]
    fn a_busy_core_before_the_load_is_nobodys_concern() {
        let mut watch = RigWatch::new((1_000_000, 2_000_000));
        watch.take(&Vital { at_us: 999_999, rig_core_busy: Some(1.0), steal: Some(0.5), ..Vital::default() });
        let rig = watch.summary(1);
        assert_eq!((rig.core_busy, rig.steal), (None, None));
    }
}
