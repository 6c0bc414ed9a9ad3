//! Starts the rig on a small scenario of a test's own, and reads what it left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Far longer than any run here takes: a bound for a hang.
const LONGEST: Duration = Duration::from_secs(180);

/// A scenario of two seconds: 4 groups of 5 players, each opening the app and guessing twice. It is written twice as
/// large, because tests run it with `--quick`: a shared machine must not fail a change.
pub(crate) const SMALL: &str = r#"
name = "small"
seed = 11

[system]
dir = "."
command = ["WORDLE"]
ready = "/healthz"
env = { CALIBRATE = "1", REFRESH_INTERVAL = "500ms", RENDERS_AT_ONCE = "2", SEND_QUEUE = "on", RECOVERY = "wait" }

[crowd]
groups = 8
players_per_group = 5
settle = "5s"

[[journey]]
name = "play"
arrive.burst.over = "2s"
init_data = "authorization"
steps = [
  { act = "open", post = "/api/session" },
  { act = "guess", post = "/api/guess", json = { word = "{word}" }, repeat = 4, think = "200ms..400ms", shows = { chat = "{chat.id}", version = "/version" } },
]
"#;

/// One test's folder, scenario and runs.
#[derive(Debug)]
pub(crate) struct Rig {
    folder: Rc<TempDir>,
    arguments: Vec<String>,
    exported: Vec<(String, String)>,
    quick: bool,
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) status: Option<i32>,
    pub(crate) stderr: String,
    pub(crate) stdout: String,
    /// Shared with the rig, so that the files stay for as long as anyone may read them.
    folder: Rc<TempDir>,
}

impl Rig {
    /// A scenario with `WORDLE` replaced by the example system's path.
    pub(crate) fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = scenario.replace("WORDLE", wordle().to_str().expect("a path in UTF-8"));
        fs::write(folder.path().join("s.toml"), text).expect("the scenario is written");
        Self { folder: Rc::new(folder), arguments: Vec::new(), exported: Vec::new(), quick: true }
    }

    /// A scenario with pieces replaced; each must occur.
    pub(crate) fn changed(scenario: &str, changes: &[(&str, &str)]) -> Self {
        let mut text = scenario.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "the scenario holds {from}");
            text = text.replace(from, to);
        }
        Self::new(&text)
    }

    /// [`SMALL`] with pieces replaced.
    pub(crate) fn small(changes: &[(&str, &str)]) -> Self {
        Self::changed(SMALL, changes)
    }

    /// With a file beside the scenario, as the system's program.
    pub(crate) fn holding(self, name: &str, text: &str) -> Self {
        fs::write(self.path().join(name), text).expect("the file is written");
        self
    }

    /// With more at the scenario's end.
    pub(crate) fn and(self, more: &str) -> Self {
        let path = self.path().join("s.toml");
        let text = fs::read_to_string(&path).expect("the scenario is read");
        fs::write(&path, text + more).expect("the scenario is written");
        self
    }

    /// More arguments for `run`.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// With a variable in the user's environment.
    pub(crate) fn exporting(mut self, name: &str, value: &str) -> Self {
        self.exported.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Judged as a run before a release is, on a machine that is its own.
    pub(crate) fn judged(self) -> Self {
        Self { quick: false, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_floodrig"));
        command.arg("run").arg("s.toml").args(["--out", "out"]).args(&self.arguments);
        command.args(self.quick.then_some("--quick"));
        command.envs(self.exported.iter().cloned());
        command.current_dir(self.folder.path()).env_remove("FLOODRIG_QUICK").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self) -> Left {
        self.wait(self.start())
    }

    /// Runs to the end below this program, which is to become the command that it is given.
    pub(crate) fn run_below(&self, program: &[&str]) -> Left {
        self.wait(self.start_below(program, |_| {}))
    }

    fn below(&self, program: &[&str]) -> Command {
        let rig = self.command();
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(rig.get_program()).args(rig.get_args()).envs(self.exported.iter().cloned());
        command.current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_remove("FLOODRIG_QUICK");
        command
    }

    /// Starts below this program, which is to become the command that it is given, changed by the caller.
    pub(crate) fn start_below(&self, program: &[&str], change: impl FnOnce(&mut Command)) -> Child {
        let mut command = self.below(program);
        change(&mut command);
        command.spawn().expect("the program starts")
    }

    /// Another command in the folder.
    pub(crate) fn floodrig(&self, arguments: &[&str]) -> Left {
        let mut command = Command::new(env!("CARGO_BIN_EXE_floodrig"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the rig starts");
        self.left(&ended(child))
    }

    /// Starts and goes on.
    pub(crate) fn start(&self) -> Child {
        self.command().spawn().expect("the rig starts")
    }

    /// Waits for the end of a started run.
    pub(crate) fn wait(&self, rig: Child) -> Left {
        self.left(&ended(rig))
    }

    /// What is recorded so far.
    pub(crate) fn recorded(&self) -> String {
        fs::read_to_string(self.path().join("out/run.jsonl")).unwrap_or_default()
    }

    /// Waits until the load has begun.
    pub(crate) fn load_has_begun(&self) {
        eventually("the load has begun", || self.recorded().contains("\"row\":\"interval\""));
    }

    /// The example system's process, once the load has begun.
    pub(crate) fn up(&self) -> u32 {
        self.load_has_begun();
        let mut system = None;
        eventually("the system runs", || {
            system = process_named(self.path(), "wordle");
            system.is_some()
        });
        system.expect("just seen")
    }

    fn left(&self, output: &Output) -> Left {
        Left {
            status: output.status.code(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            folder: Rc::clone(&self.folder),
        }
    }
}

impl Left {
    /// `summary.json`.
    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(&self.file("summary.json")).expect("summary.json is JSON")
    }

    /// What the report says of one observation: active, or why not.
    pub(crate) fn observed(&self, what: &str) -> String {
        self.summary()["observations"][what].as_str().expect("every observation says what it is").to_owned()
    }

    /// A file of the run.
    pub(crate) fn file(&self, name: &str) -> String {
        let path = self.folder.path().join("out").join(name);
        fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{}: {cause}\n{}", path.display(), self.stderr))
    }

    /// Asserts the status, showing what was said.
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that every planned act has its one sample.
    pub(crate) fn complete(self) -> Self {
        for (name, act) in self.summary()["acts"].as_object().expect("acts") {
            let failed: u64 = act["outcomes"].as_object().expect("outcomes").values().filter_map(Value::as_u64).sum();
            assert_eq!(act["planned"].as_u64(), act["ok"].as_u64().map(|ok| ok + failed), "{name}: {act}");
        }
        self
    }
}

/// Waits for a rig to end. One that hangs is killed, which its status then tells with all that it has said.
pub(crate) fn ended(rig: Child) -> Output {
    let pid = rig.id();
    let (done, over) = mpsc::channel::<()>();
    let guard = thread::spawn(move || {
        if over.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
            kill(pid, "KILL");
        }
    });
    let output = rig.wait_with_output().expect("the rig ends");
    drop(done);
    guard.join().expect("the guard ends");
    output
}

/// The example system's binary, built once.
pub(crate) fn wordle() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("--bin", "wordle"))
}

/// The server with a pool of connections to a real Postgres, built once.
pub(crate) fn pooled() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("--bin", "pooled"))
}

/// The bot in Rust that knows nothing of the rig, built once.
pub(crate) fn unchanged() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("--example", "unchanged"))
}

/// Of the whole workspace, so that what the tests were built with is not built again with fewer features.
fn built(kind: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--message-format", "json", "--workspace", kind, name]).current_dir(root);
    // What cargo tells these tests of their own package is not for another cargo: a build script that asks for it (ring's)
    // would run again, and once more for whoever builds afterwards, with all that is built on it.
    let tells = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(tells)) {
        build.env_remove(name);
    }
    let output = build.stderr(Stdio::inherit()).output().expect("cargo runs");
    assert!(output.status.success(), "{name} builds");
    let lines = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let mut executables = lines.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executables.next_back().expect("cargo names the binary")
}

/// Waits until `what` holds, for at most half a minute.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes whose working directory is under `folder`, zombies left out: what a run started and what it is.
pub(crate) fn processes_in(folder: &Path) -> Vec<u32> {
    let folder = folder.canonicalize().expect("the folder exists");
    let entries = fs::read_dir("/proc").expect("/proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))).collect()
}

/// The first such process that runs this command.
pub(crate) fn process_named(folder: &Path, name: &str) -> Option<u32> {
    let runs = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split('\0').next().is_some_and(|first| first.ends_with(name)))
    };
    processes_in(folder).into_iter().find(runs)
}

/// Sends a signal.
pub(crate) fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().expect("kill runs");
    assert!(status.success(), "kill -{signal} {pid}");
}
