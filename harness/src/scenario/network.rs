//! How the crowd reaches the system, as far as a scenario decides it and for whoever reads a report.

use floodrig_reports::recording::Network;

use super::{Crowd, Scenario};

impl Scenario {
    /// What lies between the crowd and the system; what the system will choose of it is not known yet.
    pub fn network(&self) -> Network {
        let speech = &self.system.speech;
        let Crowd { connections, rtt, reads_at, .. } = &self.crowd;
        let rtt = rtt.as_ref().map(|range| (range.start(), range.end()));
        Network {
            tls: speech.is_secure(),
            http2: speech.has_http2(),
            chosen: None,
            spoken: None,
            connections: connections.word().to_owned(),
            rtt_us: rtt.map(|(least, most)| (least.as_micros() as u64, most.as_micros() as u64)),
            reads_at_bytes: reads_at.as_ref().map(|range| (*range.start(), *range.end())),
        }
    }
}
