//! The first line of a recording: what was run, where, and how it was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{InitDataFault, Network, Part, Shard};
use crate::Value;

/// The first line of a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`super::FORMAT`].
    pub format: u32,
    /// The scenario's name.
    pub scenario: String,
    /// Its `about` line, or nothing.
    pub about: String,
    /// The file as it was read, before the variant was merged.
    pub scenario_text: String,
    /// Where it was read from.
    pub scenario_path: String,
    /// The variant that was run.
    pub variant: Option<String>,
    /// The seed of the plan and of the stub's answer times.
    pub seed: u64,
    /// SHA-256 of the plan, in hex; recordings of different plans are not comparable.
    pub plan_digest: String,
    /// The acts in the order of their index.
    pub acts: Vec<String>,
    /// Planned acts by name.
    pub planned: BTreeMap<String, u64>,
    /// The acts that the system must refuse, by name, and what is wrong with the initData that they carry.
    #[serde(default)]
    pub must_refuse: BTreeMap<String, InitDataFault>,
    /// Planned instants of the first and the last arrival.
    pub load_us: (u64, u64),
    /// The epoch on the wall clock.
    pub epoch_unix_us: u64,
    /// Length of an interval row.
    pub interval_us: u64,
    /// The machine.
    pub machine: Machine,
    /// Who had which cores.
    pub cores: Cores,
    /// What wrote the recording.
    pub versions: Versions,
    /// How the numbers were taken.
    pub how: How,
    /// What was watched: each `active`, or `inactive: <reason>`.
    pub observations: Observations,
    /// The budgets the run is judged by, so that a recording can be judged again.
    pub budgets: crate::Budgets,
    /// Whether latency budgets are judged (`false`: reported only, with the reason in [`Header::not_judged`]).
    pub judge_latency: bool,
    /// Why latency budgets are not judged.
    pub not_judged: Option<String>,
    /// The command that runs it again.
    pub repeat_with: String,
    /// From the start of the system to its readiness.
    pub ready_after_ms: Option<u64>,
    /// What the rig could do on these cores right before; nothing: it was not calibrated.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// The part of the plan that this rig drove; nothing: all of it.
    #[serde(default)]
    pub shard: Option<Shard>,
    /// The rigs whose recordings were joined to this one; empty: a single rig's.
    #[serde(default)]
    pub parts: Vec<Part>,
}

impl Header {
    /// What tells the run from others of its scenario: its variant, or the scenario's own name.
    pub fn name(&self) -> &str {
        self.variant.as_deref().unwrap_or(&self.scenario)
    }

    /// The scenario with its variant: `rollover (after)`.
    pub fn title(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{} ({variant})", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

/// What the rig can do on these cores, measured against a server that does nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Connections that were kept busy in the saturated part.
    pub connections: u32,
    /// Requests a second, saturated.
    pub requests_per_second: f64,
    /// CPU time of the rig for each of them.
    pub cpu_us_per_request: Option<f64>,
    /// Requests a second in the steady part.
    pub steady_per_second: u32,
    /// The rig's own lateness at that rate, the median.
    pub lag_p50_us: Option<u64>,
    /// And its 99th percentile.
    pub lag_p99_us: Option<u64>,
}

impl Calibration {
    /// In one line of words, the same in every report.
    pub fn in_words(&self) -> String {
        let rate = Value::Count(self.requests_per_second.round() as u64);
        let cpu = self.cpu_us_per_request.map_or_else(|| Value::Unmeasured.to_string(), |us| format!("{us:.1} us"));
        let [p50, p99] = [self.lag_p50_us, self.lag_p99_us].map(Value::quantile);
        let (connections, steady) = (self.connections, Value::Count(self.steady_per_second.into()));
        format!(
            "against a server that does nothing, on these cores: {rate} requests/s over {connections} connections at \
             {cpu} of the rig's CPU each; at {steady}/s, lag p50 {p50}, p99 {p99}"
        )
    }
}

/// The machine of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Machine {
    pub cpu: String,
    pub cpus: u32,
    pub memory_bytes: u64,
    pub kernel: String,
    pub os: String,
    /// The kernel's settings that decide on connections at a full listen queue, by name.
    #[serde(default)]
    pub network: BTreeMap<String, String>,
}

/// Who had which cores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cores {
    /// The system's cores, as verified from its threads.
    pub system: Vec<u32>,
    /// The rig's and the stub's cores.
    pub rig: Vec<u32>,
    /// Whether a core is in both.
    pub shared: bool,
    /// What was asked for and not to be had, in words.
    pub note: Option<String>,
}

/// Versions, for the reader of an old report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Versions {
    /// The rig's own version.
    pub floodrig: String,
}

/// How the numbers were taken, with the defaults that applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the keys of the scenario")]
pub struct How {
    pub connect_timeout_ms: u64,
    pub timeout_ms: u64,
    pub settle_ms: u64,
    /// How connections were used, in words.
    pub connections: String,
    /// How the crowd reached the system; nothing: the recording is from before that was kept.
    #[serde(default)]
    pub network: Option<Network>,
    /// The stub's ceilings, each line a rule in words.
    pub ceilings: Vec<String>,
    /// Whether the crowd was made smaller (`FLOODRIG_QUICK`).
    pub quick: bool,
}

/// How an observation begins that was made of a part of what it is for.
pub const IN_PART: &str = "active in part";

/// What was watched: each `active`, or `inactive: <reason>`; the heartbeat also `active in part: <whose>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the keys of `summary.json`")]
pub struct Observations {
    pub heartbeat: String,
    pub black_box: String,
    #[serde(default)]
    pub bare_connects: String,
    pub proc: String,
    pub listen_queue: String,
    pub tcp_info: String,
    pub cgroup: String,
    pub outbound: String,
    pub deliveries: String,
    /// Whether the calls to Telegram were counted; they always were before there was a choice.
    #[serde(default = "active")]
    pub calls: String,
    /// How the system was turned to the stub.
    #[serde(default)]
    pub redirect: String,
    /// Whether connections of the system to Telegram itself would have been seen.
    #[serde(default)]
    pub lookout: String,
    /// Whether the run had a network of its own.
    #[serde(default)]
    pub isolate: String,
}

fn active() -> String {
    "active".to_owned()
}

impl Observations {
    /// Whether an observation was made: `active`, with or without a remark behind it.
    pub fn is_active(observation: &str) -> bool {
        observation.starts_with("active")
    }

    /// Whether the system's loops were seen, but not every one that serves.
    pub fn sees_loops_in_part(&self) -> bool {
        self.heartbeat.starts_with(IN_PART)
    }

    /// Of whom the kernel's counters tell: they are a whole network namespace's.
    pub fn counted_in(&self) -> &'static str {
        if Self::is_active(&self.isolate) { "in the run's own network" } else { "machine-wide" }
    }

    /// Whether anything would have noticed a stall.
    pub fn sees_stalls(&self) -> bool {
        self.sees_outside() || Self::is_active(&self.heartbeat)
    }

    /// Whether anything looked for stalls from outside.
    pub fn sees_outside(&self) -> bool {
        Self::is_active(&self.black_box) || Self::is_active(&self.bare_connects)
    }
}
