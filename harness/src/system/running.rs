//! A running system: started, waited for, watched, stopped.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use floodrig_reports::recording::{Confined, Ending, EndingKind, Logs};
use floodrig_stub::Stub;

use super::cap::Cap;
use super::cgroup::Confinement;
use super::clock::Clock;
use super::cores::{self, Pinning};
use super::death::{self, Death, Stop};
use super::known::Known;
use super::launch::{Launch, spec};
use super::logs::{Output, Shared, await_end, drain, look};
use super::oom::{Oom, Signs};
use super::port;
use super::ready::{self, Glimpse};
use super::servers::{Servers, Sought};
use super::unready::{NotReady, StartError, Unready};
use super::watcher::{Watch, hear};
use crate::keeper::{Kept, Spec, Started, Tree, descendants, kill};
use crate::redirect::{Lookout, Watchman};
use crate::scenario::Ready;

/// How often readiness is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How much longer than its grace a stop may take: the keeper's own time for SIGKILL, and some.
const STOP_MARGIN: Duration = Duration::from_secs(15);
/// The stub's other door, that of `api.telegram.org` in a network of the run's own.
const HTTPS: u16 = 443;
/// Lines of stderr that an ending quotes.
const QUOTED_LINES: usize = 20;

/// A system that has ended, with all that it said.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// How it ended.
    pub ending: Ending,
    /// What it logged.
    pub logs: Logs,
    /// What its control group counted.
    pub confined: Option<Confined>,
    /// Events of its end that found no room in the recorder's queue.
    pub events_dropped: u64,
}

/// A system that runs, or has died since. Dropping it ends it at once.
#[derive(Debug)]
pub struct System {
    kept: Kept,
    known: Arc<Known>,
    stdout: Shared,
    stderr: Shared,
    threads: Vec<JoinHandle<()>>,
    watchman: Option<Watchman>,
    clock: Clock,
    signs: Signs,
    confinement: Confinement,
    cap: Option<Cap>,
    ready_after: Duration,
    stop: crate::stop::Stop,
}

impl System {
    /// Starts the system and waits until it is ready. `progress` hears what is waited for, whenever that changes.
    pub fn start(launch: &Launch, watch: Watch, progress: &mut dyn FnMut(&str)) -> Result<Self, StartError> {
        port::check_free(launch.port)?;
        let clock = Clock::new(watch.epoch);
        let begun = clock.now();
        let signs = Signs::read();
        let confinement = Confinement::make(launch.limits, &format!("floodrig-{}-{}", std::process::id(), launch.port));
        let spec = Spec { cgroups: confinement.dirs(), ..spec(launch) };
        let Started { kept, reports, stdout, stderr } = Kept::start(&launch.program, &spec)?;
        let cap = confinement.unheld_memory().map(|limit| Cap::start(kept.root(), limit));
        let mut system = Self {
            kept,
            known: Arc::default(),
            stdout: Shared::default(),
            stderr: Shared::default(),
            threads: Vec::new(),
            watchman: None,
            clock,
            signs,
            confinement,
            cap,
            ready_after: Duration::ZERO,
            stop: watch.stop.clone(),
        };
        let lookout = watch.lookout.clone();
        system.watchman = system.watched_by(&lookout);
        let known = Arc::clone(&system.known);
        let sought = system.sought(launch);
        system.thread("watcher", move || hear(reports, &watch, &known, sought));
        let output = Arc::clone(&system.stdout);
        system.thread("stdout", move || drain(stdout, &output, |_| {}));
        let output = Arc::clone(&system.stderr);
        system.thread("stderr", move || drain(stderr, &output, |_| {}));
        system.become_ready((launch, &lookout), begun, progress)
    }

    /// Ends all of it where it is found to call the real Telegram: that is the rig's own stop, and no death.
    fn watched_by(&self, lookout: &Lookout) -> Option<Watchman> {
        let (known, clock, tree) = (Arc::clone(&self.known), self.clock, Tree::Below(self.root()));
        let end_it = move || {
            known.look().stop_ordered.get_or_insert_with(|| clock.now());
            tree.processes().into_iter().for_each(kill);
        };
        lookout.over(tree, end_it)
    }

    /// One that `top` shows by this name.
    fn thread(&mut self, name: &str, work: impl FnOnce() + Send + 'static) {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        self.threads.push(thread.expect("the kernel has a thread for every system"));
    }

    fn become_ready(
        mut self,
        (launch, lookout): (&Launch, &Lookout),
        begun: Duration,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, StartError> {
        let mut waited_for = ready::wanted(launch.address(), &launch.ready);
        progress(&waited_for);
        loop {
            let left = (begun + launch.ready_within).saturating_sub(self.clock.now());
            let glimpse = ready::look(launch, left);
            if let Some(stray) = lookout.seen() {
                return Err(self.not_ready(Unready::Strayed(stray.clone()), launch));
            }
            if let Some(death) = self.death() {
                return Err(self.not_ready(Unready::Died(death), launch));
            }
            match glimpse {
                Glimpse::Ready => {
                    self.ready_after = self.clock.now().saturating_sub(begun);
                    self.know_servers(launch);
                    return Ok(self);
                }
                Glimpse::NotYet(text) if text != waited_for => {
                    progress(&text);
                    waited_for = text;
                }
                Glimpse::NotYet(_) => {}
            }
            if self.stop.asked() {
                return Err(StartError::Interrupted);
            }
            if left.is_zero() {
                return Err(self.timed_out(waited_for, launch));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// By what whoever serves is known.
    fn sought(&self, launch: &Launch) -> Sought {
        let door = launch.redirect.as_ref().filter(|redirect| redirect.is_isolated()).map(|_| HTTPS);
        let stub = launch.stub.as_ref().map(|stub| stub.port()).into_iter().chain(door).collect();
        Sought { root: self.kept.root(), port: launch.port, stub }
    }

    /// Now that it is ready, whoever serves is there, and can be told from wrappers around it.
    fn know_servers(&mut self, launch: &Launch) {
        let servers = Servers::find(self.sought(launch), || self.clock.now());
        self.signs.of_group(servers.pids());
        self.known.look().servers = Some(servers);
    }

    fn timed_out(self, waited_for: String, launch: &Launch) -> StartError {
        let tree: Vec<u32> = descendants(self.kept.root()).iter().map(|process| process.pid).collect();
        let pid = self.kept.command.pid;
        let within = launch.ready_within;
        let why = match (&launch.ready, &launch.stub) {
            (Ready::Bot, Some(stub)) => {
                let advice = no_bot(stub, launch, self.kept.root());
                Unready::NoBot { waited_for, within, pid, advice }
            }
            (Ready::Bot | Ready::Path(_) | Ready::Command(_) | Ready::Accepts, _) => {
                let listening = port::listening(&tree);
                let left = if self.known.look().command_left { tree } else { Vec::new() };
                Unready::TimedOut { waited_for, within, pid, left, target: launch.address(), listening }
            }
        };
        self.not_ready(why, launch)
    }

    fn not_ready(self, why: Unready, launch: &Launch) -> StartError {
        let stdout = Arc::clone(&self.stdout);
        let limits = self.confinement();
        let Stopped { mut ending, logs, confined, events_dropped: _ } = self.stop(launch.stop_within);
        if ending.stderr_tail.is_empty() {
            ending.stderr_tail = look(&stdout, |output| output.tail(QUOTED_LINES));
        }
        StartError::NotReady(Box::new(NotReady { why, ending, logs, limits: (limits, confined) }))
    }

    /// How and when it died by itself, if it did.
    pub fn death(&self) -> Option<Death> {
        self.known.look().death
    }

    /// When it ended without an order of the rig's: by itself, or by whoever ends the run.
    pub fn ended_at(&self) -> Option<Duration> {
        self.known.look().ended_at
    }

    /// Whether it ends like that within this time.
    pub fn ends_within(&self, within: Duration) -> bool {
        self.known.ends_within(within)
    }

    /// Who serves in the place of a command that has ended with 0, in words.
    pub fn successor(&self) -> Option<String> {
        self.known.look().successor.clone()
    }

    /// From its start to its readiness.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// The process below which all of the system lives; not itself part of it.
    pub fn root(&self) -> u32 {
        self.kept.root()
    }

    /// What holds it to its limits: `active: ..` or `inactive: ..`.
    pub fn confinement(&self) -> String {
        self.confinement.in_words()
    }

    /// The command's own process.
    pub fn pid(&self) -> u32 {
        self.kept.command.pid
    }

    /// What it has logged so far.
    pub fn logs(&self) -> Logs {
        look(&self.stderr, super::logs::Output::logs)
    }

    /// The last lines it has printed on stderr so far.
    pub fn stderr_tail(&self) -> Vec<String> {
        look(&self.stderr, |output| output.tail(QUOTED_LINES))
    }

    /// Where its threads are, against where they should be.
    pub fn verify_cores(&self, system: &[u32]) -> Pinning {
        cores::verify(Tree::Below(self.root()), system)
    }

    /// Orders it to stop, SIGTERM to its whole tree and SIGKILL to what is left after `within`, and does not wait. What
    /// follows is its answer to the order, and never a death. The instant is that of the first order.
    pub fn order_stop(&self, within: Duration) -> Duration {
        let at = *self.known.look().stop_ordered.get_or_insert_with(|| self.clock.now());
        // A keeper whose tree is empty has left, and then there is nothing to stop.
        let _ordered = self.kept.stop(within);
        at
    }

    /// When nothing of it was left, if that is so and was seen.
    pub fn gone_at(&self) -> Option<Duration> {
        self.known.look().gone_at
    }

    /// Stops it: SIGTERM to its whole tree, SIGKILL to what is left after `within`. Returns when nothing is left.
    pub fn stop(mut self, within: Duration) -> Stopped {
        self.order_stop(within);
        self.known.wait_gone(within + STOP_MARGIN);
        let capped = self.cap.take().and_then(Cap::finish);
        let confined = self.confinement.counted();
        let left = self.kept.end();
        await_end(self.threads.drain(..));
        let tail = look(&self.stderr, Output::whole_tail);
        let mut ending = self.ending(within, &tail, confined.as_ref());
        if let Some(capped) = capped {
            let died = ending.kind != EndingKind::Stopped;
            ending = if died {
                Ending { note: Some(capped), oom: Some(false), ..ending }
            } else {
                noted(ending, [Some(&capped)])
            };
        }
        let left: Vec<u32> = left.iter().map(|process| process.pid).chain(self.known.look().left.clone()).collect();
        if !left.is_empty() {
            ending.note = Some(format!("processes that not even SIGKILL ended: {left:?}"));
        }
        Stopped { ending, logs: self.logs(), confined, events_dropped: self.known.look().dropped }
    }

    /// A limit of its own has its own count of kills; without one there are only signs.
    fn ending(&self, grace: Duration, tail: &[String], confined: Option<&Confined>) -> Ending {
        let end = self.known.look();
        if let Some(death) = end.death {
            let oom = match confined.and_then(|confined| confined.oom_kills) {
                Some(kills) => Oom::counted(kills),
                None => self.signs.verdict(&[&[self.kept.command.pid], end.served.as_slice()].concat()),
            };
            let ending = death::of_death(death, tail, oom);
            return noted(ending, [end.survivor.as_ref(), end.successor.as_ref()]);
        }
        let at = end.stopped.map_or_else(|| self.clock.now(), |(_, at)| at);
        let stop = Stop {
            ordered: end.stop_ordered.unwrap_or(at),
            grace,
            command: end.stopped.map(|(how, _)| how),
            ended: end.last_ended,
            killed: end.last_killed,
        };
        let ending = death::of_stop(stop, at, tail);
        match &end.fault {
            Some(fault) => noted(Ending { note: None, ..ending }, [Some(fault)]),
            None => noted(ending, [end.successor.as_ref()]),
        }
    }
}

/// With more to its note.
fn noted<const N: usize>(ending: Ending, more: [Option<&String>; N]) -> Ending {
    let notes = ending.note.iter().chain(more.into_iter().flatten()).cloned();
    Ending { note: notes.reduce(|note, more| format!("{note}; {more}")), ..ending }
}

/// What to do about a bot that has not asked for its updates.
fn no_bot(stub: &Stub, launch: &Launch, root: u32) -> String {
    match (stub.attendance().calls, &launch.redirect) {
        (0, Some(redirect)) => redirect.advice(root, &stub.url()),
        (0, None) | (1.., _) => "Does it poll or set a webhook?".to_owned(),
    }
}
