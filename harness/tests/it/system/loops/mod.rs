//! Systems with an event loop, in Node and in Python, which stall when a test asks them to, past the rig.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use floodrig::system::{Clock, System};
use floodrig::vitals::{Folder, Observed, Observer, Subject};
use floodrig_reports::recording::{Observations, Row, Stack, Stall, StallKind, Towards, Vital};

use super::support::{LONG, Run, below, shell, subject, until};
use crate::tools;

/// What runs the small server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Node,
    Python,
}

impl Language {
    pub(crate) const BOTH: [Self; 2] = [Self::Node, Self::Python];

    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python3",
        }
    }

    pub(crate) fn server(self) -> String {
        let name = match self {
            Self::Node => "server.cjs",
            Self::Python => "server.py",
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/system/loops").join(name).display().to_string()
    }

    /// Those that this machine has.
    pub(crate) fn here() -> Vec<Self> {
        Self::BOTH.into_iter().filter(|language| tools::here(&[language.program()])).collect()
    }
}

/// A running system, observed.
pub(crate) struct Loop {
    pub(crate) run: Run,
    pub(crate) system: System,
    pub(crate) folder: Arc<Folder>,
    pub(crate) observations: Observations,
    port: u16,
    observer: Observer,
}

/// Whether the loop's own word is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Inside,
    Stacks,
    OutsideOnly,
}

impl Loop {
    pub(crate) fn start(language: Language, look: Look) -> Self {
        Self::of(&format!("exec {} {}", language.program(), language.server()), &[], look)
    }

    /// Whose server runs where this word says, as the servers' own files tell.
    pub(crate) fn running(language: Language, loops: &str) -> Self {
        let script = format!("exec {} {}", language.program(), language.server());
        Self::of(&script, &[("LOOPS", loops)], Look::Inside)
    }

    /// Which may have so many open files.
    pub(crate) fn limited(language: Language, open_files: u64) -> Self {
        let script = format!("ulimit -n {open_files}; exec {} {}", language.program(), language.server());
        Self::of(&script, &[], Look::Inside)
    }

    /// Of this shell script, with these variables set before the probes are put in.
    pub(crate) fn of(script: &str, env: &[(&str, &str)], look: Look) -> Self {
        let run = Run::new();
        let folder = Folder::create().unwrap();
        let folder = Arc::new(if look == Look::Stacks { folder.with_stacks() } else { folder });
        let mut launch = shell(script);
        launch.env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        put_in(&mut launch.env, &launch.port.to_string(), &folder);
        launch.remove = vec![folder.root().to_owned()];
        let system = System::start(&launch, run.watch(), &mut |_| {}).unwrap();
        let observer = Observer::start(watched(&system, launch.port, &folder, look), run.epoch, run.to_rows());
        let mut observations = Observations::default();
        observer.describe(&mut observations);
        Self { run, system, folder, observations, port: launch.port, observer }
    }

    /// With another observer, after something has been done to the system's process.
    pub(crate) fn observed_again(self, done: impl FnOnce(u32)) -> Self {
        let Self { run, system, folder, observations, port, observer } = self;
        observer.finish();
        done(system.pid());
        run.rows.try_iter().for_each(drop);
        let observer = Observer::start(watched(&system, port, &folder, Look::Inside), run.epoch, run.to_rows());
        Self { run, system, folder, observations, port, observer }
    }

    /// With another observer, to whom it is a bot that need not listen and calls this port.
    pub(crate) fn observed_as_a_bot_of(self, stub: u16) -> Self {
        let Self { run, system, folder, mut observations, port, observer } = self;
        observer.finish();
        let subject = Subject {
            address: Err("a bot".to_owned()),
            neighbours: [(stub, Towards::STUB.to_owned())].into(),
            ..watched(&system, port, &folder, Look::Inside)
        };
        let observer = Observer::start(subject, run.epoch, run.to_rows());
        observer.describe(&mut observations);
        Self { run, system, folder, observations, port, observer }
    }

    /// Orders a stall and returns what the server says it did.
    pub(crate) fn stall(&self, kind: StallKind, ms: u64) -> Done {
        let kind = if kind == StallKind::Blocked { "blocked" } else { "computing" };
        let words = self.told(&format!("/stall?ms={ms}&kind={kind}"));
        let [from_ns, to_ns, cpu_ns] = words[..] else { panic!("{words:?}") };
        let [from, to] = self.instants([from_ns, to_ns]);
        Done { from, len: to.saturating_sub(from), cpu: Duration::from_nanos(cpu_ns) }
    }

    /// When the server served nobody, by its own account: from and to. Two between which there was but a moment are
    /// one.
    pub(crate) fn pauses(&self) -> Vec<[Duration; 2]> {
        let told = self.told("/pauses");
        let mut pauses: Vec<[Duration; 2]> = Vec::new();
        for [from, to] in told.chunks_exact(2).map(|pause| self.instants([pause[0], pause[1]])) {
            match pauses.last_mut() {
                Some([_, ended]) if from.saturating_sub(*ended) < Duration::from_millis(10) => *ended = to,
                _ => pauses.push([from, to]),
            }
        }
        pauses
    }

    /// Orders something and waits for its end.
    pub(crate) fn order(&self, path: &str) {
        request(self.port, path);
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its processes.
    pub(crate) fn pids(&self) -> Vec<u32> {
        below(self.system.root()).iter().map(|process| process.pid).collect()
    }

    /// Whether somebody answers there now.
    pub(crate) fn answers(&self) -> bool {
        let Ok(mut to) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)) else { return false };
        to.set_read_timeout(Some(LONG)).unwrap();
        let asked = write!(to, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        asked.is_ok() && matches!(to.read(&mut [0; 64]), Ok(1..))
    }

    fn told(&self, path: &str) -> Vec<u64> {
        request(self.port, path).split_whitespace().map(|word| word.parse().unwrap()).collect()
    }

    fn instants(&self, ns: [u64; 2]) -> [Duration; 2] {
        let clock = Clock::new(self.run.epoch);
        ns.map(|ns| clock.of_monotonic_ns(ns))
    }

    /// Orders a stall that nobody waits for.
    pub(crate) fn stall_alone(&self, ms: u64) {
        let mut to = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(to, "POST /stall?ms={ms}&kind=computing HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        std::thread::spawn(move || to.read(&mut [0; 64]));
    }

    /// The next stall that is recorded, with the process that it belongs to.
    pub(crate) fn next_stall(&self) -> Stall {
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            if let Row::Stall(stall) = self.run.rows.recv_timeout(LONG).unwrap() {
                return stall;
            }
        }
        panic!("no stall within {LONG:?}");
    }

    /// The stack of a stall that began at this instant; nothing: none came within two seconds.
    pub(crate) fn stack_of(&self, from: Duration) -> Option<Stack> {
        let until = Instant::now() + Duration::from_secs(2);
        while let Ok(row) = self.run.rows.recv_timeout(until.saturating_duration_since(Instant::now())) {
            match row {
                Row::Stack(stack) if stack.at_us > from.as_micros() as u64 - 25_000 => return Some(stack),
                _ => {}
            }
        }
        None
    }

    pub(crate) fn next_vital(&self) -> Vital {
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            if let Row::Vital(vital) = self.run.rows.recv_timeout(LONG).unwrap() {
                return vital;
            }
        }
        panic!("no vital within {LONG:?}");
    }

    pub(crate) fn under_way(&self) {
        until("the stall under way", || (self.next_vital().stalling_us? > 300_000).then_some(()));
    }

    /// Requests from so many connections, each as fast as it is answered.
    pub(crate) fn load(&self, connections: usize, path: &'static str) -> Load {
        self.load_by(connections, move |port, load| {
            let mut to = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            while load.goes_on() {
                load.ask(&mut to, path);
            }
        })
    }

    /// Requests of so many players, each over a new connection.
    pub(crate) fn load_anew(&self, players: usize, path: &'static str) -> Load {
        self.load_by(players, move |port, load| {
            while load.goes_on() {
                load.ask(&mut TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap(), path);
            }
        })
    }

    fn load_by(&self, players: usize, play: impl Fn(u16, &mut Player) + Clone + Send + 'static) -> Load {
        let (stop, there) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let one = |_| {
            let mut player = Player { stop: Arc::clone(&stop), there: Some(Arc::clone(&there)) };
            let (port, play) = (self.port, play.clone());
            std::thread::spawn(move || play(port, &mut player))
        };
        let threads = (0..players).map(one).collect();
        Load { stop, there, threads }
    }

    /// Ends it all: every stall from inside that is not yet taken, and what was found from outside.
    pub(crate) fn end(self) -> (Vec<Stall>, Observed) {
        let outside = self.observer.finish();
        self.system.stop(LONG);
        let inside =
            self.run.rows.try_iter().filter_map(|row| if let Row::Stall(stall) = row { Some(stall) } else { None });
        (inside.collect(), outside)
    }
}

/// What a server says it did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    pub(crate) from: Duration,
    pub(crate) len: Duration,
    pub(crate) cpu: Duration,
}

impl Done {
    /// How far a stall is from this, at its start and in its length.
    pub(crate) fn off(&self, stall: &Stall) -> Duration {
        let (from, len) = (Duration::from_micros(stall.from_us), Duration::from_micros(stall.len_us));
        from.abs_diff(self.from).max(len.abs_diff(self.len))
    }
}

/// A load under way.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    /// How many players have had an answer.
    there: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn everybody_is_there(&self) {
        until("an answer to everybody", || (self.there.load(Ordering::Relaxed) == self.threads.len()).then_some(()));
    }

    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

struct Player {
    stop: Arc<AtomicBool>,
    /// To be told of the first answer.
    there: Option<Arc<AtomicUsize>>,
}

impl Player {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn ask(&mut self, to: &mut TcpStream, path: &str) {
        write!(to, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert!(to.read(&mut [0; 1024]).unwrap() > 0);
        if let Some(there) = self.there.take() {
            there.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn put_in(env: &mut BTreeMap<String, String>, port: &str, folder: &Folder) {
    env.insert("PORT".to_owned(), port.to_owned());
    folder.put_into(env);
}

fn watched(system: &System, port: u16, folder: &Arc<Folder>, look: Look) -> Subject {
    Subject {
        command: Some(system.pid()),
        heartbeat: match look {
            Look::Inside | Look::Stacks => Ok(Arc::clone(folder)),
            Look::OutsideOnly => Err("not asked for".to_owned()),
        },
        ..subject(system.root(), port)
    }
}

fn request(port: u16, path: &str) -> String {
    let mut to = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    write!(to, "POST {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    loop {
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            if body.len() == length.expect("the servers say it").parse::<usize>().unwrap() {
                return body.to_owned();
            }
        }
        let mut bytes = [0; 4096];
        let read = to.read(&mut bytes).unwrap();
        assert!(read > 0, "{answer}");
        answer.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
}
