//! The system's own connections to others, five times a second.

use serde::{Deserialize, Serialize};

/// The system's connections at one instant, by remote port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by their units")]
pub struct Outbound {
    pub at_us: u64,
    pub to: Vec<Towards>,
    /// Remote ports that it was seen to connect to so far and that are not counted: there are too many.
    #[serde(default)]
    pub uncounted_ports: u64,
}

/// The connections to one remote port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Towards {
    /// The remote port.
    pub port: u16,
    /// What listens there, where the run knows: a service, or `Telegram's stub`.
    pub name: Option<String>,
    /// Established connections.
    pub established: u64,
    /// Of them, those on which nothing was received since something was sent.
    pub waiting: u64,
}

impl Towards {
    /// What the stub of Telegram is called: a bot waits on it for updates, which says nothing of a pool.
    pub const STUB: &'static str = "Telegram's stub";

    /// `port 5432 (db)`
    pub fn place(port: u16, name: Option<&str>) -> String {
        name.map_or_else(|| format!("port {port}"), |name| format!("port {port} ({name})"))
    }
}
