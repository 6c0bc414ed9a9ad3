//! How long a player thinks before an act: `think`, a spread or a distribution.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::check::positive;
use super::complaint::Complaint;
use super::file::{DURATION, SPREAD};
use super::spot::Spot;

/// How long a player thinks, drawn anew each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Think {
    /// Any time within a range as likely as any other.
    Between(RangeInclusive<Duration>),
    /// Mostly short and now and then long.
    Exponential {
        /// The average, before the bounds.
        mean: Duration,
        /// What is drawn outside is the nearest bound.
        within: RangeInclusive<Duration>,
    },
    /// As people take: never nothing, and with a long tail.
    Lognormal {
        /// Half take longer.
        median: Duration,
        /// One in ten takes longer.
        p90: Duration,
        /// What is drawn outside is the nearest bound.
        within: RangeInclusive<Duration>,
    },
}

impl Default for Think {
    fn default() -> Self {
        Self::Between(Duration::ZERO..=Duration::ZERO)
    }
}

impl Think {
    /// The longest that can be drawn.
    pub fn longest(&self) -> Duration {
        match self {
            Self::Between(within) | Self::Exponential { within, .. } | Self::Lognormal { within, .. } => *within.end(),
        }
    }
}

/// How it is written: `"3s..9s"`, `"5s"`, or a table with one distribution.
#[derive(Debug)]
pub(super) enum ThinkTable {
    Spread(RangeInclusive<Duration>),
    Distribution(Box<Distribution>),
}

/// A distribution of thinking times: exactly one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct Distribution {
    /// Mostly short and now and then long.
    exponential: Option<Exponential>,
    /// As people take: never nothing, and with a long tail.
    lognormal: Option<Lognormal>,
}

/// Exponential thinking times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Exponential {
    /// The average, before the bounds.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    mean: Duration,
    /// Nobody takes less.
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    at_least: Duration,
    /// Nobody takes more; by default ten times the mean, which one in 22,000 would.
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    at_most: Option<Duration>,
}

/// Log-normal thinking times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Lognormal {
    /// Half take longer.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    median: Duration,
    /// One in ten takes longer.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    p90: Duration,
    /// Nobody takes less.
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    at_least: Duration,
    /// Nobody takes more; by default ten times the `p90`.
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    at_most: Option<Duration>,
}

impl<'de> Deserialize<'de> for ThinkTable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SpreadOrTable)
    }
}

struct SpreadOrTable;

impl<'de> Visitor<'de> for SpreadOrTable {
    type Value = ThinkTable;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a duration")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ThinkTable, E> {
        floodrig_stub::spread::deserialize(StrDeserializer::new(text)).map(ThinkTable::Spread)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<ThinkTable, A::Error> {
        Distribution::deserialize(MapAccessDeserializer::new(table)).map(Box::new).map(ThinkTable::Distribution)
    }
}

impl JsonSchema for ThinkTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Think".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Distribution>();
        json_schema!({ "anyOf": [{ "type": "string", "pattern": SPREAD }, table] })
    }
}

/// Checks how long a player thinks.
pub(super) fn checked(file: Option<ThinkTable>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Think {
    let distribution = match file {
        None => return Think::default(),
        Some(ThinkTable::Spread(within)) => return Think::Between(within),
        Some(ThinkTable::Distribution(one)) => *one,
    };
    match (distribution.exponential, distribution.lognormal) {
        (Some(one), None) => exponential(&one, &spot.key("exponential"), complaints),
        (None, Some(one)) => lognormal(&one, &spot.key("lognormal"), complaints),
        (None, None) | (Some(_), Some(_)) => {
            let help = "write \"3s..9s\", `exponential = { mean = \"4s\" }` or \
                        `lognormal = { median = \"4s\", p90 = \"12s\" }`";
            complaints.push(spot.complain("thinking has one distribution", help));
            Think::default()
        }
    }
}

fn exponential(file: &Exponential, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Think {
    positive(file.mean, &spot.key("mean"), complaints);
    let at_most = file.at_most.unwrap_or(file.mean.saturating_mul(10));
    Think::Exponential { mean: file.mean, within: within(file.at_least, at_most, spot, complaints) }
}

fn lognormal(file: &Lognormal, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Think {
    positive(file.median, &spot.key("median"), complaints);
    if file.p90 <= file.median {
        let help = "write a longer time: one in ten takes longer than that";
        complaints.push(spot.key("p90").complain("the `p90` is not beyond the median", help));
    }
    let at_most = file.at_most.unwrap_or(file.p90.saturating_mul(10));
    let within = within(file.at_least, at_most, spot, complaints);
    Think::Lognormal { median: file.median, p90: file.p90, within }
}

fn within(
    at_least: Duration,
    at_most: Duration,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> RangeInclusive<Duration> {
    if at_least > at_most {
        complaints.push(spot.key("at_least").complain("more than `at_most`", "write a shorter time"));
        return at_most..=at_most;
    }
    at_least..=at_most
}
