//! `floodrig`.

use std::process::ExitCode;

use floodrig::keeper;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("__keeper") => keeper::main(),
        Some("__launch") => keeper::launch_main(),
        Some(_) | None => ExitCode::from(2),
    }
}
