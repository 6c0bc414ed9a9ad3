//! One budget with its limit and its value, and how it stands.

use super::Breach;
use crate::Value;

/// One budget, measured and judged. Its texts are the ones that every renderer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLine {
    /// The budget's key, such as `latency.guess.p99`.
    pub series: String,
    /// The bound.
    pub limit: String,
    /// What was measured.
    pub value: String,
    /// `value / limit`, when that is a number.
    pub ratio: Option<f64>,
    /// How it stands.
    pub standing: Standing,
}

/// How a budget stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The value is within the limit.
    Kept,
    /// It is not.
    Broken,
    /// Shown only, and why.
    NotJudged(String),
    /// There is nothing to judge, and why; such a run is invalid.
    Unmeasured(String),
}

impl Standing {
    /// One or two words for a table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "BROKEN",
            Self::NotJudged(_) => "not judged",
            Self::Unmeasured(_) => "not measured",
        }
    }

    /// Why it was not judged or measured.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Kept | Self::Broken => None,
            Self::NotJudged(why) | Self::Unmeasured(why) => Some(why),
        }
    }
}

impl BudgetLine {
    /// The breach it is, if it is one.
    pub fn breach(&self) -> Option<Breach> {
        (self.standing == Standing::Broken).then(|| Breach {
            series: self.series.clone(),
            limit: self.limit.clone(),
            value: self.value.clone(),
            ratio: self.ratio,
        })
    }

    pub(super) fn judged(series: String, limit: Value, value: Value) -> Self {
        let standing = if value.exceeds(limit) { Standing::Broken } else { Standing::Kept };
        Self { series, limit: limit.to_string(), value: value.to_string(), ratio: value.ratio_to(limit), standing }
    }

    pub(super) fn unmeasured(series: String, limit: Value, why: String) -> Self {
        let (limit, value) = (limit.to_string(), Value::Unmeasured.to_string());
        Self { series, limit, value, ratio: None, standing: Standing::Unmeasured(why) }
    }

    pub(super) fn not_judged(self, why: &str) -> Self {
        Self { standing: Standing::NotJudged(why.to_owned()), ..self }
    }
}
