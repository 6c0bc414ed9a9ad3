//! What follows what: for each arrival the same player's next one, worked out once. Pure.
//!
//! With it a player's backlog needs no queue: the plan itself is the queue.

use crate::plan::Arrival;

/// The order of every player's acts. Arrivals are named by their index in the plan.
#[derive(Debug)]
pub(super) struct Course {
    following: Vec<u32>,
    ends_visit: Vec<bool>,
    last_of_player: Vec<u32>,
    last_of_visit: Vec<u32>,
}

/// Stands for no arrival; a plan has fewer.
const NONE: u32 = u32::MAX;

impl Course {
    /// The course of `arrivals`, which are in time order.
    pub(super) fn of(arrivals: &[Arrival]) -> Self {
        let count = |of: fn(&Arrival) -> u32| arrivals.iter().map(of).max().map_or(0, |most| most as usize + 1);
        let (players, visits) = (count(|arrival| arrival.player), count(|arrival| arrival.visit));
        let mut next_of_player = vec![NONE; players];
        let mut course = Self {
            following: vec![NONE; arrivals.len()],
            ends_visit: vec![false; arrivals.len()],
            last_of_player: vec![NONE; players],
            last_of_visit: vec![NONE; visits],
        };
        for (index, arrival) in arrivals.iter().enumerate().rev() {
            let next = &mut next_of_player[arrival.player as usize];
            course.following[index] = std::mem::replace(next, index as u32);
            course.ends_visit[index] = is_first(&mut course.last_of_visit[arrival.visit as usize], index as u32);
            is_first(&mut course.last_of_player[arrival.player as usize], index as u32);
        }
        course
    }

    /// The same player's next arrival.
    pub(super) fn following(&self, arrival: u32) -> Option<u32> {
        Some(self.following[arrival as usize]).filter(|next| *next != NONE)
    }

    /// Whether it is the last of its visit.
    pub(super) fn ends_visit(&self, arrival: u32) -> bool {
        self.ends_visit[arrival as usize]
    }

    /// Whether the player has any arrival at `cursor` or after it.
    pub(super) fn comes_again(&self, player: u32, cursor: u32) -> bool {
        self.last_of_player.get(player as usize).is_some_and(|last| *last != NONE && *last >= cursor)
    }

    /// Whether the visit has any arrival at `cursor` or after it.
    pub(super) fn goes_on(&self, visit: u32, cursor: u32) -> bool {
        self.last_of_visit.get(visit as usize).is_some_and(|last| *last != NONE && *last >= cursor)
    }
}

/// Keeps what is seen first, and says whether it was this.
fn is_first(kept: &mut u32, index: u32) -> bool {
    let first = *kept == NONE;
    if first {
        *kept = index;
    }
    first
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_player_has_a_course_of_its_own_across_visits() {
        let arrival = |player, visit| Arrival { at: Duration::ZERO, player, visit, act: 0, nth: 0 };
        let course = Course::of(&[arrival(0, 0), arrival(1, 1), arrival(0, 0), arrival(0, 2), arrival(1, 1)]);
        assert_eq!([0, 1, 2, 3, 4].map(|index| course.following(index)), [Some(2), Some(4), Some(3), None, None]);
        assert_eq!([0, 1, 2, 3, 4].map(|index| course.ends_visit(index)), [false, false, true, true, true]);
        assert_eq!([3, 4].map(|cursor| course.comes_again(0, cursor)), [true, false]);
        assert_eq!([2, 3].map(|cursor| course.goes_on(0, cursor)), [true, false]);
        assert!(!course.comes_again(9, 0) && !course.goes_on(9, 0));
    }

    #[test]
    fn an_empty_plan_has_an_empty_course() {
        assert!(Course::of(&[]).following.is_empty());
    }
}
