//! What the kernel counts of connections that met a full listen queue.

use serde::{Deserialize, Serialize};

/// Since the observation began, of everything in the network namespace of the rig and the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounts {
    /// Handshakes that met a full accept queue (`ListenOverflows`): tries, of which one user may make several.
    pub listen_overflows: u64,
    /// All that a listener dropped, those included (`ListenDrops`).
    pub listen_drops: u64,
    /// SYNs that were sent again for want of an answer (`TCPSynRetrans`).
    pub syn_retransmits: u64,
}
