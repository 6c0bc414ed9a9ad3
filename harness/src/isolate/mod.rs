//! A network of the run's own: the rig executes itself again where `api.telegram.org` is the stub for every program, in
//! whatever language, where the kernel's counters are this run's alone, and from where nothing outside can be reached.
//!
//! It takes the place of the process that was started, so that a signal meets it as it would have met that one, and the
//! namespaces pass away with their last process: nothing is left behind, however the run ends.

mod furnish;
mod loopback;

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub use furnish::furnish;

/// Names the network that was left; whoever finds another one around itself has arrived.
const LEFT: &str = "FLOODRIG_ISOLATED_FROM";
/// Of util-linux.
const TOOL: &str = "unshare";
/// As a user who may make namespaces, and as any other: root then in namespaces of its own, where its files stay its own.
const WAYS: [&[&str]; 2] = [&["--net", "--mount"], &["--map-root-user", "--net", "--mount"]];

/// Why there is no network of the run's own.
#[derive(Debug, thiserror::Error)]
pub enum CannotIsolate {
    /// The tool is missing.
    #[error("there is no `unshare` here: install util-linux")]
    NoTool,
    /// This user may not, or not in this container.
    #[error(
        "namespaces are not allowed here ({0}): allow them (kernel.unprivileged_userns_clone, \
         kernel.apparmor_restrict_unprivileged_userns, or --cap-add SYS_ADMIN for a container), or run without --isolate"
    )]
    Forbidden(String),
    /// The network could not be made what it should be.
    #[error("could not {what} in the run's own network: {cause}; run without --isolate")]
    Furnishing {
        /// What was tried.
        what: String,
        /// Why it failed.
        cause: io::Error,
    },
}

/// Whether this process is in a network of its own that [`enter`] has made.
#[expect(clippy::disallowed_methods, reason = "the word from the process that became this one")]
pub fn is_inside() -> bool {
    let left = std::env::var_os(LEFT).map(PathBuf::from);
    left.is_some_and(|left| network().is_ok_and(|network| network != left))
}

/// Becomes this program again, with the same arguments, in a network of its own. Comes back only with what went wrong.
pub fn enter() -> CannotIsolate {
    let way = match way_in() {
        Ok(way) => way,
        Err(cause) => return cause,
    };
    let become_it = || {
        let (program, left) = (std::env::current_exe()?, network()?);
        let mut command = Command::new(TOOL);
        command.args(way).arg("--").arg(program).args(std::env::args_os().skip(1)).env(LEFT, left);
        Err(command.exec())
    };
    let cause: io::Error = become_it().unwrap_or_else(|cause| cause);
    CannotIsolate::Furnishing { what: "start the rig again".to_owned(), cause }
}

/// `net:[4026531840]`
fn network() -> io::Result<PathBuf> {
    std::fs::read_link("/proc/self/ns/net")
}

/// The first way that works here, tried with a program that does nothing.
fn way_in() -> Result<&'static [&'static str], CannotIsolate> {
    let mut says = Vec::new();
    for way in WAYS {
        let tried = Command::new(TOOL).args(way).args(["--", "true"]).stdin(Stdio::null()).output();
        match tried {
            Ok(output) if output.status.success() => return Ok(way),
            Ok(output) => says.push(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Err(CannotIsolate::NoTool),
            Err(cause) => says.push(cause.to_string()),
        }
    }
    Err(CannotIsolate::Forbidden(says.join("; ")))
}
