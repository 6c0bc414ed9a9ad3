//! What a person can act on, each with its evidence. Pure rules over a summary and its timeline.

use serde::{Deserialize, Serialize};

/// The rules that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingId {
    /// Memory and stalls rise with a burst of uploads or edits.
    RenderStampede,
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
