//! Summary + budgets -> verdict. Within a run the first that holds wins: partial, failed, not ready, died,
//! invalid, broken, pass.

mod after;
mod judge;
mod lines;
mod standing;
mod validity;
mod words;

pub use judge::judge;
pub use lines::budget_lines;
pub use standing::{BudgetLine, Standing};
pub(crate) use validity::LATE_SHARE;
pub use validity::faults_of_the_rig;
pub use words::{ending_words, headline};

use serde::{Deserialize, Serialize};

use crate::recording::Ending;

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every budget was kept.
    Pass,
    /// The system broke budgets.
    Broken(Vec<Breach>),
    /// The system never became ready, and why.
    NotReady(String),
    /// The rig was the limit, or a judged series has no samples.
    Invalid(Vec<String>),
    /// The system died by itself.
    Died(Box<Ending>),
    /// The rig itself failed.
    Failed(String),
    /// The run was cut short.
    Partial,
}

/// A verdict without its reasons: what `expect` names and `summary.json` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the variants of `Verdict`")]
pub enum VerdictKind {
    Pass,
    Broken,
    NotReady,
    Invalid,
    Died,
    Failed,
    Partial,
}

/// What a verdict means for the system, for whoever gives it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It did what it had to.
    Well,
    /// It did not.
    Badly,
    /// Nobody can tell.
    Unsure,
}

/// A budget that was not kept. The values are formatted once, and every renderer uses that text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breach {
    /// The budget's key, such as `latency.guess.p99`.
    pub series: String,
    /// The bound.
    pub limit: String,
    /// What was measured.
    pub value: String,
    /// `value / limit`; `null` when the limit is zero or the value unbounded.
    pub ratio: Option<f64>,
}

impl VerdictKind {
    /// Its name in `summary.json` and in `expect`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Broken => "broken",
            Self::NotReady => "not_ready",
            Self::Invalid => "invalid",
            Self::Died => "died",
            Self::Failed => "failed",
            Self::Partial => "partial",
        }
    }

    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Broken => 1,
            Self::NotReady => 3,
            Self::Invalid => 4,
            Self::Died => 5,
            Self::Failed => 6,
            Self::Partial => 130,
        }
    }
}

impl Verdict {
    /// The verdict without its reasons.
    pub fn kind(&self) -> VerdictKind {
        match self {
            Self::Pass => VerdictKind::Pass,
            Self::Broken(_) => VerdictKind::Broken,
            Self::NotReady(_) => VerdictKind::NotReady,
            Self::Invalid(_) => VerdictKind::Invalid,
            Self::Died(_) => VerdictKind::Died,
            Self::Failed(_) => VerdictKind::Failed,
            Self::Partial => VerdictKind::Partial,
        }
    }

    /// The budgets that were not kept.
    pub fn breaches(&self) -> &[Breach] {
        match self {
            Self::Broken(breaches) => breaches,
            Self::Pass | Self::NotReady(_) | Self::Invalid(_) | Self::Died(_) | Self::Failed(_) | Self::Partial => &[],
        }
    }

    /// All reasons why the run is invalid, where the headline has room for the first.
    pub fn invalid_because(&self) -> &[String] {
        match self {
            Self::Invalid(reasons) => reasons,
            Self::Pass | Self::Broken(_) | Self::NotReady(_) | Self::Died(_) | Self::Failed(_) | Self::Partial => &[],
        }
    }

    /// What it means for the system.
    pub(crate) fn tone(&self) -> Tone {
        match self {
            Self::Pass => Tone::Well,
            Self::Broken(_) | Self::NotReady(_) | Self::Died(_) => Tone::Badly,
            Self::Invalid(_) | Self::Failed(_) | Self::Partial => Tone::Unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdicts_name_is_the_one_in_files() {
        let all = [
            VerdictKind::Pass,
            VerdictKind::Broken,
            VerdictKind::NotReady,
            VerdictKind::Invalid,
            VerdictKind::Died,
            VerdictKind::Failed,
            VerdictKind::Partial,
        ];
        for kind in all {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(all.map(VerdictKind::exit_code), [0, 1, 3, 4, 5, 6, 130]);
    }
}
