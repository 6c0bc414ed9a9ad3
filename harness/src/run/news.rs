//! What a run tells while it goes on. Who listens decides what a person sees.

use std::time::Duration;

/// One piece of news.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// Something that stays true: where the stub listens, which cores the system has, that a check held.
    Fact(&'a str),
    /// What the run is waiting for right now.
    Waiting(&'a str),
    /// How the load goes, several times a second.
    Live(Live),
}

/// How the load goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live {
    /// `load`, `drain` or `settle`.
    pub phase: &'static str,
    /// Since the start of the load.
    pub at: Duration,
    /// The planned length of the load.
    pub of: Duration,
    /// Arrivals over the last second.
    pub offered_per_second: f64,
    /// Acts ended over the last second.
    pub done_per_second: f64,
    /// Acts begun and not yet ended.
    pub in_flight: u64,
    /// Acts that did not succeed so far.
    pub failed: u64,
    /// The 99th percentile of the response times so far.
    pub p99: Option<Duration>,
    /// 429s so far.
    pub throttled: u64,
    /// Memory of the system's process tree, as last seen.
    pub rss_bytes: Option<u64>,
}
