//! The services beside the system: what each used at most.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::ServiceVital;

/// One service, all its processes together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Service {
    pub processes_peak: u64,
    /// Pages that several of its processes share are counted for each.
    pub rss_peak_bytes: u64,
    /// CPU time of those of its processes that lived at one time, at most.
    pub cpu_seconds: f64,
    pub handles_peak: u64,
}

/// Takes one tick of the services.
pub(super) fn take(services: &mut BTreeMap<String, Service>, ticks: &[ServiceVital]) {
    for tick in ticks {
        let service = services.entry(tick.name.clone()).or_default();
        service.processes_peak = service.processes_peak.max(tick.processes);
        service.rss_peak_bytes = service.rss_peak_bytes.max(tick.rss_bytes);
        service.cpu_seconds = service.cpu_seconds.max(tick.cpu_us as f64 / 1e6);
        service.handles_peak = service.handles_peak.max(tick.handles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_services_peaks_are_kept_by_its_name() {
        let tick = |rss_bytes, cpu_us| ServiceVital { name: "db".into(), processes: 6, rss_bytes, cpu_us, handles: 9 };
        let mut services = BTreeMap::new();
        take(&mut services, &[tick(50, 1_000_000)]);
        take(&mut services, &[tick(40, 1_500_000)]);
        let expected = Service { processes_peak: 6, rss_peak_bytes: 50, cpu_seconds: 1.5, handles_peak: 9 };
        assert_eq!(services, [("db".to_owned(), expected)].into());
    }
}
