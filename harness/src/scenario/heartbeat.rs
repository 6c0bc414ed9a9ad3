//! Whether the system's own loop tells of its stalls: `[system] heartbeat`.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whether the system's own loop tells of its stalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`on`, `stacks` or `off`")]
pub enum Heartbeat {
    /// A probe of a few lines is put before every Node and Python program of the system, by its environment alone.
    #[default]
    On,
    /// And says where in the code a stall of the main thread was, for which it looks into the program: Node then attaches its
    /// inspector.
    Stacks,
    /// Nothing is put into the system; stalls are seen from outside.
    Off,
}
