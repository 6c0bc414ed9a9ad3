//! Why a command has nothing to show: a status, and words that name the next step.

use std::fmt::Display;

use anstream::adapter::strip_str;

use super::{Exit, complaints, say};
use crate::scenario::{Complaint, Scenario, Source, span_of};

/// A command that came to nothing.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    exit: Exit,
    text: String,
}

impl Refused {
    /// Usage is wrong: what, and what to do.
    pub(super) fn usage(says: impl Display, help: &str) -> Self {
        Self::wrong(format!("error: {says}\n  help: {help}"))
    }

    /// Usage is wrong, and what says so says what to do as well.
    pub(super) fn said(cause: impl Display) -> Self {
        Self::wrong(format!("error: {cause}"))
    }

    /// A file is wrong: its complaints, drawn where they are.
    pub(super) fn drawn(source: &Source, wrong: &[Complaint]) -> Self {
        Self::wrong(complaints::render(source, wrong))
    }

    /// Several are wrong: all of it at once.
    pub(super) fn all(refused: impl IntoIterator<Item = Self>) -> Self {
        let texts: Vec<String> = refused.into_iter().map(|refused| refused.text).collect();
        Self::wrong(texts.join("\n"))
    }

    /// The scenario asks, at this key, for what cannot be had.
    pub(super) fn at(scenario: &Scenario, key: &[&str], says: String) -> Self {
        let span = span_of(&scenario.source.text, scenario.variant.as_deref(), key);
        Self::drawn(&scenario.source, &[Complaint { span, says, help: None }])
    }

    /// The rig itself failed.
    pub(super) fn failed(cause: impl Display) -> Self {
        Self { exit: Exit::Failed, text: format!("error: {cause}") }
    }

    /// The rig itself failed to do `what`.
    pub(super) fn could_not<E: Display>(what: &str) -> impl Fn(E) -> Self {
        move |cause| Self::failed(format_args!("could not {what}: {cause}"))
    }

    /// The system never became ready.
    pub(super) fn not_ready(cause: impl Display) -> Self {
        Self { exit: Exit::NotReady, text: format!("not ready: {cause}") }
    }

    /// Ctrl-C.
    pub(super) fn interrupted(text: impl Display) -> Self {
        Self { exit: Exit::Interrupted, text: text.to_string() }
    }

    fn wrong(text: String) -> Self {
        Self { exit: Exit::Usage, text }
    }

    /// The status it ends with.
    pub(super) fn exit(&self) -> Exit {
        self.exit
    }

    /// Without colours, which are for the complaint as it is drawn, not for a table that quotes it.
    pub(super) fn first_line(&self) -> String {
        strip_str(self.text.lines().next().unwrap_or_default()).to_string()
    }

    /// Says it on standard error.
    pub(super) fn tell(&self) -> Exit {
        say::talk(&self.text);
        self.exit
    }

    /// What there is to say.
    #[cfg(test)]
    pub(super) fn into_text(self) -> String {
        self.text
    }
}
