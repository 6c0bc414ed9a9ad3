//! A Mini App with a live scoreboard in every group: the embedded system under test.
//!
//! It knows nothing of the rig: it is told a port, a token and where Telegram is, and which flaws of the published story
//! it has. `settings` lists them all.

mod avatars;
mod board;
mod calibrate;
mod clock;
mod complain;
mod debounce;
mod init_data;
mod league;
mod listen;
mod orders;
mod pacing;
mod pool;
mod poster;
mod puzzle;
mod queue;
mod refresh;
mod render;
mod rollover;
mod routes;
mod serve;
mod settings;
mod sigterm;
mod stop;
mod store;
mod telegram;

use std::process::ExitCode;

use crate::complain::complain;
use crate::settings::Settings;

fn main() -> ExitCode {
    let settings = match Settings::read(from_environment) {
        Ok(settings) => settings,
        Err(wrong) => {
            complain(&wrong);
            return ExitCode::from(2);
        }
    };
    match run(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            complain(&fault);
            ExitCode::FAILURE
        }
    }
}

/// One thread runs everything that waits, as in the story: what computes on it stalls everyone.
fn run(settings: Settings) -> Result<(), serve::Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve::serve(settings));
    // Threads still drawing have nobody left to draw for.
    runtime.shutdown_background();
    outcome
}

#[expect(clippy::disallowed_methods, reason = "the edge where settings come in")]
fn from_environment(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}
