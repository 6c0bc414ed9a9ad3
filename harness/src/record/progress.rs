//! How far a run has come, for whoever watches it: counts that the driving thread writes and anyone may read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use floodrig_reports::recording::Vital;

use super::in_flight::InFlight;

/// Live counts. Each has one writer; a reader may see them a moment apart from one another.
#[derive(Debug, Default)]
pub struct Progress {
    offered: AtomicU64,
    ok: AtomicU64,
    failed: AtomicU64,
    in_flight: Arc<InFlight>,
    throttled: AtomicU64,
    /// 0 until anything was seen.
    rss_bytes: AtomicU64,
    /// In microseconds; 0: none is under way.
    stalling: AtomicU64,
    /// In microseconds; 0 until anything was counted.
    p99: AtomicU64,
    /// Rows that the disk did not take in time.
    lost: AtomicU64,
}

/// The counts at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// Acts whose planned instant has passed.
    pub offered: u64,
    /// Acts that succeeded.
    pub ok: u64,
    /// Acts that ended otherwise.
    pub failed: u64,
    /// Acts begun and not yet ended.
    pub in_flight: u64,
    /// Calls answered 429.
    pub throttled: u64,
    /// Memory of the system's whole process tree, as last seen.
    pub rss_bytes: Option<u64>,
    /// How long the system's own loop has been stalling, as last seen from inside.
    pub stalling: Option<Duration>,
    /// The 99th percentile of the response times of the ok ones in all rows written so far.
    pub p99: Option<Duration>,
}

impl Progress {
    /// The counts now.
    pub fn standing(&self) -> Standing {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Standing {
            offered: read(&self.offered),
            ok: read(&self.ok),
            failed: read(&self.failed),
            in_flight: self.in_flight.now(),
            throttled: read(&self.throttled),
            rss_bytes: Some(read(&self.rss_bytes)).filter(|rss| *rss > 0),
            stalling: Some(Duration::from_micros(read(&self.stalling))).filter(|stalling| !stalling.is_zero()),
            p99: Some(Duration::from_micros(read(&self.p99))).filter(|p99| !p99.is_zero()),
        }
    }

    /// The count of acts in flight itself, for whoever must know it at the instant of a death.
    pub fn in_flight(&self) -> Arc<InFlight> {
        Arc::clone(&self.in_flight)
    }

    /// Counts calls answered 429.
    pub fn add_throttled(&self, calls: u64) {
        self.throttled.fetch_add(calls, Ordering::Relaxed);
    }

    /// Counts a row that is not in the recording.
    pub(super) fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Rows that are not in the recording because the disk did not take them in time.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn offered(&self) {
        self.offered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, ok: bool) {
        let count = if ok { &self.ok } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// What the last tick of the observation saw.
    pub(super) fn seen(&self, vital: &Vital) {
        let rss = vital.pids.iter().map(|pid| pid.rss_bytes).sum();
        self.rss_bytes.store(rss, Ordering::Relaxed);
        self.stalling.store(vital.stalling_us.unwrap_or(0), Ordering::Relaxed);
    }

    pub(super) fn p99(&self, us: u64) {
        self.p99.store(us, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_under_way_is_shown_until_the_tick_that_sees_none() {
        let progress = Progress::default();
        let shown = |stalling_us| {
            progress.seen(&Vital { stalling_us, ..Vital::default() });
            progress.standing().stalling
        };
        assert_eq!(shown(Some(160_000)), Some(Duration::from_millis(160)));
        assert_eq!(shown(None), None);
    }
}
