//! How players arrive: `arrive` of a journey, or of the crowd for all journeys that share its arrivals by `weight`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::check::positive;
use super::complaint::Complaint;
use super::file::DURATION;
use super::replay;
use super::spot::Spot;

/// Whose arrivals a journey's visits are.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Its own.
    Own(Arrive),
    /// Each arrival of the crowd is for one of the journeys that share them, drawn by their weights.
    Shared {
        /// Its weight among them, at least 1.
        weight: u32,
    },
}

/// How players arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrive {
    /// Everyone of the crowd once, uniformly at random within this long.
    Burst {
        /// The length of the burst.
        over: Duration,
    },
    /// Evenly spaced, players coming round in a seeded order.
    Constant {
        /// Arrivals a second.
        rate: f64,
        /// For how long.
        over: Duration,
    },
    /// A Poisson process, players coming round in a seeded order.
    Poisson {
        /// Arrivals a second, on average.
        rate: f64,
        /// For how long.
        over: Duration,
    },
    /// A rate that grows or falls linearly.
    Ramp {
        /// Arrivals a second at the start.
        from: f64,
        /// Arrivals a second at the end.
        to: f64,
        /// For how long.
        over: Duration,
    },
    /// One constant rate after the other.
    Steps {
        /// Arrivals a second, step by step.
        rates: Vec<f64>,
        /// How long each step is.
        each: Duration,
    },
    /// At recorded instants, players coming round in a seeded order.
    Replay {
        /// The file, as the scenario names it.
        file: String,
        /// In order, the first at zero.
        instants: Arc<[Duration]>,
        /// SHA-256 of the file.
        digest: [u8; 32],
    },
}

impl Arrive {
    /// How long players arrive for.
    pub fn over(&self) -> Duration {
        match self {
            Self::Burst { over }
            | Self::Constant { over, .. }
            | Self::Poisson { over, .. }
            | Self::Ramp { over, .. } => *over,
            Self::Steps { rates, each } => each.saturating_mul(rates.len() as u32),
            Self::Replay { instants, .. } => instants.last().copied().unwrap_or_default(),
        }
    }

    /// How many visits are to be expected of a crowd of this many players.
    pub fn visits(&self, players: u64) -> f64 {
        match self {
            Self::Burst { .. } => players as f64,
            Self::Constant { rate, over } | Self::Poisson { rate, over } => rate * over.as_secs_f64(),
            Self::Ramp { from, to, over } => f64::midpoint(*from, *to) * over.as_secs_f64(),
            Self::Steps { rates, each } => rates.iter().sum::<f64>() * each.as_secs_f64(),
            Self::Replay { instants, .. } => instants.len() as f64,
        }
    }

    /// The same arrivals for half the time: shorter where they are spread over it, and the first half of steps and of
    /// what was recorded.
    pub(super) fn halved(&self) -> Self {
        let half = |over: &Duration| *over / 2;
        match self {
            Self::Burst { over } => Self::Burst { over: half(over) },
            Self::Constant { rate, over } => Self::Constant { rate: *rate, over: half(over) },
            Self::Poisson { rate, over } => Self::Poisson { rate: *rate, over: half(over) },
            Self::Ramp { from, to, over } => Self::Ramp { from: *from, to: *to, over: half(over) },
            Self::Steps { rates, each } => Self::Steps { rates: rates.clone(), each: half(each) },
            Self::Replay { file, instants, digest } => {
                let first_half = instants.partition_point(|at| *at <= self.over() / 2);
                Self::Replay { file: file.clone(), instants: instants[..first_half].into(), digest: *digest }
            }
        }
    }
}

/// How players arrive.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "a kind of arrival")]
#[schemars(rename = "Arrive")]
pub(super) enum ArriveTable {
    /// Everyone of the crowd once, uniformly at random within this long.
    Burst(BurstTable),
    /// Evenly spaced, players coming round in a seeded order.
    Constant(RateTable),
    /// A Poisson process, players coming round in a seeded order.
    Poisson(RateTable),
    /// A rate that grows or falls linearly.
    Ramp(RampTable),
    /// One constant rate after the other.
    Steps(StepsTable),
    /// At recorded instants, players coming round in a seeded order.
    Replay(ReplayTable),
}

/// Everyone once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Burst")]
pub(super) struct BurstTable {
    /// For how long.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    over: Duration,
}

/// A steady rate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Rate")]
pub(super) struct RateTable {
    /// Arrivals a second.
    rate: f64,
    /// For how long.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    over: Duration,
}

/// A changing rate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Ramp")]
pub(super) struct RampTable {
    /// Arrivals a second at the start.
    from: f64,
    /// Arrivals a second at the end.
    to: f64,
    /// For how long.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    over: Duration,
}

/// Rates that change by steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "RateSteps")]
pub(super) struct StepsTable {
    /// Arrivals a second, step by step.
    rates: Vec<f64>,
    /// How long each step is.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    each: Duration,
}

/// Recorded arrivals.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Replay")]
pub(super) struct ReplayTable {
    /// A file, from the scenario's folder: one arrival time a line, in seconds or as a time such as
    /// `2026-11-30T09:00:00Z`. The earliest is the start of the load; columns after the first are left out.
    file: String,
}

/// Checks how players arrive.
pub(super) fn checked(file: &ArriveTable, scenario: &Path, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Arrive {
    match file {
        ArriveTable::Burst(burst) => {
            positive(burst.over, &spot.key("burst").key("over"), complaints);
            Arrive::Burst { over: burst.over }
        }
        ArriveTable::Constant(steady) => {
            rates(&[("rate", steady.rate)], steady.over, &spot.key("constant"), complaints);
            Arrive::Constant { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Poisson(steady) => {
            rates(&[("rate", steady.rate)], steady.over, &spot.key("poisson"), complaints);
            Arrive::Poisson { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Ramp(ramp) => {
            rates(&[("from", ramp.from), ("to", ramp.to)], ramp.over, &spot.key("ramp"), complaints);
            Arrive::Ramp { from: ramp.from, to: ramp.to, over: ramp.over }
        }
        ArriveTable::Steps(steps) => by_steps(steps, &spot.key("steps"), complaints),
        ArriveTable::Replay(recorded) => {
            let replayed = replay::read(scenario, &recorded.file, &spot.key("replay").key("file"));
            replayed.unwrap_or_else(|complaint| {
                complaints.push(complaint);
                Arrive::Burst { over: Duration::from_secs(1) }
            })
        }
    }
}

/// A single rate must be above zero; of the two ends of a ramp, one may be zero.
fn rates(rates: &[(&str, f64)], over: Duration, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    positive(over, &spot.key("over"), complaints);
    for (key, rate) in rates {
        if !is_rate(*rate, &spot.key(key), complaints) {
            return;
        }
    }
    let arrivals = rates.iter().map(|(_, rate)| rate).sum::<f64>() / rates.len() as f64 * over.as_secs_f64();
    somebody(arrivals, &spot.key(rates[0].0), complaints);
}

/// A step may have nobody arrive, but not all of them.
fn by_steps(steps: &StepsTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Arrive {
    positive(steps.each, &spot.key("each"), complaints);
    let at = spot.key("rates");
    let arrive = Arrive::Steps { rates: steps.rates.clone(), each: steps.each };
    if (0..).zip(&steps.rates).all(|(nth, rate)| is_rate(*rate, &at.item(nth), complaints)) {
        somebody(arrive.visits(0), &at, complaints);
    }
    arrive
}

fn is_rate(rate: f64, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> bool {
    let is_rate = rate.is_finite() && rate >= 0.0;
    if !is_rate {
        let help = "write how many arrive in a second, such as 50";
        complaints.push(spot.complain(format!("{rate} is no rate"), help));
    }
    is_rate
}

fn somebody(arrivals: f64, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if arrivals < 1.0 {
        complaints.push(spot.complain("nobody would come", "raise the rate, or let it last longer"));
    }
}
