//! The launcher: sets affinity and limits on itself with safe calls, then becomes the command.
//!
//! Its standard input is a socket to the keeper: the spec comes in, and a fault goes out when the command cannot
//! be started. The socket closes by itself when the command takes over, which is how the keeper learns that it did.

use std::io::{self, BufRead, BufReader};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity, set_current_timer_slack};

use super::protocol::{Fault, Spec, Stage, say};

/// The kernel's own default (`prctl(2)`): the rig narrows its timer slack, and the command must not inherit that.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::new(50_000).expect("not zero");

/// `floodrig __launch`. Returns only when the command could not be started.
pub fn main() -> ExitCode {
    // A duplicate, since standard input itself is replaced for the command.
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut keeper = UnixStream::from(socket);
    let Ok(spec) = read_spec(&keeper) else { return ExitCode::FAILURE };
    let fault = become_command(&spec, &keeper);
    // Nobody is left to tell when this fails: the keeper is gone.
    let _told = say(&mut keeper, &fault);
    ExitCode::FAILURE
}

fn read_spec(keeper: &UnixStream) -> io::Result<Spec> {
    let mut line = String::new();
    BufReader::new(keeper).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// Comes back only with what went wrong.
fn become_command(spec: &Spec, keeper: &UnixStream) -> Fault {
    if let Err(fault) = prepare(spec, keeper) {
        return fault;
    }
    let Some((program, arguments)) = spec.command.split_first() else {
        return Fault { stage: Stage::Exec, errno: 0 };
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(&spec.env).stdin(Stdio::null());
    if let Some(scratch) = &spec.scratch {
        command.env("TMPDIR", scratch);
    }
    for name in &spec.without {
        command.env_remove(name);
    }
    Fault::new(Stage::Exec, &command.exec())
}

fn prepare(spec: &Spec, keeper: &UnixStream) -> Result<(), Fault> {
    let stage = |stage: Stage| move |cause: io::Error| Fault::new(stage, &cause);
    tie_to(keeper).map_err(stage(Stage::Tie))?;
    set_current_timer_slack(Some(TIMER_SLACK_NS)).map_err(|e| stage(Stage::Tie)(e.into()))?;
    std::env::set_current_dir(&spec.dir).map_err(stage(Stage::Dir))?;
    for group in &spec.cgroups {
        let me = std::process::id().to_string();
        std::fs::write(group.join("cgroup.procs"), me).map_err(stage(Stage::Cgroup))?;
    }
    if let Some(cores) = &spec.cores {
        sched_setaffinity(None, &cpu_set(cores)).map_err(|e| stage(Stage::Cores)(e.into()))?;
    }
    if let Some(limit) = spec.open_files {
        set_open_files(limit).map_err(stage(Stage::OpenFiles))?;
    }
    if let Some(limit) = spec.open_files_at_most {
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        setrlimit(Resource::Nofile, limit).map_err(|e| stage(Stage::OpenFiles)(e.into()))?;
    }
    Ok(())
}

/// The command dies with its keeper, also with one that died before this was asked for.
fn tie_to(keeper: &UnixStream) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    match recv(keeper, &mut [0; 1], RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN) => Ok(()),
        Ok(_) | Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

fn cpu_set(cores: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for core in cores {
        // A core beyond the set's size stays out; an empty set is refused by the kernel.
        if (*core as usize) < CpuSet::MAX_CPU {
            set.set(*core as usize);
        }
    }
    set
}

fn set_open_files(soft: u64) -> io::Result<()> {
    let hard = getrlimit(Resource::Nofile).maximum;
    let new = Rlimit { current: Some(hard.map_or(soft, |hard| soft.min(hard))), maximum: hard };
    Ok(setrlimit(Resource::Nofile, new)?)
}
