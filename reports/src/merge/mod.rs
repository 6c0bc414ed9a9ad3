//! The recordings of several rigs -> one, exactly: histograms and counts are added, nothing is averaged.
//!
//! Each recording is read twice. [`Recorded::read`] keeps what must be known of it before anything is written: its
//! header and whether its rig was itself the limit. [`Joint::of`] holds these against each other, and [`Joint::rows`]
//! then joins the rows as they come, so that a long run needs no more memory than a short one.
//!
//! The first shard alone observes the system and Telegram; its rows of that kind are taken over as they are.

mod refuse;
mod rows;
#[cfg(test)]
mod tests;

use crate::recording::{Header, Observations, Part, ReadError, Row};
use crate::summary::{Summary, summarise};
use crate::verdict::faults_of_the_rig;

pub use self::refuse::CannotMerge;
pub use self::rows::Rows;

/// One rig's recording, as far as it must be known before it is joined with others.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What messages call it: its folder.
    pub name: String,
    header: Header,
    part: Option<Part>,
}

impl Recorded {
    /// Reads a recording from its beginning to its end.
    pub fn read(name: String, rows: impl Iterator<Item = Result<Row, ReadError>>) -> Result<Self, ReadError> {
        let (summary, _) = summarise(rows)?;
        let part = part(&summary);
        Ok(Self { name, header: summary.header, part })
    }
}

fn part(summary: &Summary) -> Option<Part> {
    let (header, rig) = (&summary.header, &summary.rig);
    let acts = summary.acts.values();
    let requests: f64 = acts.map(|act| act.amplification.unwrap_or(0.0) * act.planned as f64).sum();
    Some(Part {
        shard: header.shard?,
        machine: header.machine.clone(),
        cores: header.cores.clone(),
        calibration: header.calibration.clone(),
        cpu_us: rig.cpu_us(requests),
        core_busy: rig.core_busy,
        own_busy: rig.own_busy,
        own_busy_sustained: rig.own_busy_sustained,
        steal: rig.steal,
        faults: faults_of_the_rig(summary),
    })
}

/// Recordings that belong together: every shard of one plan, once.
#[derive(Debug, Clone)]
pub struct Joint {
    header: Header,
    /// By shard: its place among the recordings given, and what brings its times to the first one's epoch.
    shards: Vec<rows::Place>,
}

impl Joint {
    /// Holds them against each other.
    pub fn of(recorded: &[Recorded]) -> Result<Self, CannotMerge> {
        let parts = refuse::in_order(recorded)?;
        let first = &recorded[parts[0].0].header;
        let place = |(index, part): &(usize, Part)| rows::Place {
            index: *index,
            shard: part.shard,
            later_us: later_us(first, &recorded[*index].header),
        };
        let shards = parts.iter().map(place).collect();
        let headers: Vec<&Header> = parts.iter().map(|(index, _)| &recorded[*index].header).collect();
        let header = header(&headers, parts.iter().map(|(_, part)| part.clone()).collect());
        Ok(Self { header, shards })
    }

    /// What is run, for the name of a folder.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The joint recording's rows. `recordings` are those that were read before, from their beginnings, in that order.
    pub fn rows<I: Iterator<Item = Result<Row, ReadError>>>(self, recordings: Vec<I>) -> Rows<I> {
        Rows::new(self.header, self.shards, recordings)
    }
}

/// How much later the same instant is by the first one's epoch. The load began for all at the same planned instant;
/// where there was none, the wall clock has to do.
fn later_us(first: &Header, other: &Header) -> i64 {
    match (first.load_us.0, other.load_us.0) {
        (0, _) | (_, 0) => other.epoch_unix_us as i64 - first.epoch_unix_us as i64,
        (first, other) => first as i64 - other as i64,
    }
}

fn header(shards: &[&Header], parts: Vec<Part>) -> Header {
    let mut joint = shards[0].clone();
    for other in &shards[1..] {
        for (act, planned) in &other.planned {
            *joint.planned.entry(act.clone()).or_default() += planned;
        }
        joint.cores.shared |= other.cores.shared;
        joint.judge_latency &= other.judge_latency;
        joint.not_judged = joint.not_judged.or_else(|| other.not_judged.clone());
        joint.how.quick |= other.how.quick;
    }
    if let [_, _, ..] = shards {
        let deliveries = &mut joint.observations.deliveries;
        if Observations::is_active(deliveries) {
            "inactive: only the first shard's acts were followed into the chats".clone_into(deliveries);
        }
        let first = &joint.repeat_with;
        joint.repeat_with = format!("{first}   (and so for each --shard up to {}/{0}, then merge)", shards.len());
    }
    Header { shard: None, parts, ..joint }
}
