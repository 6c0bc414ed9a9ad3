//! The same scenario for a machine that only checks whether everything works.

use super::{Arrivals, Arrive, Scenario};

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
        self.crowd.arrive = self.crowd.arrive.as_ref().map(Arrive::halved);
        for journey in &mut self.journeys {
            if let Arrivals::Own(arrive) = &mut journey.arrive {
                *arrive = arrive.halved();
            }
            for step in &mut journey.steps {
                step.repeat = step.repeat.div_ceil(2);
            }
        }
        self
    }
}
