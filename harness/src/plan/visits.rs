//! The visits: who opens the app when, for which journey, and with what initData. Pure.

use super::Visit;
use super::chance::Source;
use super::openings::openings;
use super::walk::by_player;
use crate::scenario::{Arrivals, Arrive, Fault, Faults, Journey, Scenario};

/// Every visit, in the order of their instants.
pub(super) fn visits(scenario: &Scenario, players: u32) -> Vec<Visit> {
    let (seed, journeys) = (scenario.seed, scenario.journeys.as_slice());
    let mut visits = Vec::new();
    for (journey, its) in (0..).zip(journeys) {
        let Arrivals::Own(arrive) = &its.arrive else { continue };
        let opened = openings(arrive, players, &Source::new(seed, &format!("openings of journey {journey}")));
        visits.extend(opened.into_iter().map(|opening| visit(opening, journey)));
    }
    if let Some(arrive) = &scenario.crowd.arrive {
        visits.extend(shared(seed, journeys, arrive, players));
    }
    visits.sort_unstable_by_key(|visit| (visit.at, visit.player, visit.journey));
    for (number, journey) in (0..).zip(journeys) {
        if let Some(faults) = &journey.faults {
            go_wrong(&mut visits, number, faults, &Source::new(seed, &format!("faults of journey {number}")));
        }
    }
    visits
}

/// A visit with good initData.
fn visit(opening: super::openings::Opening, journey: u16) -> Visit {
    Visit { at: opening.at, player: opening.player, journey, fault: None }
}

/// The crowd's arrivals. Which of the journeys that share them a player comes for is drawn from the player's own stream,
/// by the journeys' weights.
fn shared(seed: u64, journeys: &[Journey], arrive: &Arrive, players: u32) -> Vec<Visit> {
    let weights: Vec<(u16, u64)> = (0..).zip(journeys).filter_map(|(number, of)| Some((number, weight(of)?))).collect();
    let all: u64 = weights.iter().map(|(_, weight)| weight).sum();
    if all == 0 {
        return Vec::new();
    }
    let source = Source::new(seed, "journeys of the crowd");
    let mut opened = openings(arrive, players, &Source::new(seed, "openings of the crowd"));
    opened.sort_by_key(|opening| (opening.player, opening.at));
    let of_players = opened.chunk_by(|one, next| one.player == next.player);
    let drawn = of_players.flat_map(|of_player| {
        let mut chance = source.stream(of_player[0].player);
        of_player.iter().map(|opening| visit(*opening, at_weight(&weights, chance.below(all)))).collect::<Vec<_>>()
    });
    drawn.collect()
}

fn weight(journey: &Journey) -> Option<u64> {
    match journey.arrive {
        Arrivals::Own(_) => None,
        Arrivals::Shared { weight } => Some(weight.into()),
    }
}

/// The journey that has this place when all lie side by side, each as wide as its weight.
fn at_weight(weights: &[(u16, u64)], mut place: u64) -> u16 {
    for (journey, weight) in weights {
        if place < *weight {
            return *journey;
        }
        place -= weight;
    }
    unreachable!("a place is drawn below the sum of all weights")
}

/// Draws which visits of a journey carry faulty initData, each player's from their own stream. Until a player has made a
/// good visit there is nothing to reuse, and one that would stays good.
fn go_wrong(visits: &mut [Visit], journey: u16, faults: &Faults, source: &Source) {
    for of_player in by_player(visits, journey).chunk_by(|one, next| one.player == next.player) {
        let mut chance = source.stream(of_player[0].player);
        let mut good_before = false;
        for walker in of_player {
            let drawn = fault(faults, chance.unit()).filter(|fault| good_before || *fault != Fault::Reused);
            visits[walker.visit as usize].fault = drawn;
            good_before |= drawn.is_none();
        }
    }
}

/// The fault that has this place between 0 and 1 when all lie side by side, each as wide as its share.
fn fault(faults: &Faults, mut place: f64) -> Option<Fault> {
    for fault in Fault::ALL {
        let share = faults.share(fault);
        if place <= share {
            return Some(fault);
        }
        place -= share;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::by_hand::{MINUTE, SECOND, journey, scenario, step};
    use super::*;

    /// Two journeys that share a Poisson process of 100 a second by 3 and 1, and one of its own.
    fn weighted() -> Scenario {
        let one = || vec![step("act", 1, Duration::ZERO..=Duration::ZERO)];
        let mut journeys: Vec<Journey> =
            (0..3).map(|_| journey(Arrive::Constant { rate: 1.0, over: MINUTE }, one())).collect();
        journeys[0].arrive = Arrivals::Shared { weight: 3 };
        journeys[2].arrive = Arrivals::Shared { weight: 1 };
        let mut scenario = scenario(journeys);
        scenario.crowd.arrive = Some(Arrive::Poisson { rate: 100.0, over: MINUTE });
        scenario
    }

    fn of_journey(visits: &[Visit], journey: u16) -> usize {
        visits.iter().filter(|visit| visit.journey == journey).count()
    }

    #[test]
    fn journeys_share_the_crowds_arrivals_by_their_weights() {
        let visits = visits(&weighted(), 30);
        let shared = of_journey(&visits, 0) + of_journey(&visits, 2);
        // Five standard deviations of 6,000 throws that come out one way three times in four.
        assert!((of_journey(&visits, 0) * 4).abs_diff(shared * 3) < 4 * 168, "{} of {shared}", of_journey(&visits, 0));
        assert_eq!(of_journey(&visits, 1), 60);
    }

    #[test]
    fn another_weight_leaves_the_arrivals_of_the_crowd_as_they_are() {
        let mut even = weighted();
        even.journeys[0].arrive = Arrivals::Shared { weight: 1 };
        let opened = |scenario: &Scenario| {
            let of_crowd = visits(scenario, 30).into_iter().filter(|visit| visit.journey != 1);
            of_crowd.map(|visit| (visit.at, visit.player)).collect::<Vec<_>>()
        };
        assert_eq!(opened(&weighted()), opened(&even));
    }

    fn faulty(shares: [f64; 3]) -> Vec<Visit> {
        let mut scenario = weighted();
        let refused = vec![Fault::Stale, Fault::Tampered];
        let faults = Faults { shares, stale_by: SECOND, refused, refused_with: vec![401] };
        scenario.journeys[0].faults = Some(faults);
        visits(&scenario, 30)
    }

    fn count(visits: &[Visit], fault: Option<Fault>) -> usize {
        visits.iter().filter(|visit| visit.journey == 0 && visit.fault == fault).count()
    }

    #[test]
    fn each_fault_has_its_share_of_the_visits_and_other_journeys_have_none() {
        let visits = faulty([0.1, 0.2, 0.3]);
        for (fault, share) in Fault::ALL.into_iter().zip([0.1, 0.2, 0.3]) {
            let expected = share * of_journey(&visits, 0) as f64;
            assert!((count(&visits, Some(fault)) as f64 - expected).abs() < 5.0 * 33.0, "{fault:?}");
        }
        assert!(visits.iter().all(|visit| visit.journey == 0 || visit.fault.is_none()));
    }

    #[test]
    fn nobody_goes_wrong_without_a_share_and_everyone_but_the_first_can_reuse() {
        let visits = faulty([0.0; 3]);
        assert_eq!(count(&visits, None), of_journey(&visits, 0));
        assert_eq!(count(&faulty([0.0, 1.0, 0.0]), Some(Fault::Tampered)), of_journey(&visits, 0));
        assert_eq!(count(&faulty([0.0, 0.0, 1.0]), None), 30);
    }
}
