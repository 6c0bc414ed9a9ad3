//! Several rigs on one system, and a system that the rig did not start.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use floodrig_reports::recording::{EventKind, Histogram, Row, open};

use crate::rig::{Left, Rig, ended, kill, wordle};

/// What the rig signs initData with, and says so when it attaches.
const BOT_TOKEN: &str = "7000000001:AAFloodrigTestTokenNobodyElseHasIt0";
/// Time for every shard of a busy machine to come up.
const AHEAD_SECONDS: u64 = 10;

/// The example system, started by somebody else than the rig.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start() -> Self {
        let mut command = Command::new(wordle());
        command.env("PORT", "0").env("BOT_TOKEN", BOT_TOKEN).env("TELEGRAM_API_ROOT", "http://127.0.0.1:1");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the system starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it listens");
        let address = line.trim().rsplit(' ').next().expect("an address");
        Self { child, url: format!("http://{address}") }
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("the system is ended");
    }
}

/// The small scenario, whose acts show nothing: the system's own Telegram is nowhere.
fn small() -> Rig {
    Rig::small(&[(", shows = { chat = \"{chat.id}\", version = \"/version\" }", "")])
}

fn start_at() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set");
    (now.as_secs() + AHEAD_SECONDS).to_string()
}

/// All responses of a recording, by act.
fn responses(run: &Path) -> [Histogram; 2] {
    let mut all = [Histogram::default(), Histogram::default()];
    for row in open(run).expect("a recording") {
        let Row::Interval(interval) = row.expect("a row") else { continue };
        for (name, act) in &interval.acts {
            all[usize::from(name == "guess")].merge(&act.response);
        }
    }
    all
}

fn shard(rig: &Rig, number: u32, of: u32, start_at: &str, more: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_floodrig"));
    command.args(["run", "s.toml", "--quick", "--out", &format!("shard-{number}"), "--start-at", start_at]);
    command.args(["--shard", &format!("{number}/{of}")]).args(more).current_dir(rig.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a shard starts")
}

#[test]
fn eight_shards_drive_the_plan_once_and_merge_into_one_run() {
    let (rig, system, at) = (small(), Running::start(), start_at());
    let target = ["--target", system.url.as_str()];
    let shards: Vec<Child> = (1..=8).map(|number| shard(&rig, number, 8, &at, &target)).collect();
    for child in shards {
        let ended = ended(child);
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let names: Vec<String> = (1..=8).map(|number| format!("shard-{number}")).collect();
    let mut arguments = vec!["merge", "--out", "out"];
    arguments.extend(names.iter().rev().map(String::as_str));
    let joint = rig.floodrig(&arguments).ended(0).complete();
    let acts = joint.summary()["acts"].clone();
    assert_eq!((acts["open"]["ok"].as_u64(), acts["guess"]["ok"].as_u64()), (Some(20), Some(40)), "{acts}");
    let mut added = [Histogram::default(), Histogram::default()];
    for name in &names {
        let its = responses(&rig.path().join(name));
        added.iter_mut().zip(&its).for_each(|(all, its)| all.merge(its));
    }
    assert_eq!(responses(&rig.path().join("out")), added);
    assert!(joint.stdout.contains("joined exactly from 8 rigs"), "{}", joint.stdout);
    let twice = rig.floodrig(&["merge", "shard-1", "shard-1"]).ended(2);
    assert!(twice.stderr.contains("are both shard 1"), "{}", twice.stderr);
    let few = rig.floodrig(&["merge", "shard-1", "shard-2"]).ended(2);
    assert!(few.stderr.contains("shards 3, 4, 5, 6, 7, 8 of 8 missing"), "{}", few.stderr);
}

#[test]
fn an_instant_that_has_passed_runs_nothing() {
    let left = small().with(&["--start-at", "2020-01-01T00:00:00Z"]).run().ended(2);
    assert!(left.stderr.contains("s past") && left.stderr.contains("help: "), "{}", left.stderr);
    assert!(left.stdout.is_empty(), "{}", left.stdout);
}

fn attached(system: &Running, more: &[&str]) -> Left {
    small().with(&["--target", &system.url]).with(more).run()
}

#[test]
fn a_system_that_runs_already_is_loaded_watched_by_its_pid_and_left_running() {
    let mut system = Running::start();
    let left = attached(&system, &["--pid", &system.pid()]).ended(0).complete();
    assert!(system.is_alive());
    let summary = left.summary();
    assert_eq!(summary["acts"]["guess"]["ok"], 40);
    assert_eq!(left.observed("proc"), "active");
    assert!(left.observed("black_box").starts_with("active: asked 20 times a second"), "{}", left.stdout);
    assert_eq!(left.observed("heartbeat"), "inactive: the system was not started here, and has no probe inside");
    assert!(summary["system"]["rss_peak_bytes"].as_u64() > Some(0));
    assert!(summary["system"]["ending"].is_null() && summary["system"]["stderr_lines"].is_null());
    assert!(
        left.stderr.contains(&format!("started with BOT_TOKEN={BOT_TOKEN} and TELEGRAM_API_ROOT=http://127.0.0.1:"))
    );
}

#[test]
fn a_pid_that_does_not_serve_at_the_address_is_watched_and_remarked_on() {
    let [system, other] = [Running::start(), Running::start()];
    let left = attached(&system, &["--pid", &other.pid()]).ended(0);
    let remark = format!("pid {} does not listen on port ", other.pid());
    assert!(left.stderr.contains(&format!("note: {remark}")), "{}", left.stderr);
    let proc = left.observed("proc");
    assert!(proc.starts_with(&format!("active: {remark}")), "{proc}");
    assert!(proc.contains(&format!("pid {} (", system.pid())), "{proc}");
}

#[test]
fn without_a_pid_what_needs_one_is_inactive_with_the_reason() {
    let system = Running::start();
    let summary = attached(&system, &[]).ended(0).summary();
    assert_eq!(summary["observations"]["proc"], "inactive: the system was not started here, and its pid is not known");
    assert!(summary["system"]["rss_peak_bytes"].is_null());
}

#[test]
fn without_a_pid_nobody_knows_what_was_left_of_the_load_and_budgets_on_it_are_refused() {
    let system = Running::start();
    let budgets = "\n[budgets.recovery]\nhandles = 1000\nmemory = \"1GiB\"\n";
    let rig = || {
        let idle = ("settle = \"5s\"", "settle = \"5s\"\nidle = \"1s\"");
        Rig::small(&[(", shows = { chat = \"{chat.id}\", version = \"/version\" }", ""), idle])
    };
    let refused = rig().and(budgets).with(&["--target", &system.url]).run();
    assert_eq!(refused.status, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("system that runs already with --pid"), "{}", refused.stderr);
    let left = rig().with(&["--target", &system.url]).run().ended(0);
    let recovery = left.summary()["recovery"].clone();
    assert!(recovery["acts"]["open"]["after_us"].is_u64(), "{recovery}");
    for key in ["handles_before", "handles_after", "handles_left", "rss_before_bytes", "rss_after_bytes"] {
        assert!(recovery[key].is_null(), "{key}: {recovery}");
    }
}

#[test]
fn with_the_stub_elsewhere_calls_are_null_and_not_zero() {
    let system = Running::start();
    let summary = attached(&system, &["--stub", "http://127.0.0.1:1"]).ended(0).summary();
    assert_eq!(summary["observations"]["calls"], "inactive: the stub is another rig's");
    assert!(summary["telegram"]["calls"].is_null() && summary["telegram"]["throttled"].is_null());
}

#[test]
fn an_attached_system_that_dies_under_load_exits_with_5() {
    let system = Running::start();
    let rig = small().with(&["--target", &system.url, "--pid", &system.pid()]);
    let child = rig.start();
    rig.load_has_begun();
    let since_epoch = || SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set").as_micros() as u64;
    let (before, after) = (since_epoch(), {
        kill(system.child.id(), "KILL");
        since_epoch()
    });
    let left = rig.wait(child).ended(5).complete();
    let ending = left.summary()["system"]["ending"].clone();
    assert!(ending["note"].as_str().is_some_and(|note| note.contains("the rig did not start it")), "{ending}");
    let at_ms = ending["at_ms"].as_u64().expect("its instant");
    let (mut epoch, mut load_to, mut died) = (0, 0, None);
    for row in open(&rig.path().join("out")).expect("a recording") {
        match row.expect("a row") {
            Row::Header(header) => (epoch, load_to) = (header.epoch_unix_us, header.load_us.1),
            Row::Event(event) if event.kind == EventKind::Died => died = Some(event.at_us),
            _ => {}
        }
    }
    // Heard of while the load went on, and not when the run came round to it.
    assert!(at_ms * 1_000 < load_to && died.is_some_and(|died| died / 1_000 == at_ms), "{ending}, {died:?}");
    let a_second = 1_000_000;
    assert!((before - epoch..after - epoch + a_second).contains(&(at_ms * 1_000 + 999)), "killed {before}: {ending}");
}

#[test]
fn where_nobody_answers_the_message_says_what_to_start_the_system_with() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", nobody.local_addr().expect("its address"));
    drop(nobody);
    let rig = Rig::small(&[("ready = \"/healthz\"", "ready = \"/healthz\"\nready_within = \"300ms\"")]);
    let left = rig.with(&["--target", &url]).run().ended(3).complete();
    assert!(left.stdout.contains("nobody listens so far") && left.stdout.contains("BOT_TOKEN="), "{}", left.stdout);
}
