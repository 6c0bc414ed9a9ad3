//! Real time, where this room reads it: the deadlines of processes, and when one ended.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Now, for a deadline within this process.
#[expect(clippy::disallowed_methods, reason = "waits for another process have deadlines in real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// `CLOCK_MONOTONIC`, which every process of the machine reads alike: what a report's `at_ns` is.
pub(crate) fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
