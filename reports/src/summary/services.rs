//! The services beside the system: what each used at most.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::{Event, EventKind, ServiceVital};

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

/// When, which and how: each that died by itself, in words.
pub(super) fn died(events: &[Event], load_from_us: u64) -> Vec<String> {
    let deaths = events.iter().filter(|event| event.kind == EventKind::ServiceDied);
    deaths.map(|event| format!("{}: {}", when(event.at_us, load_from_us), event.text)).collect()
}

fn when(at_us: u64, load_from_us: u64) -> String {
    at_us.checked_sub(load_from_us).map_or_else(
        || "before the load".to_owned(),
        |into_load_us| format!("{:.1} s into the load", into_load_us as f64 / 1e6),
    )
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
    fn a_service_that_died_is_told_with_its_time_in_the_load_and_notes_are_not() {
        let event = |at_us, kind, text: &str| Event { at_us, kind, text: text.to_owned() };
        let events = [
            event(900_000, EventKind::ServiceDied, "the service `a` exited with 1, 0 in flight"),
            event(1_500_000, EventKind::Note, "out of files"),
            event(3_000_000, EventKind::ServiceDied, "the service `b` exited with 1, 3 in flight"),
        ];
        let expected = [
            "before the load: the service `a` exited with 1, 0 in flight",
            "2.0 s into the load: the service `b` exited with 1, 3 in flight",
        ];
        assert_eq!(died(&events, 1_000_000), expected);
    }

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
