//! The keeper process itself: one loop over the rig's orders, its children's deaths and the steps of an ending.
//!
//! It is single-threaded on purpose: the parent-death signal follows the thread that forked.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};

use super::clock::{monotonic_ns, now};
use super::protocol::{Exit, Fault, Lines, Order, Report, Spec, Stage, say};
use super::scratch::Scratch;
use super::tree::{Identity, descendants, offspring};

/// How long the launcher may take to become the command: a few system calls.
const LAUNCH_WITHIN: Duration = Duration::from_secs(10);
/// How often the tree is walked while it is being ended; a child's death wakes the keeper sooner.
const WALK_EVERY: Duration = Duration::from_millis(20);
/// How long SIGKILL may take. Freeing 10 GiB takes about a second; what is left after this hangs in the kernel.
const KILL_WITHIN: Duration = Duration::from_secs(10);

/// How long the rig may take to order the end once the keeper was told to end: it lets go of a run within three
/// seconds.
const TOLD_WITHIN: Duration = Duration::from_secs(10);

/// `floodrig __keeper`: keeps what the rig orders on standard input, a socket.
pub fn main() -> ExitCode {
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let mut rig = UnixStream::from(socket);
    match keep(&mut rig) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            // When the rig is gone too, the exit status is all that is left to say.
            let _told = say(&mut rig, &Report::Failed(fault));
            ExitCode::FAILURE
        }
    }
}

fn keep(rig: &mut UnixStream) -> Result<(), Fault> {
    let at = |stage: Stage| move |cause: io::Error| Fault::new(stage, &cause);
    set_child_subreaper(Some(getpid())).map_err(|e| at(Stage::Keep)(e.into()))?;
    let alarm = Alarm::new().map_err(at(Stage::Keep))?;
    let mut lines = Lines::default();
    let spec = first_line(rig, &mut lines).map_err(at(Stage::Keep))?;
    let kept = keep_tree(rig, lines, alarm, &spec);
    for folder in &spec.remove {
        // The rig removes it too, and may have been first.
        drop(std::fs::remove_dir_all(folder));
    }
    kept
}

fn keep_tree(rig: &mut UnixStream, lines: Lines, alarm: Alarm, spec: &Spec) -> Result<(), Fault> {
    let at = |stage: Stage| move |cause: io::Error| Fault::new(stage, &cause);
    // Removed when this function ends, and by then the tree has.
    let _scratch = spec.scratch.as_deref().map(Scratch::make).transpose().map_err(at(Stage::Scratch))?;
    let command = launch(spec)?;
    let start = Identity::of(command).map_or(0, |identity| identity.start);
    let mut keeper = Keeper {
        rig,
        lines,
        alarm,
        me: getpid().as_raw_nonzero().get() as u32,
        command,
        ending: None,
        told_until: None,
        asked: BTreeSet::new(),
    };
    keeper.report(&Report::Spawned { pid: command, start });
    keeper.run().map_err(at(Stage::Keep))?;
    keeper.remove(&spec.cgroups).map_err(at(Stage::Keep))
}

fn first_line(rig: &mut UnixStream, lines: &mut Lines) -> io::Result<Spec> {
    loop {
        if let Some(spec) = lines.next() {
            return spec;
        }
        let mut bytes = [0; 4096];
        match rig.read(&mut bytes)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => lines.push(&bytes[..read]),
        }
    }
}

/// Starts the launcher and waits until it has become the command.
fn launch(spec: &Spec) -> Result<u32, Fault> {
    let at = |cause: io::Error| Fault::new(Stage::Launch, &cause);
    let (mut near, far) = UnixStream::pair().map_err(at)?;
    let mut launcher = Command::new("/proc/self/exe");
    launcher.arg("__launch").stdin(Stdio::from(std::os::fd::OwnedFd::from(far)));
    let pid = launcher.spawn().map_err(at)?.id();
    // `Command` would hold the far end open, and its closing is what says that the command runs.
    drop(launcher);
    say(&mut near, spec).map_err(at)?;
    near.set_read_timeout(Some(LAUNCH_WITHIN)).map_err(at)?;
    let mut answer = Vec::new();
    near.read_to_end(&mut answer).map_err(at)?;
    match serde_json::from_slice(&answer) {
        Ok(fault) => Err(fault),
        Err(_) => Ok(pid),
    }
}

/// What wakes the keeper: a child's death, or somebody else's signal to end.
struct Alarm {
    bell: UnixStream,
    /// The signal's number; 0: none came.
    signal: Arc<AtomicUsize>,
}

impl Alarm {
    fn new() -> io::Result<Self> {
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let came = Arc::default();
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT].map(Signal::as_raw) {
            signal_hook::flag::register_usize(signal, Arc::clone(&came), signal as usize)?;
            signal_hook::low_level::pipe::register(signal, ring.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(Signal::CHILD.as_raw(), ring)?;
        Ok(Self { bell, signal: came })
    }

    fn silence(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.bell.read(&mut bytes), Ok(read) if read > 0) {}
    }
}

/// An ending under way.
#[derive(Clone, Copy)]
struct Ending {
    kill_at: Instant,
    give_up_at: Instant,
}

impl Ending {
    fn after(grace: Duration) -> Self {
        let kill_at = now() + grace;
        Self { kill_at, give_up_at: kill_at + KILL_WITHIN }
    }
}

struct Keeper<'a> {
    rig: &'a mut UnixStream,
    lines: Lines,
    alarm: Alarm,
    me: u32,
    command: u32,
    ending: Option<Ending>,
    /// Somebody else's signal came, and until then the rig may order the end.
    told_until: Option<Instant>,
    asked: BTreeSet<(Identity, String)>,
}

impl Keeper<'_> {
    fn run(&mut self) -> io::Result<()> {
        // An order may have come in one read with the spec.
        self.obey(&[]);
        loop {
            if self.reap() {
                self.report(&Report::Empty {});
                return Ok(());
            }
            if let Some(left) = self.end_step() {
                self.report(&Report::Left { pids: left });
                return Ok(());
            }
            self.wait()?;
            self.hear();
        }
    }

    /// Removes control groups once the rig lets go of them: until then it reads what they have counted.
    fn remove(&mut self, cgroups: &[PathBuf]) -> io::Result<()> {
        while !cgroups.is_empty() && !self.rig_is_gone() {
            self.wait()?;
            self.hear();
        }
        // The rig has removed them itself, unless it was killed.
        for group in cgroups {
            drop(std::fs::remove_dir(group));
        }
        Ok(())
    }

    /// Collects the dead; true once no child is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.ended(pid, status),
                Ok(None) | Err(Errno::INTR) => return false,
                Err(_) => return true,
            }
        }
    }

    fn ended(&mut self, pid: Pid, status: WaitStatus) {
        let how = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => return,
        };
        let pid = pid.as_raw_nonzero().get() as u32;
        self.report(&Report::Ended { pid, how, at_ns: monotonic_ns(), orphan: pid != self.command });
    }

    /// One step of an ending; what is left when it has to be given up.
    fn end_step(&mut self) -> Option<Vec<u32>> {
        let ending = self.ending?;
        let now = now();
        if now < ending.kill_at {
            // A process forked just as its parent was asked has not been asked itself. One whose parent lives is
            // left to it: it may be there to tidy up.
            self.ask(offspring(self.me));
            return None;
        }
        let left = descendants(self.me);
        if now >= ending.give_up_at {
            return Some(left.iter().map(|process| process.pid).collect());
        }
        for process in left {
            process.signal(Signal::KILL);
        }
        None
    }

    fn wait(&mut self) -> io::Result<()> {
        let looks = self.ending.is_some() || self.told_until.is_some();
        let timeout = looks.then_some(Timespec { tv_sec: 0, tv_nsec: i64::from(WALK_EVERY.subsec_nanos()) });
        let mut watched = [PollFd::new(&*self.rig, PollFlags::IN), PollFd::new(&self.alarm.bell, PollFlags::IN)];
        // Once the rig is gone its socket is always readable, and would keep the loop spinning.
        let first = usize::from(self.rig_is_gone());
        match poll(&mut watched[first..], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }

    fn rig_is_gone(&self) -> bool {
        self.ending.is_some_and(|ending| ending.kill_at <= now())
    }

    fn hear(&mut self) {
        self.alarm.silence();
        self.hear_signal();
        if self.rig_is_gone() {
            return;
        }
        let mut bytes = [0; 4096];
        match rustix::net::recv(&*self.rig, &mut bytes, rustix::net::RecvFlags::DONTWAIT) {
            Ok((0, _)) => self.end_within(Duration::ZERO),
            Ok((read, _)) => self.obey(&bytes[..read]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.end_within(Duration::ZERO),
        }
    }

    /// Told by somebody else to end, the keeper tells the rig, which lets go of the run in order; one that hangs does
    /// not.
    fn hear_signal(&mut self) {
        let signal = self.alarm.signal.load(Ordering::Relaxed) as i32;
        if signal != 0 && self.told_until.is_none() {
            self.told_until = Some(now() + TOLD_WITHIN);
            self.report(&Report::Told { signal });
        }
        if self.ending.is_none() && self.told_until.is_some_and(|until| now() >= until) {
            self.end_within(Duration::ZERO);
        }
    }

    fn obey(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
        while let Some(order) = self.lines.next() {
            match order {
                Ok(Order::Stop { grace_ms }) => self.end_within(Duration::from_millis(grace_ms)),
                // A rig that speaks nonsense is no rig; what it started must not stay.
                Err(_) => self.end_within(Duration::ZERO),
            }
        }
    }

    /// Begins the ending, or brings it forward; a later order never prolongs it.
    fn end_within(&mut self, grace: Duration) {
        let new = Ending::after(grace);
        if self.ending.is_none() && !grace.is_zero() {
            self.ask(descendants(self.me));
        }
        let sooner = self.ending.is_none_or(|old| new.kill_at < old.kill_at);
        self.ending = if sooner { Some(new) } else { self.ending };
    }

    /// Asks these to end, each once. A shell's child that was asked before it became another program has taken the
    /// signal with the shell's own handler and forgotten it, so that it is asked again.
    fn ask(&mut self, processes: Vec<Identity>) {
        for process in processes {
            let Some(program) = process.program() else { continue };
            if self.asked.insert((process, program)) {
                process.signal(Signal::TERM);
            }
        }
    }

    fn report(&mut self, report: &Report) {
        // A rig that is gone hears nothing; its end of the socket says so on the next turn.
        let _heard = say(self.rig, report);
    }
}
