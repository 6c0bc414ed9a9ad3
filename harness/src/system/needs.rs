//! Whether this machine has a program that a scenario needs, and in the version that it needs.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::keeper::{CommandEnd, Exit, Kept, Program, Spec, Started};
use crate::redirect::{BOT_TOKEN, hide_tokens};
use crate::scenario::{Need, Version};

/// How programs are asked for their version; Go's knows only the second.
const ASKED: [&str; 2] = ["--version", "version"];

/// How long one may take to say it: a cold JVM on a busy small server takes seconds.
const WITHIN: Duration = Duration::from_secs(20);

/// What is missing, in words; nothing: the need is met. A version is asked for where the system runs, since version
/// managers go by the folder.
pub fn unmet(need: &Need, dir: &Path) -> Option<String> {
    let Some(program) = found(&need.program) else {
        return Some(format!("`{need}` is needed, and no `{}` is in PATH: install it", need.program));
    };
    let least = need.at_least.as_ref()?;
    match ASKED.iter().find_map(|word| version(&program, word, dir)) {
        Some(has) if has.reaches(least) => None,
        Some(has) => Some(format!("`{need}` is needed, and {} is {has}: install a newer one", program.display())),
        None => Some(format!("`{need}` is needed, and {} does not say its version", program.display())),
    }
}

fn found(program: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where this machine's programs are")]
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(is_program)
}

/// What it prints when it is asked so, if it says a version and is content to. It sees no real bot's token, and nothing
/// of it is left running.
fn version(program: &Path, word: &str, dir: &Path) -> Option<Version> {
    let command = vec![program.to_str()?.to_owned(), word.to_owned()];
    let mut env = BTreeMap::new();
    hide_tokens(&mut env, BOT_TOKEN);
    let spec = Spec { command, dir: dir.to_owned(), env, ..Spec::default() };
    let Started { mut kept, mut reports, stdout, stderr: _unread } = Kept::start(&Program::default(), &spec).ok()?;
    let content = reports.command_end(WITHIN) == CommandEnd::Ended(Exit::Code(0));
    kept.end();
    let mut text = String::new();
    stdout.take(4096).read_to_string(&mut text).ok()?;
    Version::first_in(&text).filter(|_| content)
}
