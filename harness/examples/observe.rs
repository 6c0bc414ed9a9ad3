//! Observes a system for a while, with nothing else going on, and says what it saw and what seeing it cost the rig.
//!
//! usage: `observe RIG WAY SECONDS COMMAND...`, where RIG is the `floodrig` binary, which keeps the system, and WAY how
//! stalls are watched for: `inside`, with what goes with that, or from outside alone by `requests`, by `connects`, by
//! `both` or by `neither`. The command finds its port in PORT. One line of JSON: the stalls, from inside and from
//! outside, and the CPU time of the observer and of the system.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use floodrig::exchange::Speech;
use floodrig::keeper::{Program, Tree};
use floodrig::redirect::Lookout;
use floodrig::scenario::{Cores, Ready};
use floodrig::stop::Stop;
use floodrig::system::{Launch, System, Watch, cores, port};
use floodrig::vitals::{Folder, Observed, Observer, Subject, Threads};
use floodrig_reports::recording::{Observations, Row, Stall};
use rustix::time::{ClockId, clock_gettime};

/// Rows that may wait: they are taken once a second, and there are some ten a second.
const ROWS: usize = 1000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [rig, way, seconds, command @ ..] = words.as_slice() else {
        panic!("usage: observe RIG WAY SECONDS COMMAND...")
    };
    let length = Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let line = observe(rig, way, length, command);
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

#[expect(clippy::disallowed_methods, reason = "an example stands in for `run`, which reads the epoch")]
fn observe(rig: &str, way: &str, length: Duration, command: &[String]) -> serde_json::Value {
    let folder = Arc::new(Folder::create().expect("a folder in memory"));
    let launch = launch(rig, command, &folder);
    let (to_rows, rows) = sync_channel(ROWS);
    let epoch = Instant::now();
    let (rows_in, in_flight) = (to_rows.clone(), Arc::default());
    let (stop, lookout) = (Stop::default(), Lookout::default());
    let watch = Watch { epoch, rows: rows_in, in_flight, service: None, stop, lookout };
    let system = System::start(&launch, watch, &mut |_| {}).expect("the system is ready");
    let before = own_cpu();
    let observer = Observer::start(subject(&system, &launch, (way, folder)), epoch, to_rows);
    let mut observations = Observations::default();
    observer.describe(&mut observations);
    let (mut inside, mut system_cpu) = (Vec::new(), Vec::new());
    while epoch.elapsed() < length {
        std::thread::sleep(Duration::from_secs(1));
        take(&rows, &mut inside, &mut system_cpu);
    }
    let threads = threads_cpu();
    let Observed { stalls: outside, tree_cpu, .. } = observer.finish();
    let cpu = own_cpu().saturating_sub(before);
    take(&rows, &mut inside, &mut system_cpu);
    system.stop(launch.stop_within);
    serde_json::json!({
        "observations": observations,
        "seconds": length.as_secs(),
        "inside": inside,
        "outside": outside,
        "cpu_us_per_second_by_thread":
            threads.into_iter().map(|(name, us)| (name, us / length.as_secs_f64())).collect::<BTreeMap<_, _>>(),
        "system_cpu_us_per_second": per_second(&system_cpu),
        "tree_cpu_us_per_second": tree_cpu.as_secs_f64() * 1e6 / length.as_secs_f64(),
        "cpu_us_per_second": cpu.as_micros() as f64 / length.as_secs_f64(),
    })
}

/// The CPU time of each living thread by its name, in microseconds; those of one name together.
fn threads_cpu() -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let tasks = std::fs::read_dir("/proc/self/task").expect("/proc").flatten();
    for task in tasks.map(|task| task.path()) {
        let read = |file| std::fs::read_to_string(task.join(file)).unwrap_or_default();
        let ns = read("schedstat").split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0);
        *all.entry(read("comm").trim().to_owned()).or_default() += ns / 1e3;
    }
    all
}

/// What the system's processes used, between the first look and the last.
fn per_second(used: &[(u64, u64)]) -> Option<f64> {
    let ((from_us, before), (to_us, after)) = (used.first()?, used.last()?);
    Some((after - before) as f64 * 1e6 / (to_us - from_us) as f64)
}

fn launch(rig: &str, command: &[String], folder: &Folder) -> Launch {
    let machine = cores::machine().expect("the machine has cores");
    let port = port::choose(None).expect("a free port");
    let mut env = BTreeMap::from([("PORT".to_owned(), port.to_string())]);
    folder.put_into(&mut env);
    Launch {
        program: Program(PathBuf::from(rig)),
        dir: PathBuf::from("."),
        command: command.to_vec(),
        env,
        port,
        cores: cores::split(&Cores::Count(1), &machine).expect("a core for the system"),
        open_files: None,
        open_files_at_most: None,
        limits: floodrig::system::Limits::default(),
        scratch: None,
        speech: Speech::default(),
        remove: vec![folder.root().to_owned()],
        ready: Ready::Accepts,
        stub: None,
        redirect: None,
        ready_within: Duration::from_secs(30),
        stop_within: Duration::from_secs(1),
    }
}

fn subject(system: &System, launch: &Launch, (way, folder): (&str, Arc<Folder>)) -> Subject {
    let by = |ways: &[&str]| if ways.contains(&way) { Ok(()) } else { Err(format!("watched by {way}")) };
    Subject {
        tree: Ok(Tree::Below(system.root())),
        command: Some(system.pid()),
        address: Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, launch.port))),
        neighbours: std::collections::BTreeMap::new(),
        services: Vec::new(),
        path: by(&["inside", "both", "requests"]).map(|()| "/".to_owned()),
        connects: by(&["inside", "both", "connects"]),
        often: false,
        system_cores: launch.cores.system.clone(),
        seen_cores: launch.cores.system.clone(),
        rig_cores: launch.cores.rig.clone(),
        threads: Threads::default(),
        heartbeat: by(&["inside"]).map(|()| folder),
    }
}

fn take(rows: &Receiver<Row>, stalls: &mut Vec<Stall>, used: &mut Vec<(u64, u64)>) {
    for row in rows.try_iter() {
        match row {
            Row::Stall(stall) => stalls.push(stall),
            Row::Vital(vital) => used.push((vital.at_us, vital.pids.iter().map(|pid| pid.cpu_us).sum())),
            _ => {}
        }
    }
}

fn own_cpu() -> Duration {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}
