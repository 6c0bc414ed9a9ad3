//! `floodrig schema`: the JSON schema of scenario files, for editors.

use std::io::{self, Write as _};

use super::Exit;

pub(super) fn run() -> Exit {
    Exit::printed(io::stdout().write_all(crate::scenario::schema().as_bytes()))
}
