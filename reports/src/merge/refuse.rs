//! What cannot be joined, and why: a sum over recordings that do not belong together would be a number about nothing.

use crate::recording::{Header, Part};

use super::Recorded;

/// How far the starts of two shards may lie apart by their machines' clocks, in microseconds: both were given the same
/// instant, and each rounds it once.
const APART_US: u64 = 1_000;

/// Why recordings cannot be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotMerge {
    /// There is nothing at all.
    #[error("there is no recording to join")]
    Nothing,
    /// A run of a whole plan, or one that was joined already.
    #[error("{name} is no shard: it holds the whole plan, so there is nothing to join it with")]
    Whole {
        /// The recording.
        name: String,
    },
    /// Other acts, another seed or another scenario.
    #[error("{one} and {other} are of different plans: every shard needs the same scenario, variant, seed and --quick")]
    DifferentPlans {
        /// A recording.
        one: String,
        /// One that differs from it.
        other: String,
    },
    /// One was answered in HTTP/2 and another in HTTP/1.1, by a proxy of its own perhaps.
    #[error("{one} reached the system by {network} and {other} by {others}: bring every shard to it the same way")]
    DifferentNetworks {
        /// A recording.
        one: String,
        /// Its network.
        network: String,
        /// One that differs from it.
        other: String,
        /// That one's network.
        others: String,
    },
    /// `2/8` beside `3/4`.
    #[error("{one} is one of {of} shards and {other} one of {others}: they divide the plan differently")]
    DifferentCounts {
        /// A recording.
        one: String,
        /// Its number of shards.
        of: u32,
        /// One that differs from it.
        other: String,
        /// That one's number of shards.
        others: u32,
    },
    /// The same acts would count twice.
    #[error("{one} and {other} are both shard {number}: name one of them")]
    Double {
        /// A recording.
        one: String,
        /// One of the same shard.
        other: String,
        /// The shard.
        number: u32,
    },
    /// Acts would be missing.
    #[error("{} of {of} missing: a plan is judged as a whole, so name every shard's folder", shards(.missing))]
    Missing {
        /// The shards that are not there.
        missing: Vec<u32>,
        /// How many there are in all.
        of: u32,
    },
    /// They did not load the system together.
    #[error("{one} and {other} did not begin together ({apart_ms} ms apart): give every shard the same --start-at")]
    DifferentStarts {
        /// A recording.
        one: String,
        /// One that began at another instant.
        other: String,
        /// How far apart.
        apart_ms: u64,
    },
}

/// `shard 3 is`, `shards 3, 5 are`
fn shards(missing: &[u32]) -> String {
    let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [only] => format!("shard {only}"),
        several => format!("shards {}", several.join(", ")),
    }
}

/// The shards in the order of their numbers, each with its index among those given.
pub(super) fn in_order(recorded: &[Recorded]) -> Result<Vec<(usize, Part)>, CannotMerge> {
    let first = recorded.first().ok_or(CannotMerge::Nothing)?;
    let mut parts = Vec::new();
    for (index, it) in recorded.iter().enumerate() {
        let part = it.part.clone().ok_or_else(|| CannotMerge::Whole { name: it.name.clone() })?;
        same_plan(first, it)?;
        same_network(first, it)?;
        parts.push((index, part));
    }
    same_count(recorded, &parts)?;
    parts.sort_by_key(|(_, part)| part.shard.number);
    once_each(recorded, &parts)?;
    same_start(recorded)?;
    Ok(parts)
}

fn same_plan(first: &Recorded, other: &Recorded) -> Result<(), CannotMerge> {
    let plan = |it: &Header| (it.plan_digest.clone(), it.scenario_text.clone(), it.variant.clone(), it.seed);
    if plan(&first.header) == plan(&other.header) {
        return Ok(());
    }
    Err(CannotMerge::DifferentPlans { one: first.name.clone(), other: other.name.clone() })
}

/// The scenario is the same, so only what the system chose can differ.
fn same_network(first: &Recorded, other: &Recorded) -> Result<(), CannotMerge> {
    let networks = first.header.how.network.as_ref().zip(other.header.how.network.as_ref());
    let Some((one, another)) = networks.filter(|(one, another)| one.differs_from(another)) else { return Ok(()) };
    let [network, others] = [one, another].map(|network| network.in_words().unwrap_or_else(|| "HTTP/1.1".to_owned()));
    let (one, other) = (first.name.clone(), other.name.clone());
    Err(CannotMerge::DifferentNetworks { one, network, other, others })
}

fn same_count(recorded: &[Recorded], parts: &[(usize, Part)]) -> Result<(), CannotMerge> {
    let of = parts[0].1.shard.of;
    let odd = parts.iter().find(|(_, part)| part.shard.of != of);
    odd.map_or(Ok(()), |(index, part)| {
        let (one, other) = (recorded[0].name.clone(), recorded[*index].name.clone());
        Err(CannotMerge::DifferentCounts { one, of, other, others: part.shard.of })
    })
}

fn once_each(recorded: &[Recorded], sorted: &[(usize, Part)]) -> Result<(), CannotMerge> {
    if let Some([one, other]) = sorted.array_windows().find(|[one, other]| one.1.shard.number == other.1.shard.number) {
        let number = one.1.shard.number;
        let [one, other] = [one, other].map(|(index, _)| recorded[*index].name.clone());
        return Err(CannotMerge::Double { one, other, number });
    }
    let of = sorted[0].1.shard.of;
    let is_there = |number: &u32| sorted.iter().any(|(_, part)| part.shard.number == *number);
    let missing: Vec<u32> = (1..=of).filter(|number| !is_there(number)).collect();
    if missing.is_empty() { Ok(()) } else { Err(CannotMerge::Missing { missing, of }) }
}

/// A shard that came to no load began at no instant, and its seal says what kept it.
fn same_start(recorded: &[Recorded]) -> Result<(), CannotMerge> {
    let start = |it: &Header| it.epoch_unix_us + it.load_us.0;
    let mut began = recorded.iter().filter(|it| it.header.load_us.0 > 0);
    let Some(first) = began.next() else { return Ok(()) };
    let apart = |other: &Recorded| start(&first.header).abs_diff(start(&other.header));
    let odd = began.find(|other| apart(other) > APART_US);
    odd.map_or(Ok(()), |other| {
        let (one, apart_ms) = (first.name.clone(), apart(other) / 1_000);
        Err(CannotMerge::DifferentStarts { one, other: other.name.clone(), apart_ms })
    })
}
