//! What a visit carries from one act to the next: values it captured, how acts ended that a later one asks of, and
//! whether the player has left. Empty, and without an allocation, where a scenario asks for none of it.

use floodrig_reports::recording::Outcome;

use super::request::Captured;
use crate::scenario::{Ended, Step};

/// What a visit carries from one act to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Values by name.
    pub(super) captured: Captured,
    /// By step of the journey, the last time that it was done.
    endings: Vec<(usize, Ending)>,
    left: bool,
}

/// How an act ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ending {
    /// Whether it succeeded.
    pub(super) ok: bool,
    /// The status it was answered with.
    pub(super) status: Option<u16>,
}

impl Memory {
    /// Whether there is nothing to carry.
    pub(super) fn is_empty(&self) -> bool {
        self.captured.is_empty() && self.endings.is_empty() && !self.left
    }

    /// Keeps how a step ended.
    pub(super) fn note(&mut self, step: usize, ending: Ending) {
        match self.endings.iter_mut().find(|(of, _)| *of == step) {
            Some((_, last)) => *last = ending,
            None => self.endings.push((step, ending)),
        }
    }

    /// The player leaves.
    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    /// Why a step is not done: its player has left, or its condition does not hold. What was never done ended in no way.
    pub(super) fn forbids(&self, step: &Step) -> Option<Outcome> {
        if self.left {
            return Some(Outcome::Skipped { left: true });
        }
        let when = step.when.as_ref()?;
        let ending = self.endings.iter().find(|(of, _)| *of == when.step).map(|(_, ending)| ending);
        let holds = ending.is_some_and(|ending| match &when.ended {
            Ended::Ok(ok) => ending.ok == *ok,
            Ended::Status(statuses) => ending.status.is_some_and(|status| statuses.contains(&status)),
        });
        (!holds).then_some(Outcome::Skipped { left: false })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::by_hand::step;
    use crate::scenario::When;

    fn when(ended: Ended) -> Step {
        Step { when: Some(When { step: 0, ended }), ..step("act", 1, Duration::ZERO..=Duration::ZERO) }
    }

    fn is_done(step: &Step, endings: &[Ending]) -> bool {
        let mut memory = Memory::default();
        for ending in endings {
            memory.note(0, *ending);
        }
        memory.forbids(step).is_none()
    }

    #[test]
    fn a_condition_holds_by_how_the_earlier_act_ended_the_last_time() {
        let found = Ending { ok: true, status: Some(200) };
        let missing = Ending { ok: false, status: Some(404) };
        let refused = Ending { ok: false, status: None };
        let not_found = when(Ended::Status(vec![404, 410]));
        assert!(is_done(&not_found, &[missing]) && is_done(&not_found, &[found, missing]));
        assert!(!is_done(&not_found, &[missing, found]) && !is_done(&not_found, &[refused]));
        assert!(is_done(&when(Ended::Ok(false)), &[refused]) && !is_done(&when(Ended::Ok(false)), &[found]));
        assert!(is_done(&when(Ended::Ok(true)), &[found]));
    }

    #[test]
    fn what_was_never_done_ended_in_no_way() {
        assert_eq!(Memory::default().forbids(&when(Ended::Ok(false))), Some(Outcome::Skipped { left: false }));
        assert_eq!(Memory::default().forbids(&step("act", 1, Duration::ZERO..=Duration::ZERO)), None);
    }

    #[test]
    fn who_has_left_does_nothing_more() {
        let mut memory = Memory::default();
        assert!(memory.is_empty());
        memory.leave();
        let any = step("act", 1, Duration::ZERO..=Duration::ZERO);
        assert_eq!((memory.forbids(&any), memory.is_empty()), (Some(Outcome::Skipped { left: true }), false));
    }
}
