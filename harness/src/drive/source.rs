//! Which local address a player connects from. Pure.
//!
//! One address has 28,232 ephemeral ports by Linux's default (`ip_local_port_range` of 32768 to 60999), and a large
//! crowd has more connections than that. All of 127.0.0.0/8 is this machine, so beyond the first players the rest
//! come from further addresses of it.

use std::net::{IpAddr, Ipv4Addr};

use super::page::MOST_CONNECTIONS;
use crate::plan::{Arrival, Plan};
use crate::scenario::{Does, Scenario};

/// Connections of one address; the ports left over are for connections that have ended and still hold theirs.
const CONNECTIONS_OF_ONE: u32 = 20_000;

/// The addresses that players connect from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources {
    target: IpAddr,
    players_of_one: u32,
}

impl Sources {
    /// For players each of whom has this many connections at most.
    pub(super) fn new(target: IpAddr, connections: u32) -> Self {
        Self { target, players_of_one: (CONNECTIONS_OF_ONE / connections.max(1)).max(1) }
    }

    /// The address of a player, where there is a choice; nothing: the kernel's.
    pub(super) fn of(self, player: u32) -> Option<IpAddr> {
        let nth = player / self.players_of_one;
        let choice = nth > 0 && self.target.is_ipv4() && self.target.is_loopback();
        choice.then(|| Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + nth).into())
    }
}

/// The most connections that one player of the plan may have open at once: those of a page load, or one for its
/// requests, and beside them the `WebSocket`s of its visits.
pub(super) fn most_of_a_player(scenario: &Scenario, plan: &Plan) -> u32 {
    let does = |act: u16| {
        let spec = &plan.acts[usize::from(act)];
        &scenario.journeys[spec.journey].steps[spec.step].does
    };
    let for_requests = (0..plan.acts.len() as u16).map(|act| match does(act) {
        Does::Page(_) => MOST_CONNECTIONS as u32,
        Does::Request(_) => 1,
        Does::Converse(_) | Does::Bot(_) => 0,
    });
    let talks: Vec<bool> = (0..plan.acts.len() as u16).map(|act| matches!(does(act), Does::Converse(_))).collect();
    let sockets = if talks.contains(&true) { most_sockets(&plan.arrivals, &talks) } else { 0 };
    for_requests.max().unwrap_or(0) + sockets
}

/// The most visits of one player that are under way at once and have opened a `WebSocket`, by the order of its acts.
fn most_sockets(arrivals: &[Arrival], talks: &[bool]) -> u32 {
    let count = |of: fn(&Arrival) -> u32| arrivals.iter().map(of).max().map_or(0, |most| most as usize + 1);
    let mut last = vec![0; count(|arrival| arrival.visit)];
    arrivals.iter().enumerate().for_each(|(index, arrival)| last[arrival.visit as usize] = index);
    let (mut opened, mut open) = (vec![false; last.len()], vec![0; count(|arrival| arrival.player)]);
    let mut most = 0;
    for (index, arrival) in arrivals.iter().enumerate() {
        let (opened, open) = (&mut opened[arrival.visit as usize], &mut open[arrival.player as usize]);
        if talks[usize::from(arrival.act)] && !std::mem::replace(opened, true) {
            *open += 1;
            most = most.max(*open);
        }
        *open -= u32::from(*opened && last[arrival.visit as usize] == index);
    }
    most
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_players_come_from_where_the_kernel_likes_and_the_rest_from_further_on() {
        let from = Sources::new(Ipv4Addr::LOCALHOST.into(), 1);
        assert_eq!((from.of(0), from.of(19_999)), (None, None));
        assert_eq!(from.of(20_000).unwrap().to_string(), "127.0.0.2");
        assert_eq!(from.of(20_000 * 300).unwrap().to_string(), "127.0.1.45");
    }

    #[test]
    fn players_with_more_connections_are_fewer_to_an_address() {
        let from = Sources::new(Ipv4Addr::LOCALHOST.into(), 7);
        assert_eq!(from.of(2_856), None);
        assert_eq!(from.of(2_857).unwrap().to_string(), "127.0.0.2");
        assert_eq!(Sources::new(Ipv4Addr::LOCALHOST.into(), 0).of(19_999), None);
    }

    #[test]
    fn elsewhere_there_is_no_choice() {
        for target in ["::1", "10.0.0.1"] {
            assert_eq!(Sources::new(target.parse().unwrap(), 1).of(20_000), None);
        }
    }

    #[test]
    fn a_players_sockets_count_for_as_long_as_their_visits_go_on() {
        let arrival = |visit, act| Arrival { at: Duration::ZERO, player: 0, visit, act, nth: 0 };
        // The second act talks; the third visit of those at once begins when the first is over.
        let talks = [false, true];
        let apart = [arrival(0, 1), arrival(0, 1), arrival(1, 0), arrival(1, 1)];
        let at_once = [arrival(0, 1), arrival(1, 1), arrival(0, 0), arrival(2, 1), arrival(1, 0), arrival(2, 0)];
        let other = |act| Arrival { player: 1, ..arrival(1, act) };
        let other_player = [arrival(0, 1), other(1), arrival(0, 0), other(0)];
        assert_eq!([&apart[..], &at_once, &other_player].map(|plan| most_sockets(plan, &talks)), [1, 2, 1]);
        assert_eq!(most_sockets(&at_once, &[false; 2]), 0);
    }
}
