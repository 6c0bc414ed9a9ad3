//! The command line: one file per subcommand. Only here is anything printed, and only `main` exits.

mod bench;
mod calibrate;
mod comparison;
mod complaints;
mod draw;
mod errands;
mod exit;
mod folder;
mod made;
mod merge;
mod place;
mod plan;
mod progress;
mod refused;
mod report;
mod run;
mod say;
mod schema;
mod sign;
mod stub;
mod table;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};

pub use exit::Exit;

use crate::keeper;
use crate::scenario::nearly_named;

/// A load-testing rig for Telegram bots and Mini Apps: it starts your server, stands in for Telegram with a stub
/// that enforces the real ceilings, replays a scenario and answers with a plotted report and a verdict.
#[derive(Debug, Parser)]
#[command(name = "floodrig", version, after_help = AFTER_HELP, disable_help_subcommand = true)]
struct Floodrig {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
A bare path means `run`: `floodrig scenarios` runs every scenario of that folder.

Exit status: 0 pass, 1 a budget is broken, 2 usage or scenario error (nothing was run), 3 the system never became \
ready, or it connected to the real Telegram, 4 invalid (the rig was the limit, a judged series has no samples, or \
nothing succeeded and no budget says so), 5 the system died, 6 the rig itself failed, 130 interrupted by Ctrl-C, \
SIGTERM, SIGQUIT or the end of its terminal (the recording is kept and marked partial).";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios: files, or every scenario of a folder
    Run(run::Args),
    /// Print what a scenario would send, and when
    Plan(plan::Args),
    /// Render a recording again
    Report(report::Args),
    /// Join the recordings of all shards of one plan, exactly, and judge them as one run
    Merge(merge::Args),
    /// Run the stub of Telegram alone
    Stub(stub::Args),
    /// Load one URL with the engine alone: a closed loop, or an open one at a steady rate
    Bench(bench::Args),
    /// Measure what the rig itself can do on this machine
    Calibrate(calibrate::Args),
    /// Print signed initData of made-up players
    Sign(sign::Args),
    /// Print the JSON schema of scenario files
    Schema,
    #[command(name = "__keeper", hide = true)]
    Keeper,
    #[command(name = "__launch", hide = true)]
    Launch,
}

/// Does what the arguments say. A panic is the rig's own failure, and everything it had started ends with it.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    catch_unwind(AssertUnwindSafe(|| dispatch(arguments))).unwrap_or_else(|_| Exit::Failed.into())
}

fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = with_run(arguments.into_iter().collect());
    let floodrig = match Floodrig::try_parse_from(arguments) {
        Ok(floodrig) => floodrig,
        Err(says) => return refuse(&says).into(),
    };
    match floodrig.command {
        Command::Run(args) => run::run(&args).into(),
        Command::Plan(args) => plan::run(&args).into(),
        Command::Report(args) => report::run(&args).into(),
        Command::Merge(args) => merge::run(&args).into(),
        Command::Stub(args) => stub::run(&args).into(),
        Command::Bench(args) => bench::run(&args).into(),
        Command::Calibrate(args) => calibrate::run(&args).into(),
        Command::Sign(args) => sign::run(&args).into(),
        Command::Schema => schema::run().into(),
        Command::Keeper => keeper::main(),
        Command::Launch => keeper::launch_main(),
    }
}

/// Help and versions are no errors; anything else is one of usage.
fn refuse(says: &clap::Error) -> Exit {
    // Nobody is left to be told when standard error is closed.
    drop(says.print());
    if let Some(ContextValue::String(word)) = says.get(ContextKind::InvalidSubcommand) {
        let near = nearly_named(Path::new(word)).map(|near| format!("; did you mean `{}`?", near.display()));
        let has_tip = says.get(ContextKind::SuggestedSubcommand).is_some();
        if near.is_some() || !has_tip {
            let near = near.unwrap_or_default();
            say::talk(&format!("  help: a bare path means `run`, and there is no file or folder `{word}` here{near}"));
        }
    }
    if says.use_stderr() { Exit::Usage } else { Exit::Pass }
}

/// A bare path means `run`.
fn with_run(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let bare_path = arguments.get(1).is_some_and(|first| {
        let text = first.to_string_lossy();
        let known = Floodrig::command().get_subcommands().any(|command| command.get_name() == text);
        let is_path =
            (text.contains('/') && !text.contains("://")) || text.ends_with(".toml") || Path::new(first).exists();
        !known && !text.starts_with('-') && is_path
    });
    if bare_path {
        arguments.insert(1, "run".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_are_well_formed() {
        Floodrig::command().debug_assert();
    }

    #[test]
    fn a_bare_path_means_run_and_a_command_stays_a_command() {
        assert_eq!(with_run(words("floodrig src --variant a")), words("floodrig run src --variant a"));
        assert_eq!(with_run(words("floodrig missing.toml")), words("floodrig run missing.toml"));
        assert_eq!(with_run(words("floodrig scenarios/missing")), words("floodrig run scenarios/missing"));
        assert_eq!(with_run(words("floodrig http://127.0.0.1")), words("floodrig http://127.0.0.1"));
        assert_eq!(with_run(words("floodrig plan a.toml")), words("floodrig plan a.toml"));
        assert_eq!(with_run(words("floodrig --help")), words("floodrig --help"));
    }

    /// All Rust files below a folder, as text.
    fn sources(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| match path.extension() {
                _ if path.is_dir() => sources(&path),
                Some(ending) if ending == "rs" => vec![std::fs::read_to_string(&path).unwrap()],
                Some(_) | None => Vec::new(),
            })
            .collect()
    }

    #[test]
    fn every_command_that_is_named_in_words_exists_but_for_bare_paths() {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let is_there = |word: &str| {
            Floodrig::command().get_subcommands().any(|command| command.get_name() == word) || home.join(word).exists()
        };
        let texts = ["harness", "reports", "stub"].into_iter().flat_map(|part| sources(&home.join(part).join("src")));
        let mut named = 0;
        for text in texts {
            for words in text.split("`floodrig ").skip(1) {
                let word = words.split(|letter: char| !letter.is_ascii_lowercase()).next().unwrap();
                assert!(word.is_empty() || is_there(word), "`floodrig {word}`");
                named += 1;
            }
        }
        assert!(named > 10, "{named}");
    }
}
