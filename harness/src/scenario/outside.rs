//! How the system is watched from outside: `[system] outside`.

use schemars::JsonSchema;
use serde::Deserialize;

/// How requests and bare connects of the rig's own watch for stalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`on`, `often` or `off`")]
pub enum Outside {
    /// 20 of each a second, or 2 beside a heartbeat; no bare connects to a listener of TLS, whose server would log each.
    #[default]
    On,
    /// 20 of each a second whatever else watches, and bare connects under TLS too.
    Often,
    /// None: the system hears of the crowd alone.
    Off,
}
