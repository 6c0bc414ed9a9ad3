//! What the kernel has counted of connections that met a full listen queue, from `/proc/net/netstat`: some 60 us.
//!
//! It counts for a whole network namespace, so whatever else listens there is in the figures too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use floodrig_reports::recording::NetworkCounts;

/// What decides on the fate of a connection at a full queue (`Documentation/networking/ip-sysctl.rst`).
const SETTINGS: [&str; 6] = [
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_syn_retries",
    "net.ipv4.tcp_syn_linear_timeouts",
];

/// Counts from its making on.
#[derive(Debug)]
pub(super) struct NetStat {
    before: NetworkCounts,
}

impl NetStat {
    /// Nothing where the kernel does not tell.
    pub(super) fn start() -> Option<Self> {
        now().map(|before| Self { before })
    }

    /// Since the start.
    pub(super) fn so_far(&self) -> Option<NetworkCounts> {
        let (now, before) = (now()?, self.before);
        Some(NetworkCounts {
            listen_overflows: now.listen_overflows.saturating_sub(before.listen_overflows),
            listen_drops: now.listen_drops.saturating_sub(before.listen_drops),
            syn_retransmits: now.syn_retransmits.saturating_sub(before.syn_retransmits),
        })
    }
}

/// The kernel's settings by name; one that it does not have is left out.
pub(super) fn settings() -> BTreeMap<String, String> {
    let value = |name: &&str| {
        let path = Path::new("/proc/sys").join(name.replace('.', "/"));
        Some(((*name).to_owned(), fs::read_to_string(path).ok()?.trim().to_owned()))
    };
    SETTINGS.iter().filter_map(value).collect()
}

fn now() -> Option<NetworkCounts> {
    parse(&fs::read_to_string("/proc/net/netstat").ok()?)
}

/// A line of names, and one of values in the same order.
fn parse(text: &str) -> Option<NetworkCounts> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let value = |wanted: &str| {
        let mut pairs = names.split_whitespace().zip(values.split_whitespace());
        pairs.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    Some(NetworkCounts {
        listen_overflows: value("ListenOverflows")?,
        listen_drops: value("ListenDrops")?,
        syn_retransmits: value("TCPSynRetrans")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_whatever_their_order() {
        let text =
            "TcpExt: SyncookiesSent ListenDrops ListenOverflows TCPSynRetrans\nTcpExt: 9 7 5 3\nIpExt: A\nIpExt: 1\n";
        let expected = NetworkCounts { listen_overflows: 5, listen_drops: 7, syn_retransmits: 3 };
        assert_eq!(parse(text), Some(expected));
        assert_eq!(parse("TcpExt: ListenDrops\nTcpExt: 7\n"), None);
    }

    #[test]
    fn this_kernel_tells_its_counts_and_settings() {
        assert!(NetStat::start().unwrap().so_far().is_some());
        assert!(settings()["net.core.somaxconn"].parse::<u64>().unwrap() > 0);
    }
}
