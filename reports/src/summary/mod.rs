//! `summary.json`: the numbers of one run, and the contract that scripts and CI read. Keys are added, never renamed.
//! A value that was not measured is `null`; its key stays.

mod acts;
mod after;
mod apart;
mod gather;
mod listening;
mod looks;
mod others;
mod processes;
mod quantiles;
mod rig;
mod services;
mod stalls;
mod system;
mod telegram;

pub use after::{ProbeTimes, Recovery, Shutdown};
pub use gather::summarise;
pub use services::Service;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::outbound::Connections;
use crate::recording::{
    Confined, Ending, Header, Message, MethodCounts, Observations, Outcomes, RigFaults, Source, Stack, StallKind,
};

/// The numbers of one run. Verdict, breaches and findings are added where it is written (`json`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What was run and how; not part of `summary.json`.
    #[serde(skip)]
    pub header: Header,
    /// Acts by name.
    pub acts: BTreeMap<String, Act>,
    /// The rig itself.
    pub rig: Rig,
    /// The system under test.
    pub system: System,
    /// What ran beside it, by name.
    #[serde(default)]
    pub services: BTreeMap<String, Service>,
    /// Those of them that died by themselves: when, which and how.
    #[serde(default)]
    pub services_died: Vec<String>,
    /// Bot API calls.
    #[serde(serialize_with = "telegram::or_nulls")]
    pub telegram: Telegram,
    /// What became visible in the chats.
    pub deliveries: Deliveries,
    /// The system at rest again after the load; `null` when it was not left alone.
    pub recovery: Option<Recovery>,
    /// The stop that the scenario ordered; `null` when it ordered none.
    pub shutdown: Option<Shutdown>,
    /// What was watched.
    pub observations: Observations,
    /// Whether the recording was cut short or never sealed; not part of `summary.json` (the verdict says it).
    #[serde(skip)]
    pub partial: bool,
    /// Why the system never became ready.
    #[serde(skip)]
    pub not_ready: Option<String>,
    /// What the rig failed at.
    #[serde(skip)]
    pub failed: Option<String>,
}

/// One act. `ok` + `outcomes` = `planned`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Act {
    /// Acts planned.
    pub planned: u64,
    /// Acts that succeeded.
    pub ok: u64,
    /// Acts that did not, by class.
    pub outcomes: Outcomes,
    /// Of those at the rig's own fault, how many of each kind.
    #[serde(default)]
    pub rig_faults: RigFaults,
    /// Acts for which a handshake needed SYN retransmits, whatever became of them.
    pub late_connect: u64,
    /// Refused + reset + connect timeout + no TLS session + closed + malformed + timeout.
    pub unserved: u64,
    /// Of the skipped ones, those whose player had left over an act that failed.
    pub left: u64,
    /// Requests sent, retries included.
    pub requests: u64,
    /// Requests per planned act.
    pub amplification: Option<f64>,
    /// Successes a second, over the length of the load.
    pub ok_per_second: Option<f64>,
    /// From the planned instant, of the ok ones.
    pub response_us: Quantiles,
    /// From the send, of the ok ones.
    pub service_us: Quantiles,
    /// Waiting for the player's own previous act, of the ok ones.
    pub blocked_us: Quantiles,
    /// How late the rig itself sent them, from the instant they were due and free to go.
    #[serde(default)]
    pub lag_us: Quantiles,
    /// From the planned instant, of those that failed.
    pub failed_response_us: Quantiles,
    /// Response time over all planned acts, one that did not succeed ranking slowest: what budgets judge. `null` above the share that succeeded.
    pub judged_us: Quantiles,
}

/// Quantiles of a merged histogram; all `null` but `count` when nothing was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "percentiles in microseconds")]
pub struct Quantiles {
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p99: Option<u64>,
    pub p999: Option<u64>,
    pub max: Option<u64>,
}

/// The rig itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rig {
    /// The rig's own lateness, of all acts sent.
    pub lag_us: Lag,
    /// Of the acts that were free to go, the share that left later than [`crate::recording::Sample::LATE`] or not at all.
    pub late_share: Option<f64>,
    /// The rig's CPU time for each request, the stub's left out.
    pub cpu_us_per_request: Option<f64>,
    /// The busiest second of the rig's cores, whoever used them, 0.0..=1.0.
    pub core_busy: Option<f64>,
    /// The most that the rig and its stub themselves used in a second, 0.0..=1.0: of all their cores, or either of its
    /// two single threads of the one core that it can use, whichever is more.
    pub own_busy: Option<f64>,
    /// What they used for five seconds on end, or for the whole of a shorter load, 0.0..=1.0.
    pub own_busy_sustained: Option<f64>,
    /// The driving thread alone, of its one core.
    #[serde(default)]
    pub driver: Busy,
    /// The stub's thread alone, of one core.
    #[serde(default)]
    pub stub: Busy,
    /// The share of the load's time that the host stole from the rig's and the system's cores.
    pub steal: Option<f64>,
    /// The share of the load's time in which some task of the machine waited for a processor.
    pub pressure: Option<f64>,
    /// The lowest and the highest frequency that one of the rig's cores was seen at, in MHz.
    pub core_mhz: Option<(u64, u64)>,
    /// Whether the rig and the system shared a core.
    pub cores_shared: bool,
    /// CPU seconds of the stub's thread.
    pub stub_cpu_seconds: Option<f64>,
    /// Rows and exemplars dropped because a queue was full.
    pub dropped: u64,
}

/// How much of its cores something used, 0.0..=1.0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// In its busiest second.
    pub most: Option<f64>,
    /// For five seconds on end, or for the whole of a shorter load.
    pub sustained: Option<f64>,
}

/// Lag quantiles in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "percentiles")]
pub struct Lag {
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: Option<u64>,
}

/// The system under test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct System {
    pub stderr_lines: Option<u64>,
    pub stderr_errors: Option<u64>,
    pub top_messages: Vec<Message>,
    pub rss_peak_bytes: Option<u64>,
    pub cpu_seconds: Option<f64>,
    pub handles_peak: Option<u64>,
    pub threads_peak: Option<u64>,
    /// The highest share of its own limit on open files that a process reached, 0.0..=1.0.
    pub handles_share_peak: Option<f64>,
    /// At the end of the run: shared pages divided among those that share them.
    pub pss_bytes: Option<u64>,
    /// For how long threads waited for a processor, all processes together.
    pub run_queue_wait_ms: Option<f64>,
    /// Of all threads, all processes together.
    pub switches_voluntary: Option<u64>,
    pub switches_forced: Option<u64>,
    pub major_faults: Option<u64>,
    /// The share of its cores' time that others had during the load, 0.0..=1.0; nothing: the rig shares one of them, or
    /// its processes or its cores are not known.
    pub cores_used_by_others: Option<f64>,
    pub stall_max_ms: Option<f64>,
    pub stalls: Option<u64>,
    /// Who saw the stalls that are counted here: the system's own loops where they are watched, else who watches from
    /// outside. Where not every loop that serves is watched, what was seen from outside alone counts beside them.
    pub stall_source: Option<Source>,
    /// The stalls seen from inside, by process and by what the loop did meanwhile.
    pub stalls_by_process: Vec<ProcessStalls>,
    /// Where in the code some of them were, if that was asked for.
    pub stall_stacks: Vec<Stack>,
    /// What it means where inside and outside disagree.
    pub stall_remark: Option<String>,
    /// The probe's longest delay, a stall or not.
    pub probe_delay_max_ms: Option<f64>,
    /// The longest that a bare connect waited to be accepted, a stall or not.
    #[serde(default)]
    pub accept_delay_max_ms: Option<f64>,
    pub listen_queue_peak: Option<u64>,
    /// How many connections may wait there.
    pub listen_backlog: Option<u64>,
    /// Handshakes that met a full queue, of all that listens in the run's network (the machine's, unless it is isolated): tries, not users.
    pub listen_overflows: Option<u64>,
    /// All that listeners dropped, those included.
    pub listen_drops: Option<u64>,
    /// SYNs that clients sent again.
    pub syn_retransmits: Option<u64>,
    /// Why nobody was refused, if anybody met a full queue.
    pub listen_remark: Option<String>,
    pub pool_hint: Option<String>,
    /// Its own connections, by remote port.
    pub outbound: Option<BTreeMap<u16, Connections>>,
    /// What confined it as on a small server, and how often it met that.
    pub confined: Option<Confined>,
    pub ending: Option<Ending>,
    pub ready_after_ms: Option<u64>,
}

/// The stalls of one kind in one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct ProcessStalls {
    pub pid: u32,
    pub name: String,
    /// Nothing: the kernel keeps no account of it.
    pub kind: Option<StallKind>,
    pub count: u64,
    pub max_ms: f64,
    /// Whether the process died in the last of them.
    pub died: bool,
}

/// Bot API calls, all bots together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Telegram {
    /// Whether nobody counted: the stub is another rig's. Then every key is `null` where it is written.
    #[serde(skip)]
    pub uncounted: bool,
    pub calls: u64,
    pub accepted: u64,
    pub throttled: u64,
    pub calls_while_throttled: u64,
    pub uploads: u64,
    pub upload_bytes: u64,
    pub peak_uploads_at_once: u64,
    pub worst_second_sends: u64,
    pub worst_second_accepted: u64,
    pub worst_minute_group_sends: u64,
    pub worst_minute_group_accepted: u64,
    pub by_method: BTreeMap<String, MethodCounts>,
    pub unmodelled: BTreeMap<String, u64>,
    /// Calls that users see and that answered no act of theirs; `null` where no act is a bot's to answer.
    pub unmatched: Option<u64>,
    /// Calls answered 429, by the rule that they broke.
    pub throttled_by: BTreeMap<String, u64>,
}

/// What became visible in the chats; counts are `null` when no act `shows` anything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Deliveries {
    pub expected: Option<u64>,
    pub delivered: Option<u64>,
    pub late: Option<u64>,
    pub lost: Option<u64>,
    pub duplicated: Option<u64>,
    pub latency_us: Quantiles,
    pub staleness_ms: Staleness,
}

/// Staleness quantiles in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "percentiles")]
pub struct Staleness {
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

impl Summary {
    /// Planned acts of every kind.
    pub fn planned(&self) -> u64 {
        self.acts.values().map(|act| act.planned).sum()
    }

    /// Planned acts that were neither deliberately skipped nor begun after an ordered stop.
    pub fn taken(&self) -> u64 {
        self.acts.values().map(|act| act.planned.saturating_sub(act.outcomes.excused())).sum()
    }

    /// Whether any act did not succeed.
    pub fn any_failed(&self) -> bool {
        self.acts.values().any(|act| act.failed() > 0)
    }
}
