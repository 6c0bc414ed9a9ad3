//! A real Postgres beside the system: a pool that is too small is found, one that is not is let alone, and nothing of
//! the service outlives the run, however it ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::rig::{self, Rig, eventually, kill, process_named, processes_in};
use crate::tools;

/// 300 acts a second for six seconds, each a query of 40 ms: thirty connections could do 750, ten 250.
const POOLED: &str = r#"
name = "pooled"

[system]
dir = "."
command = ["POOLED"]
ready = "/healthz"
env = { DATABASE_URL = "postgres://sut@127.0.0.1:{service.db.port}/postgres", POOL = "SIZE", QUERY_MS = "40" }

[[service]]
name = "db"
start = ["POSTGRES"]
ready.command = ["POSTGRES", "ready"]

[crowd]
groups = 10
players_per_group = 100
settle = "0s"

[[journey]]
name = "play"
arrive.constant = { rate = 300, over = "12s" }
steps = [{ act = "guess", get = "/guess" }]
"#;

fn postgres() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/postgres")
}

fn there_is_one() -> bool {
    tools::needed("a Postgres (apt-get install postgresql)", Path::new("/usr/lib/postgresql").is_dir())
}

fn pooled(size: u32) -> Rig {
    let text = POOLED.replace("POOLED", rig::pooled().to_str().expect("a path in UTF-8"));
    let text = text.replace("POSTGRES", postgres().to_str().expect("a path in UTF-8"));
    Rig::new(&text.replace("SIZE", &size.to_string()))
}

fn finding(summary: &Value) -> bool {
    summary["findings"].as_array().expect("findings").iter().any(|finding| finding["id"] == "pool_saturated")
}

/// What the run saw of the connections to the database.
fn to_the_database(summary: &Value) -> Value {
    let all = summary["system"]["outbound"].as_object().expect("the system's own connections");
    all.values().find(|to| to["name"] == "db").cloned().expect("some to the database")
}

#[test]
fn a_pool_of_ten_is_named_as_saturated_while_the_loop_is_calm() {
    if !there_is_one() {
        return;
    }
    let summary = pooled(10).run().ended(0).complete().summary();
    assert_eq!(summary["observations"]["outbound"], "active");
    let database = to_the_database(&summary);
    assert_eq!((&database["established_peak"], &database["waiting_peak"]), (&10.into(), &10.into()));
    let hint = summary["system"]["pool_hint"].as_str().unwrap_or_else(|| panic!("a hint: {}", summary["system"]));
    assert!(hint.starts_with("pool of about 10 to port ") && hint.contains("(db) saturated"), "{hint}");
    assert!(finding(&summary));
    let service = &summary["services"]["db"];
    assert!(service["rss_peak_bytes"].as_u64() > Some(10 << 20) && service["processes_peak"].as_u64() > Some(10));
}

#[test]
fn a_pool_of_thirty_has_room_and_nothing_is_said_of_it() {
    if !there_is_one() {
        return;
    }
    let summary = pooled(30).run().ended(0).complete().summary();
    assert_eq!(to_the_database(&summary)["established_peak"], 30);
    assert_eq!(summary["system"]["pool_hint"], Value::Null);
    assert!(!finding(&summary));
}

/// What scripts/postgres has made, as long as it is there.
fn folders_of(port: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(std::env::temp_dir()).expect("the folder for temporary files").flatten();
    let of_port = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with("floodrig-") && name.ends_with(port))
    };
    all.map(|entry| entry.path()).filter(of_port).collect()
}

#[test]
fn nothing_of_a_service_outlives_a_rig_that_is_killed() {
    if !there_is_one() {
        return;
    }
    let rig = pooled(10);
    let child = rig.start();
    rig.load_has_begun();
    let script = process_named(rig.path(), "bash").expect("the script runs");
    let environment = std::fs::read(format!("/proc/{script}/environ")).expect("its environment");
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let port = environment.split('\0').find_map(|pair| pair.strip_prefix("PORT=")).expect("its port").to_owned();
    assert_eq!(folders_of(&port).len(), 1);
    kill(child.id(), "KILL");
    rig.wait(child);
    eventually("all of it has ended", || processes_in(rig.path()).is_empty());
    eventually("its folder is gone", || folders_of(&port).is_empty());
    let listens = std::net::TcpStream::connect(("127.0.0.1", port.parse().expect("a port")));
    assert!(listens.is_err(), "the server still listens");
}

/// The process id of the server whose folder is in this one.
fn server_in(folder: &Path) -> String {
    let of_server = std::fs::read_dir(folder).expect("the folder").flatten().next().expect("the server's");
    let file = std::fs::read_to_string(of_server.path().join("data/postmaster.pid")).expect("its lock file");
    file.lines().next().expect("its first line").to_owned()
}

/// Whether this namespace has a segment of System V's memory that this process has made: `proc_sysvipc(5)`, whose fifth
/// column is `cpid`.
fn has_segment(pid: &str) -> bool {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").expect("the kernel's table");
    table.lines().any(|line| line.split_ascii_whitespace().nth(4) == Some(pid))
}

#[test]
fn the_script_alone_leaves_nothing_when_it_is_killed() {
    if !there_is_one() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The server may run as another user, who has to pass through.
    let opened = Command::new("chmod").arg("711").arg(folder.path()).status().expect("chmod runs");
    assert!(opened.success());
    let is_empty = || std::fs::read_dir(folder.path()).expect("the folder").next().is_none();
    for (signal, to_server) in [("TERM", false), ("KILL", false), ("KILL", true)] {
        let mut command = Command::new(postgres());
        command.env("TMPDIR", folder.path()).env_remove("PORT");
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let mut script = command.spawn().expect("the script starts");
        let mut said = String::new();
        let output = script.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut said).expect("it says where it is");
        assert!(said.starts_with("postgres://sut@127.0.0.1:") && !is_empty(), "{said}");
        let server = server_in(folder.path());
        let namespace = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/ipc")).expect("its namespace");
        assert!(has_segment(&server) || namespace(&server) != namespace("self"), "somewhere it has one");
        kill(if to_server { server.parse().expect("a number") } else { script.id() }, signal);
        script.wait().expect("it ends");
        eventually("its folder is gone", is_empty);
        eventually("its shared memory is gone", || !has_segment(&server));
    }
}
