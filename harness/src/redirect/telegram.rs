//! Telegram's own addresses, as it publishes them. PURE.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ranges of <https://core.telegram.org/resources/cidr.txt>: where a range begins, and how many bits are the same
/// in all of it. `api.telegram.org` is in 149.154.160.0/20 and `2001:67c:4e8::/48`.
const VERSION_4: [(Ipv4Addr, u32); 9] = [
    (Ipv4Addr::new(91, 105, 192, 0), 23),
    (Ipv4Addr::new(91, 108, 4, 0), 22),
    (Ipv4Addr::new(91, 108, 8, 0), 22),
    (Ipv4Addr::new(91, 108, 12, 0), 22),
    (Ipv4Addr::new(91, 108, 16, 0), 22),
    (Ipv4Addr::new(91, 108, 20, 0), 22),
    (Ipv4Addr::new(91, 108, 56, 0), 22),
    (Ipv4Addr::new(149, 154, 160, 0), 20),
    (Ipv4Addr::new(185, 76, 151, 0), 24),
];
const VERSION_6: [(Ipv6Addr, u32); 5] = [
    (Ipv6Addr::new(0x2001, 0x67c, 0x4e8, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x2001, 0xb28, 0xf23c, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x2001, 0xb28, 0xf23d, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x2001, 0xb28, 0xf23f, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x2a0a, 0xf280, 0, 0, 0, 0, 0, 0), 32),
];

/// Whether Telegram itself is at this address.
pub(super) fn is_telegrams(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            VERSION_4.iter().any(|(first, bits)| (address.to_bits() ^ first.to_bits()).leading_zeros() >= *bits)
        }
        IpAddr::V6(address) => {
            VERSION_6.iter().any(|(first, bits)| (address.to_bits() ^ first.to_bits()).leading_zeros() >= *bits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(address: &str) -> bool {
        is_telegrams(address.parse().unwrap())
    }

    #[test]
    fn the_first_and_the_last_address_of_a_range_are_telegrams_and_their_neighbours_are_not() {
        let ranges = [
            ["149.154.159.255", "149.154.160.0", "149.154.175.255", "149.154.176.0"],
            ["91.105.191.255", "91.105.192.0", "91.105.193.255", "91.105.194.0"],
            ["91.108.3.255", "91.108.4.0", "91.108.23.255", "91.108.24.0"],
            ["91.108.55.255", "91.108.56.0", "91.108.59.255", "91.108.60.0"],
            ["185.76.150.255", "185.76.151.0", "185.76.151.255", "185.76.152.0"],
            ["2001:67c:4e7:ffff::", "2001:67c:4e8::", "2001:67c:4e8:ffff:ffff:ffff:ffff:ffff", "2001:67c:4e9::"],
            ["2001:b28:f23b:ffff::", "2001:b28:f23c::", "2001:b28:f23d:ffff::", "2001:b28:f23e::"],
            ["2001:b28:f23e:ffff::", "2001:b28:f23f::", "2001:b28:f23f:ffff::", "2001:b28:f240::"],
            ["2a0a:f27f:ffff::", "2a0a:f280::", "2a0a:f280:ffff:ffff:ffff:ffff:ffff:ffff", "2a0a:f281::"],
        ];
        for range in ranges {
            assert_eq!(range.map(is), [false, true, true, false], "{range:?}");
        }
    }

    #[test]
    fn this_machine_and_its_networks_are_not_telegrams() {
        for address in ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "0.0.0.0", "::"] {
            assert!(!is(address), "{address}");
        }
    }
}
