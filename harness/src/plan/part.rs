//! A plan's part: the acts of one shard's players. Pure.
//!
//! Players, visits and their indices stay those of the whole plan, and so does the digest: a marker, a seed or a digest
//! is the same whoever drives it, and the parts of all shards together are the plan.

use floodrig_reports::recording::Shard;

use super::Plan;

impl Plan {
    /// What this shard drives of it. A player's acts stay together.
    #[must_use]
    pub fn part(&self, shard: Shard) -> Self {
        let arrivals = self.arrivals.iter().filter(|arrival| shard.holds(arrival.player)).copied().collect();
        Self { arrivals, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::plan::plan;
    use crate::scenario::parse;

    #[test]
    fn all_shards_together_are_the_plan_and_each_has_about_its_share() {
        let text = "name = 's'\nsystem.command = ['run']\ncrowd = { groups = 40, players_per_group = 5 }\n\
                    [[journey]]\nname = 'j'\narrive.poisson = { rate = 50, over = '20s' }\n\
                    steps = [{ act = 'a', get = '/', repeat = 3, think = '1s..9s' }]\n";
        let plan = plan(&parse(Path::new("s.toml"), text, None).unwrap());
        let parts: Vec<Plan> = (1..=8).map(|number| plan.part(Shard { number, of: 8 })).collect();
        let mut all: Vec<_> = parts.iter().flat_map(|part| part.arrivals.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, plan.arrivals);
        let share = plan.arrivals.len() / 8;
        for part in &parts {
            assert!(part.arrivals.len().abs_diff(share) < share / 4, "{} of {share}", part.arrivals.len());
            assert_eq!((part.digest, part.visits.len()), (plan.digest, plan.visits.len()));
        }
    }
}
