//! The rig's end: starts a keeper, hears its reports, orders it to stop, and makes sure that it is gone.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::Signal;

use super::clock::now;
use super::protocol::{Exit, Fault, Lines, Order, Report, Spec, Stage, say};
use super::scratch::remove;
use super::tree::{Identity, marked};

/// The variable by which the rig finds what a killed keeper has left behind.
const MARK: &str = "FLOODRIG_KEEPER";
/// How long a start may take: two forks and two execs, on a machine that may be busy with the rest of a run.
const START_WITHIN: Duration = Duration::from_secs(15);
/// How long a keeper may take to exit once its tree is empty or its socket is closed.
const EXIT_WITHIN: Duration = Duration::from_secs(15);
/// How often something that has no file descriptor to wait on is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The binary that is started as keeper; it must hand `__keeper` and `__launch` to this room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(pub PathBuf);

impl Default for Program {
    /// The running binary itself, even when its file has been replaced since.
    fn default() -> Self {
        Self(PathBuf::from("/proc/self/exe"))
    }
}

/// Why a command was not started.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The keeper could not be started or spoken to.
    #[error("could not start the keeper process {}: {cause}", .program.display())]
    Keeper {
        /// The binary.
        program: PathBuf,
        /// What the operating system said.
        cause: io::Error,
    },
    /// The command is not to be had.
    #[error("could not run `{command}` in {}: {}", .dir.display(), explain(*.fault))]
    Command {
        /// The program as it was asked for.
        command: String,
        /// Where it was to run.
        dir: PathBuf,
        /// What went wrong.
        fault: Fault,
    },
    /// It was started, and then somebody else ended its keeper.
    #[error("its keeper, a process of the rig's own, was ended by somebody else")]
    Lost,
}

fn explain(Fault { stage, errno }: Fault) -> String {
    let cause = io::Error::from_raw_os_error(errno);
    let said = if errno == 0 { "no answer".to_owned() } else { cause.to_string() };
    let hint = match (stage, cause.kind()) {
        (Stage::Exec, io::ErrorKind::NotFound) => "; is it installed, on PATH, or built?",
        (Stage::Exec, io::ErrorKind::PermissionDenied) => "; is it executable?",
        (Stage::Dir, io::ErrorKind::NotFound) => "; does it exist?",
        (Stage::OpenFiles, _) => "; `sysctl fs.nr_open` and `ulimit -Hn` say how many may be asked for",
        (Stage::Cores, _) => "; do the cores exist, and may this process use them?",
        _ => "",
    };
    format!("could not {stage}: {said}{hint}")
}

/// A command that was started, and the keeper that keeps it. Dropping it ends the whole tree at once.
#[derive(Debug)]
pub struct Kept {
    orders: UnixStream,
    keeper: Child,
    mark: String,
    scratch: Option<PathBuf>,
    /// The command itself.
    pub command: Identity,
}

/// A start that succeeded.
#[derive(Debug)]
pub struct Started {
    /// The hold on it.
    pub kept: Kept,
    /// What the keeper reports from now on.
    pub reports: Reports,
    /// The command's standard output, its children's included.
    pub stdout: ChildStdout,
    /// The command's standard error, its children's included.
    pub stderr: ChildStderr,
}

impl Kept {
    /// Starts a command under a keeper of its own and waits until it runs.
    pub fn start(program: &Program, spec: &Spec) -> Result<Started, KeepError> {
        let failed = |cause| KeepError::Keeper { program: program.0.clone(), cause };
        let mark = new_mark();
        let (mut orders, far) = UnixStream::pair().map_err(failed)?;
        let from = orders.try_clone().map_err(failed)?;
        let mut keeper = spawn(program, &mark, far).map_err(failed)?;
        let mut reports = Reports { from, lines: Lines::default(), keeper: keeper.id(), mark: mark.clone() };
        let (stdout, stderr) = (keeper.stdout.take(), keeper.stderr.take());
        let (stdout, stderr) = stdout.zip(stderr).expect("both were asked for as pipes");
        say(&mut orders, spec).map_err(failed)?;
        let mut kept =
            Self { orders, keeper, mark, scratch: spec.scratch.clone(), command: Identity { pid: 0, start: 0 } };
        kept.command = first_report(&mut reports, program, spec)?;
        Ok(Started { kept, reports, stdout, stderr })
    }

    /// The keeper's own process id: the root of the tree, itself not part of it.
    pub fn root(&self) -> u32 {
        self.keeper.id()
    }

    /// Orders the tree to end: SIGTERM to all of it, SIGKILL after the grace.
    pub fn stop(&self, grace: Duration) -> io::Result<()> {
        say(&mut &self.orders, &Order::Stop { grace_ms: grace.as_millis() as u64 })
    }

    /// Ends whatever still lives, at once, and returns when the keeper is gone: what no one could end.
    pub fn end(&mut self) -> Vec<Identity> {
        // Already closed when the keeper has left by itself.
        let _closed = self.orders.shutdown(Shutdown::Both);
        if !self.keeper_exits(EXIT_WITHIN) {
            // It hangs: its own death ends the command, and the sweep the rest.
            let _killed = self.keeper.kill();
            self.keeper_exits(EXIT_WITHIN);
        }
        let left = sweep(&self.mark);
        // A keeper that was killed has left it behind.
        self.scratch.iter().for_each(|scratch| remove(scratch));
        left
    }

    fn keeper_exits(&mut self, within: Duration) -> bool {
        let until = now() + within;
        loop {
            match self.keeper.try_wait() {
                Ok(None) if now() < until => std::thread::sleep(LOOK_EVERY),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}

/// Told apart from the marks of any other rig and of any other keeper of this one.
fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let rig = std::process::id();
    let start = Identity::of(rig).map_or(0, |identity| identity.start);
    format!("{rig}-{start}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

fn spawn(program: &Program, mark: &str, control: UnixStream) -> io::Result<Child> {
    Command::new(&program.0)
        .arg0("floodrig")
        .arg("__keeper")
        .env(MARK, mark)
        .stdin(Stdio::from(OwnedFd::from(control)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

fn first_report(reports: &mut Reports, program: &Program, spec: &Spec) -> Result<Identity, KeepError> {
    let lost = |kind: io::ErrorKind| KeepError::Keeper { program: program.0.clone(), cause: kind.into() };
    match reports.next(START_WITHIN) {
        Heard::Report(Report::Spawned { pid, start }) => Ok(Identity { pid, start }),
        Heard::Report(Report::Failed(fault)) => Err(KeepError::Command {
            command: spec.command.first().cloned().unwrap_or_default(),
            dir: spec.dir.clone(),
            fault,
        }),
        Heard::Report(Report::Ended { .. } | Report::Told { .. } | Report::Empty {} | Report::Left { .. }) => {
            Err(lost(io::ErrorKind::InvalidData))
        }
        Heard::Nothing => Err(lost(io::ErrorKind::TimedOut)),
        Heard::Lost => Err(lost(io::ErrorKind::UnexpectedEof)),
    }
}

/// Ends what a keeper that was killed has left behind, found by its mark; what is left is returned.
fn sweep(mark: &str) -> Vec<Identity> {
    let until = now() + EXIT_WITHIN;
    loop {
        let left = marked(MARK, mark);
        if left.is_empty() || now() >= until {
            return left;
        }
        for process in &left {
            process.signal(Signal::KILL);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The keeper's reports, in order.
#[derive(Debug)]
pub struct Reports {
    from: UnixStream,
    lines: Lines,
    keeper: u32,
    mark: String,
}

/// What was heard within a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A report.
    Report(Report),
    /// Nothing yet.
    Nothing,
    /// The keeper is gone.
    Lost,
}

/// What a wait for the end of the command came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// It has ended.
    Ended(Exit),
    /// Its keeper was ended by somebody else, by this signal where it could tell.
    KeeperLost(Option<i32>),
    /// It runs on.
    NotYet,
}

impl Reports {
    /// Waits for the end of the command itself, for no longer than `within`, whatever becomes of its children.
    pub fn command_end(&mut self, within: Duration) -> CommandEnd {
        let until = now() + within;
        loop {
            match self.next(until.saturating_duration_since(now())) {
                Heard::Report(Report::Ended { how, orphan: false, .. }) => return CommandEnd::Ended(how),
                Heard::Report(Report::Told { signal }) => return CommandEnd::KeeperLost(Some(signal)),
                Heard::Lost => return CommandEnd::KeeperLost(None),
                Heard::Nothing => return CommandEnd::NotYet,
                Heard::Report(
                    Report::Ended { orphan: true, .. }
                    | Report::Spawned { .. }
                    | Report::Failed(_)
                    | Report::Empty {}
                    | Report::Left { .. },
                ) => {}
            }
        }
    }

    /// The keeper's own process id.
    pub fn root(&self) -> u32 {
        self.keeper
    }

    /// Waits until there is something to hear, or one of these becomes readable, for no longer than `within`.
    pub fn wait(&self, within: Duration, others: &[OwnedFd]) {
        let within = if self.lines.has_one() { Duration::ZERO } else { within };
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
        let others = others.iter().map(|other| PollFd::new(other, PollFlags::IN));
        let mut watched: Vec<PollFd<'_>> = others.chain([PollFd::new(&self.from, PollFlags::IN)]).collect();
        // A wait that a signal ends, or that fails, is a wait that was shorter.
        let _ready = poll(&mut watched, Some(&timeout));
    }

    /// The next report, waited for no longer than `within`; of no time at all, one that is there already.
    pub fn next(&mut self, within: Duration) -> Heard {
        let until = now() + within;
        loop {
            match self.lines.next() {
                Some(Ok(report)) => return Heard::Report(report),
                Some(Err(_)) => return Heard::Lost,
                None => {}
            }
            self.wait(until.saturating_duration_since(now()), &[]);
            match self.read() {
                Ok(1..) => {}
                Err(Errno::AGAIN | Errno::INTR) if now() < until => {}
                Err(Errno::AGAIN | Errno::INTR) => return Heard::Nothing,
                Ok(0) | Err(_) => return Heard::Lost,
            }
        }
    }

    /// After the keeper was lost: waits until it has ended, then ends what a killed one has left behind.
    pub fn clear_up(&self) {
        let until = now() + EXIT_WITHIN;
        while Identity::of(self.keeper).is_some() && now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
        // What cannot be ended here is told when the rig ends its hold on it.
        sweep(&self.mark);
    }

    /// What is there now.
    fn read(&mut self) -> rustix::io::Result<usize> {
        let mut bytes = [0; 4096];
        let (read, _) = recv(&self.from, &mut bytes, RecvFlags::DONTWAIT)?;
        self.lines.push(&bytes[..read]);
        Ok(read)
    }
}
