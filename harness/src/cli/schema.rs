//! `floodrig schema`: the JSON schema of scenario files, for editors.

use super::Exit;

#[expect(clippy::print_stdout, reason = "the command line prints")]
pub(super) fn run() -> Exit {
    print!("{}", crate::scenario::schema());
    Exit::Pass
}
