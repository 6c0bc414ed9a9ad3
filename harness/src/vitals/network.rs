//! What the kernel counts of the run's own network: queues that overflowed, handshakes that had to be begun again.

use std::io;

use floodrig_reports::recording::Network;

/// The counts so far in this network.
pub(crate) fn counted() -> io::Result<Network> {
    parse(&std::fs::read_to_string("/proc/net/netstat")?).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// What was counted since.
pub(crate) fn since(before: Network, now: Network) -> Network {
    Network {
        listen_overflows: now.listen_overflows.saturating_sub(before.listen_overflows),
        listen_drops: now.listen_drops.saturating_sub(before.listen_drops),
        syn_retransmits: now.syn_retransmits.saturating_sub(before.syn_retransmits),
    }
}

/// A line of names and a line of values, both after `TcpExt:`.
fn parse(text: &str) -> Option<Network> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let of = |wanted: &str| {
        let mut pairs = names.split_whitespace().zip(values.split_whitespace());
        pairs.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    Some(Network {
        listen_overflows: of("ListenOverflows")?,
        listen_drops: of("ListenDrops")?,
        syn_retransmits: of("TCPSynRetrans")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_their_names() {
        let text = "IpExt: A\nIpExt: 9\nTcpExt: ListenDrops X ListenOverflows TCPSynRetrans\nTcpExt: 1 2 3 4\n";
        assert_eq!(parse(text), Some(Network { listen_overflows: 3, listen_drops: 1, syn_retransmits: 4 }));
    }

    #[test]
    fn a_kernel_that_counts_something_else_is_no_zero() {
        assert_eq!(parse("TcpExt: ListenDrops\nTcpExt: 1\n"), None);
    }

    #[test]
    fn this_kernel_counts_them() {
        assert!(counted().is_ok());
    }
}
