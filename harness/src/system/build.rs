//! The build of a system, run before it starts: under a keeper of its own, its lines shown as they come.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::clock::now;
use super::death::Cause;
use super::doubt::ONE_CAUSE;
use super::keeper_lost::KeeperLost;
use super::logs::{Shared, await_end, drain, look};
use crate::keeper::{CommandEnd, Exit, KeepError, Kept, Program, Reports, Spec, Started};
use crate::redirect::{BOT_TOKEN, hide_tokens};
use crate::stop::Stop;

/// How often the build is asked whether it has ended while it prints nothing.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Lines that may wait to be shown; any beyond are kept for the error but not shown.
const SHOWN_LINES: usize = 256;
/// Lines that the error quotes.
const QUOTED_LINES: usize = 20;

/// A build.
#[derive(Debug, Clone)]
pub struct Build {
    /// The binary that becomes the keeper.
    pub program: Program,
    /// Where it runs.
    pub dir: PathBuf,
    /// The command.
    pub command: Vec<String>,
    /// How long it may take.
    pub within: Duration,
}

/// Why a build did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// It could not be started.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// It ended, but not well.
    #[error("the build `{command}` {how}; its last lines:\n  {}", .tail.join("\n  "))]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        how: Cause,
        /// Its last lines.
        tail: Vec<String>,
    },
    /// It took too long.
    #[error("the build `{command}` took longer than {} s; its last lines:\n  {}", .within.as_secs_f64(), .tail.join("\n  "))]
    TooLong {
        /// The command.
        command: String,
        /// How long it might have taken.
        within: Duration,
        /// Its last lines.
        tail: Vec<String>,
    },
    /// The rig's own failure.
    #[error(transparent)]
    KeeperLost(KeeperLost),
    /// Ctrl-C.
    #[error("interrupted while building")]
    Interrupted,
}

/// Builds, handing each line to `progress`. Whatever happens, nothing of the build is left running.
///
/// It runs without `CARGO_TARGET_DIR`, since the command that follows looks for its product in the usual place, and
/// with no real bot's token.
pub fn build(order: &Build, stop: &Stop, progress: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
    let mut env = BTreeMap::new();
    hide_tokens(&mut env, BOT_TOKEN);
    let spec = Spec {
        command: order.command.clone(),
        dir: order.dir.clone(),
        env,
        without: vec!["CARGO_TARGET_DIR".to_owned()],
        ..Spec::default()
    };
    let Started { mut kept, mut reports, stdout, stderr } = Kept::start(&order.program, &spec)?;
    let (said, lines) = sync_channel(SHOWN_LINES);
    let output = Shared::default();
    let readers = [reader(stdout, &output, said.clone()), reader(stderr, &output, said)];
    let until = now() + order.within;
    let end = follow(&mut reports, &lines, progress, &|| stop_asked(stop, until));
    kept.end();
    await_end(readers);
    for line in lines.try_iter() {
        progress(&line);
    }
    let (command, tail) = (order.command.join(" "), look(&output, |output| output.tail(QUOTED_LINES)));
    match end {
        Followed::Ended(Cause(Exit::Code(0))) => Ok(()),
        Followed::Ended(how) => Err(BuildError::Failed { command, how, tail }),
        Followed::KeeperLost(told_by) => Err(lost(told_by, stop)),
        Followed::Asked(Asked::TooLong) => Err(BuildError::TooLong { command, within: order.within, tail }),
        Followed::Asked(Asked::Interrupted) => Err(BuildError::Interrupted),
    }
}

fn reader(
    stream: impl std::io::Read + Send + 'static,
    output: &Shared,
    said: SyncSender<String>,
) -> std::thread::JoinHandle<()> {
    let output = Shared::clone(output);
    std::thread::spawn(move || {
        drain(stream, &output, |line| {
            // A line that cannot be shown in time is still kept for the error.
            let _shown = said.try_send(line.to_owned());
        });
    })
}

/// Whoever ended the rig and its keepers together has only interrupted it.
fn lost(told_by: Option<i32>, stop: &Stop) -> BuildError {
    let until = now() + ONE_CAUSE;
    while !stop.asked() && now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    let lost = || BuildError::KeeperLost(KeeperLost { whose: "the build".to_owned(), told_by });
    if stop.asked() { BuildError::Interrupted } else { lost() }
}

enum Asked {
    TooLong,
    Interrupted,
}

enum Followed {
    Ended(Cause),
    KeeperLost(Option<i32>),
    Asked(Asked),
}

fn stop_asked(stop: &Stop, until: Instant) -> Option<Asked> {
    if stop.asked() {
        return Some(Asked::Interrupted);
    }
    (now() >= until).then_some(Asked::TooLong)
}

/// Shows lines until the build has ended or is to be.
fn follow(
    reports: &mut Reports,
    lines: &Receiver<String>,
    progress: &mut dyn FnMut(&str),
    stop_asked: &dyn Fn() -> Option<Asked>,
) -> Followed {
    loop {
        match lines.recv_timeout(LOOK_EVERY) {
            Ok(line) => progress(&line),
            Err(RecvTimeoutError::Timeout) => {}
            // The build has closed its output; wait for its end instead of for lines.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
        }
        match reports.command_end(Duration::from_millis(1)) {
            CommandEnd::Ended(how) => return Followed::Ended(Cause(how)),
            CommandEnd::KeeperLost(signal) => return Followed::KeeperLost(signal),
            CommandEnd::NotYet => {}
        }
        if let Some(asked) = stop_asked() {
            return Followed::Asked(asked);
        }
    }
}
