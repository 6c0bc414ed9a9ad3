//! A system for tests: a shell command, with a listener that the test opens for it where it must be ready.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use floodrig::exchange::Speech;
use floodrig::keeper::{Identity, Program, Tree};
use floodrig::record::InFlight;
use floodrig::redirect::Lookout;
use floodrig::scenario::{Cores, Ready};
use floodrig::stop::Stop;
use floodrig::system::{Launch, Limits, StartError, System, Watch, cores, port};
use floodrig::vitals::{Subject, Threads};
use floodrig_reports::recording::Row;
use rustix::process::{Pid, Signal, kill_process};

/// Far longer than anything here takes: a bound for a hang, not a measurement.
pub(crate) const LONG: Duration = Duration::from_secs(30);

pub(crate) fn program() -> Program {
    Program(PathBuf::from(env!("CARGO_BIN_EXE_floodrig")))
}

/// A launch of a shell script on a free port, unpinned enough to run anywhere.
pub(crate) fn shell(script: &str) -> Launch {
    Launch {
        program: program(),
        dir: PathBuf::from("/"),
        command: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
        env: BTreeMap::new(),
        port: port::choose(None).unwrap(),
        cores: cores::split(&Cores::Count(1), &cores::machine().unwrap()).unwrap(),
        open_files: None,
        speech: Speech::default(),
        remove: Vec::new(),
        open_files_at_most: None,
        limits: Limits::default(),
        scratch: None,
        ready: Ready::Accepts,
        stub: None,
        redirect: None,
        ready_within: LONG,
        stop_within: Duration::from_millis(200),
    }
}

/// A script that does this when the test says so, by way of a file `now` in the folder.
pub(crate) fn dies_by(act: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("while [ ! -e {}/now ]; do sleep 0.01; done; {act}", dir.path().display());
    (dir, script)
}

/// What a run would hold.
pub(crate) struct Run {
    pub(crate) epoch: Instant,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) rows: Receiver<Row>,
    watch: Watch,
}

impl Run {
    #[expect(clippy::disallowed_methods, reason = "a test stands in for `run`, which reads the epoch")]
    pub(crate) fn new() -> Self {
        let (to, rows) = sync_channel(1000);
        let (epoch, in_flight) = (Instant::now(), Arc::new(InFlight::default()));
        let watch = Watch {
            epoch,
            rows: to,
            in_flight: Arc::clone(&in_flight),
            service: None,
            stop: Stop::default(),
            lookout: Lookout::default(),
        };
        Self { epoch, in_flight, rows, watch }
    }

    /// So many acts begin now.
    pub(crate) fn begin(&self, acts: u64) {
        (0..acts).for_each(|_| self.in_flight.begin());
    }

    /// What a system's watcher is told.
    pub(crate) fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// The word that the run is to end.
    pub(crate) fn stop(&self) -> &Stop {
        &self.watch.stop
    }

    /// Where rows go.
    pub(crate) fn to_rows(&self) -> SyncSender<Row> {
        self.watch.rows.clone()
    }

    /// Starts a system whose port the test itself opens as soon as it is waited for.
    pub(crate) fn start(&self, launch: &Launch) -> Result<System, StartError> {
        let mut listener = None;
        System::start(launch, self.watch.clone(), &mut |_| {
            let at = (Ipv4Addr::LOCALHOST, launch.port);
            listener = listener.take().or_else(|| TcpListener::bind(at).ok());
        })
    }

    /// Starts a system that opens its port, or calls the stub, by itself.
    pub(crate) fn start_serving(&self, launch: &Launch) -> Result<System, StartError> {
        System::start(launch, self.watch.clone(), &mut |_| {})
    }

    /// Starts a system for which the test answers every connection with these bytes.
    pub(crate) fn start_answering(&self, launch: &Launch, answer: &'static [u8]) -> Result<System, StartError> {
        let mut serving = false;
        System::start(launch, self.watch.clone(), &mut |_| {
            if !std::mem::replace(&mut serving, true) {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, launch.port)).unwrap();
                std::thread::spawn(move || {
                    for mut stream in listener.incoming().flatten() {
                        let asked = stream.read(&mut [0; 1024]);
                        let _answered = asked.and_then(|_| stream.write_all(answer));
                    }
                });
            }
        })
    }

    /// Starts a system that nobody makes ready, and collects what it is waited for.
    pub(crate) fn start_alone(&self, launch: &Launch) -> (StartError, Vec<String>) {
        let mut heard = Vec::new();
        let progress = &mut |text: &str| heard.push(text.to_owned());
        let error = System::start(launch, self.watch.clone(), progress).unwrap_err();
        (error, heard)
    }
}

/// Waits for something that must come to be.
#[expect(clippy::disallowed_methods, reason = "a bound for a hang")]
pub(crate) fn until<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    while Instant::now() < deadline {
        if let Some(found) = seen() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("not seen within {LONG:?}: {what}");
}

/// What lives below a root and listens on this port, to be watched from outside and by the kernel.
pub(crate) fn subject(root: u32, port: u16) -> Subject {
    let cores = cores::machine().unwrap();
    Subject {
        tree: Ok(Tree::Below(root)),
        command: None,
        address: Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        path: Ok("/".to_owned()),
        connects: Ok(()),
        often: false,
        system_cores: cores.clone(),
        seen_cores: cores.clone(),
        rig_cores: cores,
        threads: Threads::default(),
        heartbeat: Err("the test has none".to_owned()),
        neighbours: BTreeMap::new(),
        services: Vec::new(),
    }
}

/// Signals one process.
pub(crate) fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

/// Everything alive below a root.
pub(crate) fn below(root: u32) -> Vec<Identity> {
    floodrig::keeper::descendants(root)
}

/// Everything of these has ended.
pub(crate) fn all_ended(processes: &[Identity]) -> bool {
    processes.iter().all(|process| Identity::of(process.pid) != Some(*process))
}
