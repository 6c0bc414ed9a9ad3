//! A spread of durations in a value: `"40ms..300ms"`, or `"40ms"` for exactly that.

use std::ops::RangeInclusive;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::file::SPREAD;

/// Any time within a range.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Spread(
    #[serde(with = "floodrig_stub::spread")]
    #[schemars(with = "String", extend("pattern" = SPREAD))]
    pub(super) RangeInclusive<Duration>,
);
