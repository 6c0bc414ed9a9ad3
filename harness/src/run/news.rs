//! What a run tells while it goes on. Who listens decides what a person sees.

use std::time::Duration;

use crate::record::Standing;

/// Rates over less than this, in seconds, would leap.
const SHORTEST: f64 = 0.25;

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
    /// What it is doing.
    pub phase: Phase,
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
    /// How long the system's own loop has been stalling, as last seen from inside; nothing: it is not, or nobody looks.
    pub stalling: Option<Duration>,
}

/// Which part of a run is live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Arrivals come as planned.
    #[default]
    Load,
    /// What acts have caused is waited for.
    Settle,
}

impl Phase {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Settle => "settle",
        }
    }
}

/// Turns the counts into what a person sees: rates over the last second.
#[derive(Debug, Default)]
pub struct Speedometer {
    /// The counts over the last second, oldest first.
    before: Vec<(Duration, Standing)>,
}

impl Speedometer {
    /// How it goes at `at`, which is told several times a second; the phase and its length are the caller's to say.
    pub fn read(&mut self, at: Duration, standing: Standing) -> Live {
        self.before.retain(|(then, _)| at.saturating_sub(*then) <= Duration::from_secs(1));
        let (then, old) = self.before.first().copied().unwrap_or((at, standing));
        let seconds = at.saturating_sub(then).as_secs_f64().max(SHORTEST);
        let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / seconds;
        self.before.push((at, standing));
        Live {
            offered_per_second: rate(standing.offered, old.offered),
            done_per_second: rate(standing.ok + standing.failed, old.ok + old.failed),
            in_flight: standing.in_flight,
            failed: standing.failed,
            p99: standing.p99,
            throttled: standing.throttled,
            rss_bytes: standing.rss_bytes,
            stalling: standing.stalling,
            ..Live::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_second() {
        let mut speedometer = Speedometer::default();
        let mut read = |ms, offered| {
            let standing = Standing { offered, ok: offered / 2, ..Standing::default() };
            let live = speedometer.read(Duration::from_millis(ms), standing);
            (live.offered_per_second.round() as u64, live.done_per_second.round() as u64)
        };
        assert_eq!(read(0, 10), (0, 0));
        assert_eq!(read(500, 60), (100, 50));
        assert_eq!(read(1_000, 110), (100, 50));
        assert_eq!(read(1_500, 1_060), (1_000, 500));
    }
}
