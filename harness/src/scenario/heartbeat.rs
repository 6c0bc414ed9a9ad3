//! Whether the system's own loop tells of its stalls: `[system] heartbeat`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whether the system's own loop tells of its stalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`on` or `off`")]
pub enum Heartbeat {
    /// A probe of a few lines is put before every Node and Python program of the system, by its environment alone.
    #[default]
    On,
    /// Nothing is put into the system; stalls are seen from outside.
    Off,
}
