//! The walk: how a visit goes through its journey's steps, one planned instant after the other. Pure.

use std::time::Duration;

use super::chance::{Chance, Source};
use super::{Arrival, Visit};
use crate::scenario::{Journey, Step};

/// Every planned act of every visit, sorted by (at, player, visit, act, nth).
pub(super) fn arrivals(seed: u64, journeys: &[Journey], visits: &[Visit]) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    let mut first_act = 0;
    for (number, journey) in (0..).zip(journeys) {
        let source = Source::new(seed, &format!("thinking in journey {number}"));
        let path = Path { first_act, steps: &journey.steps };
        for of_player in by_player(visits, number).chunk_by(|one, next| one.player == next.player) {
            let mut chance = source.stream(of_player[0].player);
            for walker in of_player {
                path.walk(*walker, &mut chance, &mut arrivals);
            }
        }
        first_act += journey.steps.len() as u16;
    }
    arrivals.sort_unstable_by_key(|act| (act.at, act.player, act.visit, act.act, act.nth));
    arrivals
}

/// A visit that is about to go through its journey.
#[derive(Clone, Copy)]
struct Walker {
    player: u32,
    visit: u32,
    at: Duration,
}

/// The visits of one journey, those of a player together and in the order of their instants.
fn by_player(visits: &[Visit], journey: u16) -> Vec<Walker> {
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
                at += chance.within(&step.think);
                arrivals.push(Arrival { at, player, visit, act, nth });
            }
        }
    }
}
