//! What a person can act on, each with its evidence. Pure rules over a summary and its timeline.

mod did_not_recover;
mod init_data;
mod killed_for_memory;
mod lost_at_stop;
mod pool_saturated;
mod render_stampede;
mod throttle_storm;

use serde::{Deserialize, Serialize};

use crate::{Summary, Timeline};

/// The rules that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingId {
    /// Left alone after the load, the system is not as it was before.
    DidNotRecover,
    /// Forged initData, in which another user is named than the one its hash is of, was let in: the hash is not checked.
    ForgedInitData,
    /// Processes of the system were killed for want of memory, and it went on without them.
    KilledForMemory,
    /// Accepted work was lost when the system was ordered to stop.
    LostAtStop,
    /// A pool of connections is the bottleneck: all of it is busy while the event loop is calm.
    PoolSaturated,
    /// Memory and stalls rise with a burst of uploads or edits.
    RenderStampede,
    /// Old initData, or one that was used before, was let in: its age is not checked.
    ReplayedInitData,
    /// 429s feed themselves: refused calls are followed by more calls instead of by waiting.
    ThrottleStorm,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub id: FindingId,
    /// What happened and what to do, in words.
    pub text: String,
    /// The measured values it rests on, each a short phrase.
    pub evidence: Vec<String>,
}

impl FindingId {
    /// Its name in `summary.json` and in `expect`.
    pub fn name(self) -> &'static str {
        match self {
            Self::DidNotRecover => "did_not_recover",
            Self::ForgedInitData => "forged_init_data",
            Self::KilledForMemory => "killed_for_memory",
            Self::LostAtStop => "lost_at_stop",
            Self::PoolSaturated => "pool_saturated",
            Self::RenderStampede => "render_stampede",
            Self::ReplayedInitData => "replayed_init_data",
            Self::ThrottleStorm => "throttle_storm",
        }
    }
}

/// Every rule that holds, each once.
pub fn findings(summary: &Summary, timeline: &Timeline) -> Vec<Finding> {
    let load_from_s = summary.header.load_us.0 as f64 / 1e6;
    let rules = [
        init_data::forged(summary),
        render_stampede::find(timeline, load_from_s),
        throttle_storm::find(summary, timeline),
        killed_for_memory::find(summary),
        lost_at_stop::find(summary),
        did_not_recover::find(summary),
        pool_saturated::find(summary, timeline),
        init_data::replayed(summary),
    ];
    rules.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_run_where_all_went_well_has_no_findings() {
        let (summary, timeline) = fixture::summarised(fixture::rows());
        assert_eq!(findings(&summary, &timeline), []);
    }

    #[test]
    fn a_findings_name_is_the_one_in_files() {
        for id in [
            FindingId::DidNotRecover,
            FindingId::ForgedInitData,
            FindingId::LostAtStop,
            FindingId::PoolSaturated,
            FindingId::RenderStampede,
            FindingId::ReplayedInitData,
            FindingId::ThrottleStorm,
        ] {
            assert_eq!(serde_json::to_value(id).unwrap(), id.name());
        }
    }
}
