//! How the system is watched from outside: `[system] outside`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ready, System};

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

/// Why stalls cannot be seen from outside, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unseen {
    /// Why.
    pub why: &'static str,
    /// What to do.
    pub help: &'static str,
}

impl System {
    /// Why its stalls are not seen from outside, where no heartbeat of its loop tells of them either.
    pub fn unseen_outside(&self) -> Option<Unseen> {
        let unseen = |why, help| Some(Unseen { why, help });
        match (&self.ready, self.outside) {
            (Ready::Bot, _) => {
                let help = "say at which path the system answers: `ready = \"/healthz\"`";
                unseen("a bot that only asks is not probed", help)
            }
            (_, Outside::On | Outside::Off) if self.speech.is_secure() => {
                let why = "a system that speaks TLS is watched from outside on order only";
                unseen(why, "write `outside = \"often\"`")
            }
            (_, Outside::Off) => unseen("`outside` is off", "leave `outside` on"),
            (_, Outside::On | Outside::Often) => None,
        }
    }
}
