//! What the kernel counted of a control group that confined the system.

use serde::{Deserialize, Serialize};

/// The limits in force and their counters; nothing where there was no such limit, or the kernel does not tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Confined {
    pub memory_limit_bytes: Option<u64>,
    /// The most the group held, the page cache included.
    pub memory_peak_bytes: Option<u64>,
    /// Processes that the kernel killed for want of memory within the limit.
    pub oom_kills: Option<u64>,
    /// Cores' worth of CPU time.
    pub cpu_limit: Option<f64>,
    /// Periods of 100 ms in which the quota ran out.
    pub throttled_periods: Option<u64>,
    /// For how long threads were kept waiting for the next period.
    pub throttled_us: Option<u64>,
}
