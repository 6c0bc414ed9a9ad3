//! Which local address a player connects from. Pure.
//!
//! One address has 28,232 ephemeral ports by Linux's default (`ip_local_port_range` of 32768 to 60999), and a large
//! crowd has more connections than that. All of 127.0.0.0/8 is this machine, so beyond the first players the rest
//! come from further addresses of it.

use std::net::{IpAddr, Ipv4Addr};

/// Players of one address; the ports left over are for connections that have ended and still hold theirs.
const PLAYERS_OF_ONE: u32 = 20_000;

/// The address of a player, where there is a choice; nothing: the kernel's.
pub(super) fn source(player: u32, target: IpAddr) -> Option<IpAddr> {
    let nth = player / PLAYERS_OF_ONE;
    let choice = nth > 0 && target.is_ipv4() && target.is_loopback();
    choice.then(|| Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + nth).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_players_come_from_where_the_kernel_likes_and_the_rest_from_further_on() {
        let local = Ipv4Addr::LOCALHOST.into();
        assert_eq!((source(0, local), source(19_999, local)), (None, None));
        assert_eq!(source(20_000, local).unwrap().to_string(), "127.0.0.2");
        assert_eq!(source(20_000 * 300, local).unwrap().to_string(), "127.0.1.45");
    }

    #[test]
    fn elsewhere_there_is_no_choice() {
        for target in ["::1", "10.0.0.1"] {
            assert_eq!(source(20_000, target.parse().unwrap()), None);
        }
    }
}
