//! One line of the table.

use std::fmt;

/// A figure and what it may be at most, if it is held to anything.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) figure: f64,
    pub(crate) unit: &'static str,
    pub(crate) most: Option<f64>,
}

impl Row {
    pub(crate) fn head() -> String {
        format!("{:<66} {:>9} {:<9} {:>6}", "what", "figure", "unit", "most")
    }

    pub(crate) fn holds(&self) -> bool {
        self.most.is_none_or(|most| self.figure <= most)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, figure, unit, most } = self;
        write!(to, "{what:<66} {figure:>9.2} {unit:<9}")?;
        match most {
            Some(most) => write!(to, " {most:>6} {}", if self.holds() { "held" } else { "MISSED" }),
            None => Ok(()),
        }
    }
}
