//! `floodrig`: see the crate's own documentation.

use std::process::ExitCode;

fn main() -> ExitCode {
    floodrig::cli::main(std::env::args_os())
}
