//! The same scenario for a machine that only checks whether everything works.

use std::time::Duration;

use super::{Arrive, Scenario};

impl Scenario {
    /// Half the groups, who arrive within half the time and repeat their acts half as often: a quarter of the
    /// acts at the same rate of arrivals. Nothing falls below one, and thinking takes as long as before, so that
    /// what the system does by its own clock still meets the load. The findings that are expected of the whole crowd
    /// are not expected of a quarter of it.
    #[must_use]
    pub fn quick(mut self) -> Self {
        if let Some(expect) = &mut self.expect {
            expect.findings.clear();
        }
        self.crowd.groups = self.crowd.groups.div_ceil(2);
        for journey in &mut self.journeys {
            journey.arrive = halved(&journey.arrive);
            for step in &mut journey.steps {
                step.repeat = step.repeat.div_ceil(2);
            }
        }
        self
    }
}

fn halved(arrive: &Arrive) -> Arrive {
    let half = |over: Duration| over / 2;
    match *arrive {
        Arrive::Burst { over } => Arrive::Burst { over: half(over) },
        Arrive::Constant { rate, over } => Arrive::Constant { rate, over: half(over) },
        Arrive::Poisson { rate, over } => Arrive::Poisson { rate, over: half(over) },
        Arrive::Ramp { from, to, over } => Arrive::Ramp { from, to, over: half(over) },
    }
}
