//! A run that was made, or refused: what it came to, and whether that was expected.

use floodrig_reports::{Expectation, faults_of_the_rig, hold};

use super::Exit;
use super::refused::Refused;
use super::report::Rendered;
use crate::scenario::{Expect, Scenario};

/// What a run is called for people: `rollover, before`.
pub(super) fn title(scenario: &Scenario) -> String {
    let Scenario { name, variant, .. } = scenario;
    variant.as_ref().map_or_else(|| name.clone(), |variant| format!("{name}, {variant}"))
}

/// One run.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) title: String,
    pub(super) result: Result<Rendered, Refused>,
    expectation: Expectation,
}

impl Made {
    pub(super) fn new(scenario: &Scenario, result: Result<Rendered, Refused>) -> Self {
        let expect = scenario.expect.clone();
        let expectation =
            expect.map(|Expect { verdict, findings }| Expectation { verdict, findings }).unwrap_or_default();
        Self { title: title(scenario), result, expectation }
    }

    /// The run's own status.
    pub(super) fn own_exit(&self) -> Exit {
        match &self.result {
            Ok(rendered) => rendered.verdict.kind().into(),
            Err(refused) => refused.exit(),
        }
    }

    /// Whether the run is invalid for what another machine, or this one at another time, would have done better.
    pub(super) fn is_the_rigs_fault(&self) -> bool {
        let fails = |rendered: &Rendered| !faults_of_the_rig(&rendered.summary).is_empty();
        self.own_exit() == Exit::Invalid && self.result.as_ref().is_ok_and(fails)
    }

    /// The run held against what is expected of it: a status, and in words.
    pub(super) fn held(&self) -> (Exit, String) {
        match &self.result {
            Ok(Rendered { verdict, findings, .. }) => {
                let held = hold(&self.expectation, verdict, findings);
                (held.kind.map_or(Exit::Pass, Exit::from), held.words)
            }
            Err(refused) => (refused.exit(), refused.first_line()),
        }
    }
}
