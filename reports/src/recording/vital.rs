//! What the kernel and the probes said of the system, and how it ended.

use serde::{Deserialize, Serialize};

use super::network_counts::NetworkCounts;

/// One tick of the observation, ten times a second. What was not measured is `None`, never zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Vital {
    pub at_us: u64,
    /// Every process of the system's tree.
    pub pids: Vec<PidVital>,
    /// The services beside the system, in some of the ticks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<ServiceVital>,
    /// Connections waiting in the accept queue, over all listeners of the port.
    pub listen_queue: Option<u64>,
    /// How many may wait there.
    #[serde(default)]
    pub listen_backlog: Option<u64>,
    /// The fullest queue of several listeners, which drowns in their sum; nothing: there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_fullest: Option<ListenQueue>,
    /// What the kernel has counted of connections that met a full queue.
    #[serde(default)]
    pub network: Option<NetworkCounts>,
    /// The longest that an answer to the black-box probe took, or has taken so far, since the last tick.
    pub probe_delay_us: Option<u64>,
    /// The longest that a bare connect waited to be accepted, or has waited so far, since the last tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_delay_us: Option<u64>,
    /// How long the system's own loop has been stalling at this instant, seen from inside; nothing: it is not, or
    /// nobody looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalling_us: Option<u64>,
    /// Share of the rig's cores that was busy since the last tick, 0.0..=1.0.
    pub rig_core_busy: Option<f64>,
    /// Likewise of the system's cores, whoever's tasks used them; what interrupts took is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_core_busy: Option<f64>,
    /// Share of time the host stole from the rig's and the system's cores since the last tick, 0.0..=1.0.
    pub steal: Option<f64>,
    /// Share of the time since the last tick in which some task of the machine waited for a processor, 0.0..=1.0.
    #[serde(default)]
    pub pressure: Option<f64>,
    /// The lowest frequency of the rig's cores.
    #[serde(default)]
    pub core_mhz: Option<u64>,
    /// CPU time the rig itself has used so far (all its threads, the stub's left out).
    pub rig_cpu_us: Option<u64>,
    /// CPU time the stub's thread has used so far.
    pub stub_cpu_us: Option<u64>,
    /// CPU time the driving thread has used so far; nothing: it does not drive now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_cpu_us: Option<u64>,
}

/// One process of the system's tree at one tick.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct PidVital {
    pub pid: u32,
    pub name: String,
    pub rss_bytes: u64,
    /// The highest RSS of the process so far, as the kernel keeps it.
    pub hwm_bytes: u64,
    /// CPU time so far, user and system, its reaped children left out.
    pub cpu_us: u64,
    /// That of its children that have ended and that it has waited for, and of theirs.
    #[serde(default)]
    pub waited_for_cpu_us: u64,
    pub threads: u64,
    /// Nothing: it runs as another user, who alone may count them.
    pub handles: Option<u64>,
    /// In clock ticks since boot: tells it from a later process of the same id.
    #[serde(default)]
    pub start: u64,
    /// Its limit on open files; nothing: none, or it is hidden.
    #[serde(default)]
    pub handles_limit: Option<u64>,
    /// For how long its threads have waited for a processor so far, read once a second, throttling by a limit of CPU time included.
    #[serde(default)]
    pub waited_us: Option<u64>,
    /// Of its threads, so far: they gave the processor up, or lost it.
    #[serde(default)]
    pub switches_voluntary: Option<u64>,
    #[serde(default)]
    pub switches_forced: Option<u64>,
    /// Pages that had to be read from disk so far.
    #[serde(default)]
    pub major_faults: Option<u64>,
}

impl PidVital {
    /// A figure of all these processes together; nothing when there is none, or one of which it is not known: a part
    /// is never shown as the whole.
    pub fn whole<'a>(pids: impl IntoIterator<Item = &'a Self>, of: impl Fn(&Self) -> Option<u64>) -> Option<u64> {
        pids.into_iter().map(of).reduce(|sum, one| Some(sum? + one?)).flatten()
    }
}

/// All processes of one service at one tick.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct ServiceVital {
    pub name: String,
    pub processes: u64,
    /// Pages that several of its processes share are counted for each.
    pub rss_bytes: u64,
    /// CPU time so far of those that live.
    pub cpu_us: u64,
    /// Nothing: those of some process could not be counted.
    pub handles: Option<u64>,
}

/// An accept queue at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenQueue {
    /// Connections that wait to be accepted.
    pub depth: u64,
    /// How many may wait, what was asked for and the kernel granted.
    pub backlog: u64,
}

impl ListenQueue {
    /// How much of its room is taken, 0.0..=1.0: the kernel lets one more wait than it was asked to, since it compares
    /// before it adds.
    pub fn fill(self) -> f64 {
        self.depth as f64 / (self.backlog + 1) as f64
    }

    /// Whether whoever came next would have met no room.
    pub fn is_full(self) -> bool {
        self.depth > self.backlog
    }

    /// The one of both that is nearer to being full.
    #[must_use]
    pub fn fuller(self, other: Self) -> Self {
        if other.fill() > self.fill() { other } else { self }
    }
}

/// What the probes from outside found over the whole run, written once at its end: ticks see only what hangs at that
/// instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probed {
    /// The system's proportional set size at the end: shared pages divided among those that share them.
    #[serde(default)]
    pub pss_bytes: Option<u64>,
    /// The longest delay of an answer, a stall or not; nothing: there was none.
    pub longest_delay_us: Option<u64>,
    /// The longest wait to be accepted, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_accept_us: Option<u64>,
    /// Whether at the end a loop served that was not seen from inside, though all were when the load began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Event {
    pub at_us: u64,
    pub kind: EventKind,
    pub text: String,
}

/// The kinds of events, each a mark on the report's time axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named in the report")]
pub enum EventKind {
    FirstThrottled,
    Died,
    /// What a service's death does to the system is measured, so that it ends no run.
    ServiceDied,
    LoadStarted,
    LoadEnded,
    Settled,
    /// The system was left alone, and the probe players came.
    ProbeCame,
    /// The scenario ordered the system to stop.
    StopOrdered,
    Interrupted,
    Note,
}

impl EventKind {
    /// In a word or two, for a mark or a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::FirstThrottled => "first 429",
            Self::Died => "died",
            Self::ServiceDied => "service died",
            Self::LoadStarted => "load starts",
            Self::LoadEnded => "load ends",
            Self::Settled => "settled",
            Self::ProbeCame => "after idle",
            Self::StopOrdered => "SIGTERM",
            Self::Interrupted => "interrupted",
            Self::Note => "note",
        }
    }
}

/// The system's log lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logs {
    /// Lines on stderr.
    pub stderr_lines: u64,
    /// Of them, those that look like errors.
    pub stderr_errors: u64,
    /// The commonest error lines, numbers folded, most frequent first.
    pub top_messages: Vec<Message>,
}

/// A log line and how often it came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-evident")]
pub struct Message {
    pub text: String,
    pub count: u64,
}

/// How the system ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Stopped by the rig, or gone by itself.
    pub kind: EndingKind,
    /// The exit status, when it exited.
    pub code: Option<i32>,
    /// The signal's name, such as `SIGSEGV`, when one ended it.
    pub signal: Option<String>,
    /// When, in milliseconds since the epoch (negative: before it).
    pub at_ms: i64,
    /// Acts in flight at that instant.
    pub in_flight: u64,
    /// The last lines on stderr.
    pub stderr_tail: Vec<String>,
    /// Whether the kernel's out-of-memory killer did it; `None`: cannot be told.
    pub oom: Option<bool>,
    /// A note in words, such as `needed SIGKILL after 10 s` or `inferred through a wrapper`.
    pub note: Option<String>,
    /// From the order to stop to the end of the last process; nothing: it was not stopped, or its end not seen.
    #[serde(default)]
    pub stop_took_ms: Option<u64>,
}

/// Stopped by the rig, or gone by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// The rig's own stop: never a crash.
    Stopped,
    /// It exited by itself.
    Exit,
    /// A signal ended it.
    Signal,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_never_the_whole() {
        let whole = |each: &[Option<u64>]| {
            let pids: Vec<_> =
                each.iter().map(|handles| PidVital { handles: *handles, ..PidVital::default() }).collect();
            PidVital::whole(&pids, |pid| pid.handles)
        };
        assert_eq!(whole(&[Some(3), Some(4)]), Some(7));
        assert_eq!((whole(&[Some(3), None]), whole(&[None]), whole(&[])), (None, None, None));
    }

    #[test]
    fn a_queue_is_full_when_one_more_waits_than_was_asked_for() {
        let queue = |depth| ListenQueue { depth, backlog: 511 };
        assert!(!queue(511).is_full() && queue(512).is_full());
        assert_eq!((queue(0).fill(), queue(512).fill()), (0.0, 1.0));
    }

    #[test]
    fn a_small_queue_that_is_full_is_fuller_than_a_deep_one_with_room() {
        let (small, deep) = (ListenQueue { depth: 6, backlog: 5 }, ListenQueue { depth: 400, backlog: 511 });
        assert_eq!((small.fuller(deep), deep.fuller(small)), (small, small));
    }
}
