//! The recording of one run: `run.jsonl`, one JSON object a line, told apart by its key `row`.
//!
//! A recording holds facts in time order and no judgement. Its size grows with the length of a run and
//! not with its requests: samples are gathered into intervals, each act with its outcomes and histograms.
//! Every `*_us` is microseconds since the run's epoch unless the name says otherwise.

mod after;
mod confined;
mod deliveries;
mod file;
mod header;
mod histogram;
mod init_data;
mod interval;
mod network;
mod network_counts;
mod outbound;
mod outcome;
mod rig_fault;
mod shard;
mod stall;
mod telegram;
mod vital;

pub use after::{OrderedStop, ProbePlayer, Recovery};
pub use confined::Confined;
pub use deliveries::DeliveryInterval;
pub use file::{FILE_NAME, ReadError, Reader, WriteError, Writer, open};
pub use header::{Calibration, Cores, Header, How, IN_PART, Machine, Observations, Versions};
pub use histogram::Histogram;
pub use init_data::InitDataFault;
pub use interval::{ActInterval, Interval};
pub use network::{Network, Protocol, Spoken};
pub use network_counts::NetworkCounts;
pub use outbound::{Outbound, Towards};
pub use outcome::{Outcome, Outcomes, Sample};
pub use rig_fault::{RigFault, RigFaults};
pub use shard::{Part, Shard};
pub use stall::{Apart, Source, Stack, Stall, StallKind};
pub use telegram::{CallInterval, MethodCounts};
pub use vital::{
    Ending, EndingKind, Event, EventKind, ListenQueue, Logs, Message, PidVital, Probed, ServiceVital, Vital,
};

use serde::{Deserialize, Serialize};

/// The number of the file format; a reader refuses any other.
pub const FORMAT: u32 = 2;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum Row {
    /// The first line: what was run, where, and how it was measured.
    Header(Box<Header>),
    /// What the acts of one interval came to.
    Interval(Interval),
    /// One of the slowest exchanges of an interval, kept whole.
    Exemplar(Sample),
    /// What the kernel and the probes said of the system at one instant.
    Vital(Vital),
    /// The system's own connections at one instant.
    Outbound(Outbound),
    /// One stall of the system. From inside, written as soon as it has ended; from outside, at the end: what is a stall
    /// there depends on the median of the whole run.
    Stall(Stall),
    /// Where the system's loop was in a stall, if that was asked for.
    Stack(Stack),
    /// What the black-box probe found over the whole run.
    Probed(Probed),
    /// The Bot API calls of one interval, counted by the stub.
    Calls(CallInterval),
    /// What became visible in the chats during one interval.
    Deliveries(DeliveryInterval),
    /// Something that happened once: the first 429, the death of the system.
    Event(Event),
    /// Whether the system came to rest again after the load.
    Recovery(Recovery),
    /// How the system took the stop that the scenario ordered.
    OrderedStop(OrderedStop),
    /// The system's log lines, counted at the end of the run.
    Logs(Logs),
    /// How the system ended.
    Ending(Ending),
    /// What a control group counted of the system.
    Confined(Confined),
    /// The last line. A recording without it comes from a rig that was killed: still readable, and partial.
    Seal(Seal),
}

/// The last line of a recording. By default that of a run without any sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// Whether the run was cut short (Ctrl-C).
    pub partial: bool,
    /// Samples recorded: the number of planned acts, or the run is at fault.
    pub samples: u64,
    /// Why the system never became ready, when it did not.
    pub not_ready: Option<String>,
    /// What the rig itself failed at, when it did.
    pub failed: Option<String>,
    /// Rows and exemplars dropped because a queue was full.
    pub dropped: u64,
    /// Awaited effects and sightings dropped because a queue was full: if any, deliveries were not measured.
    pub deliveries_dropped: u64,
    /// CPU time that signing initData took before the load, in microseconds.
    #[serde(default)]
    pub signed_ahead_us: u64,
    /// What the system chose to speak on the load's connections, where it had a choice.
    #[serde(default)]
    pub spoken: Spoken,
}
