//! The walk: how a visit goes through its journey's steps, one planned instant after the other. Pure.

use std::time::Duration;

use super::acts::Acts;
use super::chance::{Chance, Source};
use super::think::think;
use super::{Arrival, Visit};
use crate::scenario::{Journey, Step};

/// Every planned act of every visit, sorted.
pub(super) fn arrivals(seed: u64, journeys: &[Journey], acts: &Acts, visits: &[Visit]) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for (number, journey) in (0..).zip(journeys) {
        let source = Source::new(seed, &format!("thinking in journey {number}"));
        for of_player in by_player(visits, number).chunk_by(|one, next| one.player == next.player) {
            let mut chance = source.stream(of_player[0].player);
            for walker in of_player {
                let fault = visits[walker.visit as usize].fault;
                let path = Path { first_act: acts.first(number, fault), steps: &journey.steps };
                path.walk(*walker, &mut chance, &mut arrivals);
            }
        }
    }
    arrivals.sort_unstable();
    arrivals
}

/// A visit that is about to go through its journey.
#[derive(Clone, Copy)]
pub(super) struct Walker {
    pub(super) player: u32,
    pub(super) visit: u32,
    pub(super) at: Duration,
}

/// The visits of one journey, those of a player together and in the order of their instants.
pub(super) fn by_player(visits: &[Visit], journey: u16) -> Vec<Walker> {
    let numbered = (0..).zip(visits).filter(|(_, visit)| visit.journey == journey);
    let mut walkers: Vec<Walker> =
        numbered.map(|(number, visit)| Walker { player: visit.player, visit: number, at: visit.at }).collect();
    walkers.sort_by_key(|walker| walker.player);
    walkers
}

/// The steps of a journey.
struct Path<'a> {
    /// The act of the first step; the others follow it.
    first_act: u16,
    steps: &'a [Step],
}

impl Path<'_> {
    fn walk(&self, walker: Walker, chance: &mut Chance, arrivals: &mut Vec<Arrival>) {
        let Walker { player, visit, mut at } = walker;
        for (act, step) in (self.first_act..).zip(self.steps) {
            for nth in 0..step.repeat {
                at += think(&step.think, chance);
                arrivals.push(Arrival { at, player, visit, act, nth });
            }
        }
    }
}
