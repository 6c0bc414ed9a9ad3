//! `floodrig schema`: the JSON schema of scenario files, for editors.

use std::io::{self, Write as _};

use super::Exit;

/// Prints it.
pub(super) fn run() -> Exit {
    Exit::printed(write!(io::stdout(), "{}", crate::scenario::schema()))
}
