//! `[system]`, checked.

use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::de::DeValue;

use super::attach::{self, Attach, HIGHEST_PID};
use super::check::{bounded, positive};
use super::complaint::Complaint;
use super::file::{DURATION, ten_seconds, thirty_seconds};
use super::heartbeat::Heartbeat;
use super::number_or_list::NumberOrList;
use super::outside::Outside;
use super::program::{Ready, command, environment, port};
use super::speech::{self, TlsTable};
use super::spot::Spot;
use super::template::Template;
use super::{step, words};
use crate::exchange::Speech;

/// Less than a shell needs to start another program.
const LEAST_MEMORY: u64 = 4 << 20;
/// More than any machine has.
const MOST_CORES: u32 = 4096;
/// The kernel's least quota is 1 ms in a period of 100 (`cpu.cfs_quota_us`).
const LEAST_CPU: f64 = 0.01;
const MOST_CPU: f64 = MOST_CORES as f64;
/// Three for standard streams, some for libraries while the program is loaded, and one to listen.
pub(super) const LEAST_FILES: u64 = 16;
/// What `fs.nr_open` can be raised to (`sysctl_nr_open_max` of Linux's `fs/file.c`).
pub(super) const MOST_FILES: u64 = i32::MAX as u64 & !63;

/// What says that a folder is where a program is built and run from.
const MANIFESTS: [&str; 12] = [
    ".git",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "deno.json",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pom.xml",
    "build.gradle",
];

/// The word for a system that is ready once it asks for updates; a path begins with a slash.
const BOT: &str = "bot";

/// The system under test.
#[derive(Debug, Clone)]
pub struct System {
    /// Where `build` and `command` run.
    pub dir: PathBuf,
    /// Run before the system starts.
    pub build: Option<Vec<String>>,
    /// The system itself; empty where the rig attaches to one.
    pub command: Vec<String>,
    /// The system that runs already, in place of a command.
    pub attach: Option<Attach>,
    /// Which cores it gets.
    pub cores: Cores,
    /// As many bytes of memory as its whole tree may use.
    pub memory: Option<u64>,
    /// How many cores' worth of CPU time it may use.
    pub cpu: Option<f64>,
    /// How many open files it may have.
    pub open_files: Option<u64>,
    /// Its environment beyond the rig's own: names and templated values.
    pub env: BTreeMap<String, Template>,
    /// The port it listens on; nothing: a free one.
    pub port: Option<u16>,
    /// How it is spoken to.
    pub speech: Speech,
    /// When it counts as ready.
    pub ready: Ready,
    /// Whether its own loop tells of its stalls.
    pub heartbeat: Heartbeat,
    /// How it is watched from outside.
    pub outside: Outside,
    /// How long it may take to become ready.
    pub ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    pub stop_within: Duration,
}

/// Which cores the system gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cores {
    /// That many, the last ones of the machine.
    Count(u32),
    /// Exactly these.
    List(Vec<u32>),
}

/// The system under test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "System")]
pub(super) struct SystemTable {
    /// Where `build` and `command` run, from the scenario's folder; by default the nearest folder above that
    /// has a `.git` or a manifest.
    pub(super) dir: Option<String>,
    /// A command and its arguments, run before the system starts.
    pub(super) build: Option<Vec<String>>,
    /// The command that starts the system, and its arguments.
    pub(super) command: Option<Vec<String>>,
    /// Where a system listens that runs already, such as `http://127.0.0.1:8080`, instead of a command: nothing is
    /// started or stopped.
    pub(super) url: Option<String>,
    /// The process of the system at `url`, when it runs on this machine: then its memory, CPU and death are watched.
    #[schemars(range(min = 1, max = HIGHEST_PID))]
    pub(super) pid: Option<u32>,
    /// How many cores it gets, or which ones; the rig keeps off them.
    #[serde(default = "one_core")]
    pub(super) cores: NumberOrList,
    /// As much memory as it may use, all its processes together, as on a small server: `"512MiB"`.
    #[schemars(with = "Option<String>")]
    pub(super) memory: Option<bytesize::ByteSize>,
    /// How many cores' worth of CPU time it may use, such as 1.5.
    #[schemars(range(min = LEAST_CPU, max = MOST_CPU))]
    pub(super) cpu: Option<f64>,
    /// How many open files it may have; by default as many as the rig was started with.
    #[schemars(range(min = LEAST_FILES, max = MOST_FILES))]
    pub(super) open_files: Option<u64>,
    /// Its environment beyond `PORT`, `BOT_TOKEN` and `TELEGRAM_API_ROOT`; `{system.port}`, `{stub.url}`,
    /// `{bot.token}` and `{service.NAME.port}` stand for what the rig chose.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The port it listens on; by default a free one.
    #[schemars(range(min = 1))]
    pub(super) port: Option<u16>,
    /// It speaks HTTPS, and its certificate is trusted because of this.
    pub(super) tls: Option<TlsTable>,
    /// It speaks HTTP/2. With `tls` that is offered and the system chooses (ALPN); without, it is known to.
    #[serde(default)]
    pub(super) http2: bool,
    /// A path that is answered 2xx once it is ready, or `bot`: once it asks Telegram for updates. By default it is
    /// ready once it accepts a connection; a scenario that only says and taps waits for the bot.
    pub(super) ready: Option<String>,
    /// Whether the event loop of a Node or Python system tells of its own stalls.
    #[serde(default)]
    pub(super) heartbeat: Heartbeat,
    /// How requests and bare connects of the rig's own watch for stalls, whatever the system is written in.
    #[serde(default)]
    pub(super) outside: Outside,
    /// How long it may take to become ready.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    #[serde(default = "ten_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) stop_within: Duration,
}

fn one_core() -> NumberOrList {
    NumberOrList::Number(1)
}

/// Checks the `[system]` of the scenario at this path.
pub(super) fn checked(
    file: SystemTable,
    placeholders: &[String],
    spot: &Spot<'_>,
    scenario: &Path,
    complaints: &mut Vec<Complaint>,
) -> System {
    let attach = attach::checked(&file, spot, complaints);
    if let Some(words) = &file.command {
        command(words, &spot.key("command"), complaints);
    }
    if let Some(build) = &file.build {
        command(build, &spot.key("build"), complaints);
    }
    port(file.port, &spot.key("port"), complaints);
    if let Some(path) = file.ready.as_deref().filter(|ready| *ready != BOT) {
        step::path_stands(path, &spot.key("ready"), complaints);
    }
    limits(&file, spot, complaints);
    positive(file.ready_within, &spot.key("ready_within"), complaints);
    bounded(file.stop_within, &spot.key("stop_within"), complaints);
    System {
        speech: speech::checked(file.tls.as_ref(), file.http2, scenario, &spot.key("tls"), complaints),
        dir: dir(file.dir.as_deref(), scenario, &spot.key("dir"), complaints),
        build: file.build,
        command: file.command.unwrap_or_default(),
        attach,
        cores: cores(file.cores, &spot.key("cores"), complaints),
        memory: file.memory.map(|bytes| bytes.as_u64()),
        cpu: file.cpu,
        open_files: file.open_files,
        env: environment(&file.env, placeholders, &spot.key("env"), complaints),
        port: file.port,
        ready: file.ready.map_or(Ready::Accepts, ready),
        heartbeat: file.heartbeat,
        outside: file.outside,
        ready_within: file.ready_within,
        stop_within: file.stop_within,
    }
}

fn ready(word: String) -> Ready {
    if word == BOT { Ready::Bot } else { Ready::Path(word) }
}

fn limits(file: &SystemTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    // One without a unit is complained of as such.
    let has_unit = matches!(spot.key("memory").value(), Some(DeValue::String(text)) if !words::is_number(text));
    if has_unit && file.memory.is_some_and(|bytes| bytes.as_u64() < LEAST_MEMORY) {
        complaints.push(spot.key("memory").complain("nothing runs in so little memory", "give it at least \"4MiB\""));
    }
    if file.cpu.is_some_and(|cpu| !(LEAST_CPU..=MOST_CPU).contains(&cpu)) {
        let help = format!("write cores, from {LEAST_CPU} to {MOST_CPU}, such as 1.5");
        complaints.push(spot.key("cpu").complain("no such share of CPU time", help));
    }
    if file.open_files.is_some_and(|count| count > MOST_FILES) {
        let help = format!("allow at most {MOST_FILES}, or leave it out");
        complaints.push(spot.key("open_files").complain("no kernel allows so many", help));
    }
    if file.open_files.is_some_and(|count| count < LEAST_FILES) {
        complaints.push(spot.key("open_files").complain("it could not even start", "allow at least 16"));
    }
}

fn cores(file: NumberOrList, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Cores {
    match file {
        NumberOrList::Number(count) => {
            if count == 0 {
                complaints.push(spot.complain("nothing runs on no core", "give the system at least 1"));
            }
            if count > MOST_CORES {
                complaints.push(spot.complain("no machine has so many cores", format!("ask for at most {MOST_CORES}")));
            }
            Cores::Count(count)
        }
        NumberOrList::List(list) => {
            if list.is_empty() {
                complaints.push(spot.complain("nothing runs on no core", "name at least one, such as [1]"));
            }
            for (index, core) in list.iter().enumerate() {
                if list[..index].contains(core) {
                    complaints.push(spot.item(index).complain(format!("core {core} is named twice"), "keep one"));
                }
            }
            Cores::List(list)
        }
    }
}

/// The named folder, from the scenario's own; else the nearest above the scenario that looks like a project's
/// root; else the scenario's own.
fn dir(named: Option<&str>, scenario: &Path, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> PathBuf {
    let own = folder_of(scenario);
    let Some(named) = named else {
        let is_root = |folder: &&Path| MANIFESTS.iter().any(|manifest| folder.join(manifest).exists());
        return own.ancestors().find(is_root).unwrap_or(&own).to_owned();
    };
    let dir = own.join(named);
    if !dir.is_dir() {
        let help = "`dir` is looked for from the scenario's own folder";
        complaints.push(spot.complain(format!("there is no folder `{}`", dir.display()), help));
    }
    dir
}

/// The folder of a file, without `..` and links, so that its ancestors are what they seem. A folder that is not
/// there is named as it was written.
fn folder_of(file: &Path) -> PathBuf {
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("/"));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
