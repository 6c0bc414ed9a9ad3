//! What follows what: for each arrival the same player's next one, worked out once. Pure.
//!
//! With it a player's backlog needs no queue: the plan itself is the queue.

use crate::plan::Arrival;

/// The order of every player's acts. Arrivals are named by their index in the plan.
#[derive(Debug)]
pub(super) struct Course {
    following: Vec<u32>,
    ends_visit: Vec<bool>,
}

/// Stands for no arrival; a plan has fewer.
const NONE: u32 = u32::MAX;

impl Course {
    /// The course of `arrivals`, which are in time order.
    pub(super) fn of(arrivals: &[Arrival]) -> Self {
        let count = |of: fn(&Arrival) -> u32| arrivals.iter().map(of).max().map_or(0, |most| most as usize + 1);
        let mut next_of_player = vec![NONE; count(|arrival| arrival.player)];
        let mut visit_seen = vec![false; count(|arrival| arrival.visit)];
        let mut course = Self { following: vec![NONE; arrivals.len()], ends_visit: vec![false; arrivals.len()] };
        for (index, arrival) in arrivals.iter().enumerate().rev() {
            let next = &mut next_of_player[arrival.player as usize];
            course.following[index] = std::mem::replace(next, index as u32);
            course.ends_visit[index] = !std::mem::replace(&mut visit_seen[arrival.visit as usize], true);
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
    }

    #[test]
    fn an_empty_plan_has_an_empty_course() {
        assert!(Course::of(&[]).following.is_empty());
    }
}
