//! A run that was made, or refused: what it came to, and whether that was expected.

use std::io::Write as _;

use anstream::adapter::strip_str;
use floodrig_reports::{Expectation, hold};

use super::Exit;
use super::complaints;
use super::report::Rendered;
use crate::scenario::{Complaint, Expect, Scenario, span_of};

/// One run.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) scenario: String,
    pub(super) variant: Option<String>,
    pub(super) result: Result<Rendered, Refused>,
    expectation: Expectation,
}

/// Why there is nothing to show.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    exit: Exit,
    text: String,
}

impl Made {
    pub(super) fn new(scenario: &Scenario, result: Result<Rendered, Refused>) -> Self {
        let expect = scenario.expect.clone();
        let expectation =
            expect.map(|Expect { verdict, findings }| Expectation { verdict, findings }).unwrap_or_default();
        Self { scenario: scenario.name.clone(), variant: scenario.variant.clone(), result, expectation }
    }

    /// `rollover, before`
    pub(super) fn title(&self) -> String {
        self.variant.as_ref().map_or_else(|| self.scenario.clone(), |variant| format!("{}, {variant}", self.scenario))
    }

    /// The run's own status.
    pub(super) fn own_exit(&self) -> Exit {
        match &self.result {
            Ok(rendered) => rendered.verdict.kind().into(),
            Err(refused) => refused.exit,
        }
    }

    /// The run held against what is expected of it: a status, and in words.
    pub(super) fn held(&self) -> (Exit, String) {
        match &self.result {
            Ok(Rendered { verdict, findings, .. }) => {
                let held = hold(&self.expectation, verdict, findings);
                (held.kind.map_or(Exit::Pass, Exit::from), held.words)
            }
            Err(refused) => (refused.exit, refused.first_line()),
        }
    }
}

impl Refused {
    /// Usage or a scenario is wrong.
    pub(super) fn usage(text: String) -> Self {
        Self { exit: Exit::Usage, text }
    }

    /// The scenario asks, at this key, for what cannot be had.
    pub(super) fn at(scenario: &Scenario, key: &[&str], says: String) -> Self {
        let span = span_of(&scenario.source.text, scenario.variant.as_deref(), key);
        let complaint = Complaint { span, says, help: None };
        Self::usage(complaints::render(&scenario.source, &[complaint]))
    }

    /// The rig itself failed.
    pub(super) fn failed(text: &str) -> Self {
        Self { exit: Exit::Failed, text: format!("error: {text}") }
    }

    /// The system never became ready.
    pub(super) fn not_ready(text: &str) -> Self {
        Self { exit: Exit::NotReady, text: format!("not ready: {text}") }
    }

    /// Ctrl-C.
    pub(super) fn interrupted(text: &str) -> Self {
        Self { exit: Exit::Interrupted, text: text.to_owned() }
    }

    /// What there is to say.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Without colours, which are for the complaint as it is drawn, not for a table that quotes it.
    fn first_line(&self) -> String {
        strip_str(self.text.lines().next().unwrap_or_default()).to_string()
    }

    /// Says it on standard error.
    pub(super) fn tell(&self) -> Exit {
        // A closed standard error takes the text with it; the status still says it.
        drop(writeln!(anstream::stderr(), "{}", self.text));
        self.exit
    }
}
