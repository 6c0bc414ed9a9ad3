//! The services beside the system: what each used at most.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::ServiceVital;

/// One service, all its processes together. What no process was seen of is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Service {
    pub processes_peak: u64,
    /// Pages that several of its processes share are counted for each.
    pub rss_peak_bytes: Option<u64>,
    /// CPU time of those of its processes that lived at one time, at most.
    pub cpu_seconds: Option<f64>,
    /// `null`: those of some process could not be counted, since it runs as another user.
    pub handles_peak: Option<u64>,
}

/// Takes one tick of the services.
pub(super) fn take(services: &mut BTreeMap<String, Service>, ticks: &[ServiceVital]) {
    for tick in ticks {
        services.entry(tick.name.clone()).or_default().take(tick);
    }
}

impl Service {
    fn take(&mut self, tick: &ServiceVital) {
        if tick.processes == 0 {
            return;
        }
        let is_first = self.processes_peak == 0;
        self.processes_peak = self.processes_peak.max(tick.processes);
        self.rss_peak_bytes = self.rss_peak_bytes.max(Some(tick.rss_bytes));
        let seconds = tick.cpu_us as f64 / 1e6;
        self.cpu_seconds = Some(self.cpu_seconds.map_or(seconds, |most| most.max(seconds)));
        // Once they could not be counted, nobody knows what they were at most.
        let both = || Some(self.handles_peak?.max(tick.handles?));
        self.handles_peak = if is_first { tick.handles } else { both() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_services_peaks_are_kept_by_its_name() {
        let tick =
            |rss_bytes, cpu_us| ServiceVital { name: "db".into(), processes: 6, rss_bytes, cpu_us, handles: Some(9) };
        let mut services = BTreeMap::new();
        take(&mut services, &[tick(50, 1_000_000)]);
        take(&mut services, &[tick(40, 1_500_000)]);
        let expected =
            Service { processes_peak: 6, rss_peak_bytes: Some(50), cpu_seconds: Some(1.5), handles_peak: Some(9) };
        assert_eq!(services, [("db".to_owned(), expected)].into());
    }

    #[test]
    fn a_service_of_which_no_process_was_seen_has_no_figures() {
        let mut services = BTreeMap::new();
        take(&mut services, &[ServiceVital { name: "db".into(), ..ServiceVital::default() }]);
        assert_eq!(services, [("db".to_owned(), Service::default())].into());
    }

    #[test]
    fn handles_that_could_not_be_counted_at_one_time_are_not_known_at_most() {
        let peak = |each: [Option<u64>; 2]| {
            let tick = |handles| ServiceVital { name: "db".into(), processes: 1, handles, ..ServiceVital::default() };
            let mut services = BTreeMap::new();
            take(&mut services, &each.map(tick));
            services["db"].handles_peak
        };
        assert_eq!(peak([Some(9), Some(8)]), Some(9));
        assert_eq!((peak([Some(9), None]), peak([None, Some(9)])), (None, None));
    }
}
