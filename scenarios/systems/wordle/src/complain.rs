//! Error lines. The only file that prints while the app serves.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Writes one line to standard error. When that is gone there is nobody left to tell.
pub(crate) fn complain(what: &dyn Display) {
    drop(writeln!(stderr(), "error: {what}"));
}
