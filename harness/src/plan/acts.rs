//! The acts of a plan: every step once, and once more for each kind of faulty initData that some of its visits carry, so
//! that what is expected of those is counted apart. Pure.

use super::ActSpec;
use crate::scenario::{Fault, Journey};

/// The acts by index, and where those of a journey begin.
pub(super) struct Acts {
    pub(super) specs: Vec<ActSpec>,
    /// Sought in order; there are few.
    firsts: Vec<(u16, Option<Fault>, u16)>,
}

impl Acts {
    /// Those of visits with good initData come first, whatever else there is.
    pub(super) fn of(journeys: &[Journey]) -> Self {
        let mut acts = Self { specs: Vec::new(), firsts: Vec::new() };
        for (number, journey) in journeys.iter().enumerate() {
            acts.add(number, journey, None);
        }
        for (number, journey) in journeys.iter().enumerate() {
            let shares = |fault: &Fault| journey.faults.as_ref().is_some_and(|faults| faults.share(*fault) > 0.0);
            Fault::ALL.into_iter().filter(shares).for_each(|fault| acts.add(number, journey, Some(fault)));
        }
        acts
    }

    fn add(&mut self, number: usize, journey: &Journey, fault: Option<Fault>) {
        self.firsts.push((number as u16, fault, self.specs.len() as u16));
        let steps = journey.steps.iter().enumerate();
        self.specs.extend(steps.map(|(step, its)| {
            let name = fault.map_or_else(|| its.act.clone(), |fault| format!("{}.{}", its.act, fault.name()));
            ActSpec { name, journey: number, step, fault }
        }));
    }

    /// The act of the first step of a visit to this journey; those of the other steps follow it.
    pub(super) fn first(&self, journey: u16, fault: Option<Fault>) -> u16 {
        let found = self.firsts.iter().find(|(of, with, _)| (*of, *with) == (journey, fault));
        found.map_or_else(|| unreachable!("only faults with a share are drawn"), |(_, _, first)| *first)
    }
}
