//! A bot that listens nowhere: it polls, greets whoever starts it, takes taps and repeats what it hears.
//!
//! It knows nothing of the rig: it is told a token and where Telegram is.

mod bot;
mod telegram;

use std::process::ExitCode;

use crate::telegram::{Telegram, Trouble};

fn main() -> ExitCode {
    match run() {
        Ok(never) => match never {},
        Err(trouble) => {
            complain(&trouble);
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<std::convert::Infallible, Trouble> {
    let root = from_environment("TELEGRAM_API_ROOT")?;
    let telegram = Telegram::of(&root, &from_environment("BOT_TOKEN")?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(bot::serve(telegram))
}

#[expect(clippy::disallowed_methods, reason = "the edge where settings come in")]
fn from_environment(name: &'static str) -> Result<String, Trouble> {
    std::env::var(name).map_err(|_| Trouble::Unset(name))
}

#[expect(clippy::print_stderr, reason = "a program's last words go to stderr")]
fn complain(trouble: &Trouble) {
    eprintln!("echo: error: {trouble}");
}
