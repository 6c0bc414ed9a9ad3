//! Whose connections are: `[crowd] connections`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whose connections are. Each is kept alive for as long as the system allows and somebody may use it again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`player`, `shared` or `fresh`")]
pub enum Connections {
    /// Every player's own, as a browser's: one that is used for one act after the other, and up to six that a page load
    /// uses at the same time.
    #[default]
    Player,
    /// Anybody's, as those of a proxy in front of the system: an act takes an idle one, and opens one when there is none.
    Shared,
    /// A new one for every act.
    Fresh,
}

impl Connections {
    /// As a scenario says it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Shared => "shared",
            Self::Fresh => "fresh",
        }
    }

    /// For the reader of a report.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Player => {
                "keep-alive connections of every player's own: one, opened at the first act, for acts one after the \
                 other, and up to six for a page load; a kept one that closes before any byte of an answer is retried \
                 once on a fresh one"
            }
            Self::Shared => {
                "keep-alive connections that anybody uses, opened when none is idle; a kept one that closes before \
                 any byte of an answer is retried once on a fresh one"
            }
            Self::Fresh => "a fresh connection for every act",
        }
    }
}
