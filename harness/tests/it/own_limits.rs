//! Where the rig itself comes to an end: of open files, of local ports. What a slow system holds open is the system's
//! doing; what the crowd needs and the rig has not is the rig's, said with its cause, and never the system's.

use std::process::Command;

use crate::rig::{Left, Rig};
use crate::tools;

/// Becomes the command that follows under this limit on open files: `-n` of both limits, `-Sn` of the soft one.
fn limited(rig: &Rig, limit: &str) -> Left {
    rig.run_below(&["sh", "-c", &format!("ulimit {limit} && exec \"$@\""), "sh"])
}

/// Players who hold their connection between two acts, all of them at once.
fn holding(players: u32) -> Rig {
    holding_with(players, "")
}

/// With more keys of the system.
fn holding_with(players: u32, system: &str) -> Rig {
    Rig::small(&[
        ("dir = \".\"", &format!("dir = \".\"\n{system}")),
        ("groups = 8", &format!("groups = {}", 2 * players / 5)),
        ("over = \"2s\"", "over = \"1s\""),
        ("repeat = 4, think = \"200ms..400ms\"", "think = \"2s..3s\""),
    ])
}

/// Answers the pre-flight and the first few, and then nobody any more.
const HANGING: &str = r#"
import asyncio, os
asked = 0
async def serve(reader, writer):
    global asked
    while (head := await reader.readuntil(b"\r\n\r\n")):
        asked += head.startswith(b"GET /play")
        if asked > 5:
            await asyncio.sleep(3600)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()
asyncio.run(main())
"#;

/// Short visits of one act each, whose connections nobody needs once they are answered.
const SHORT: &str = r#"
name = "short"
seed = 11

[system]
dir = "."
command = ["python3", "hanging.py"]

[crowd]
groups = 40
players_per_group = 5
timeout = "2s"
connect_timeout = "1s"
settle = "0s"

[[journey]]
name = "play"
arrive.burst.over = "1s"
steps = [
  { act = "play", get = "/play" },
]
"#;

#[test]
fn short_visits_that_a_hanging_system_holds_open_are_abandoned_at_the_cap_and_the_run_is_valid() {
    if !tools::here(&["python3"]) {
        return;
    }
    let left = limited(&Rig::new(SHORT).holding("hanging.py", HANGING), "-n 64").complete();
    let play = left.summary()["acts"]["play"]["outcomes"].clone();
    assert_ne!(left.status, Some(4), "{}\n{}", left.stdout, left.stderr);
    assert_eq!(play["rig_fault"], 0, "{play}");
    assert!(play["timeout"].as_u64() > Some(0) && play["abandoned"].as_u64() > Some(0), "{play}");
    let report = left.file("report.html");
    assert!(report.contains("those were waiting for answers"), "the report says why: {}", left.stdout);
}

#[test]
fn a_crowd_that_holds_more_connections_than_the_rig_may_open_makes_the_run_invalid_and_says_why() {
    let left = limited(&holding(60), "-n 64").ended(4).complete();
    let acts = left.summary()["acts"].clone();
    let kinds = &acts["open"]["rig_faults"];
    assert!(kinds["too_many_open_files"].as_u64() > Some(0), "{kinds}");
    assert!(left.stdout.contains("the limit on open files was met (EMFILE): raise `ulimit -n`"), "{}", left.stdout);
    assert_eq!(acts["open"]["unserved"], 0, "the system is charged with nothing: {acts}");
    assert!(left.file("report.html").contains("and the crowd needs more"), "{}", left.stdout);
}

#[test]
fn a_soft_limit_below_the_hard_one_is_raised_and_the_same_crowd_finds_room() {
    let left = limited(&holding(60), "-Sn 64").ended(0).complete();
    assert_eq!(left.summary()["acts"]["open"]["ok"], 60);
}

#[test]
fn a_rig_without_a_local_port_left_names_it_and_nobody_is_said_to_have_been_refused() {
    let few = "ip link set lo up && echo 20000 20039 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"";
    let below = ["unshare", "--map-root-user", "--net", "sh", "-c", few, "sh"];
    let may =
        || Command::new(below[0]).args(&below[1..]).arg("true").output().is_ok_and(|tried| tried.status.success());
    if !tools::here(&["unshare"]) || !tools::needed("ip", Command::new("ip").arg("-V").output().is_ok()) {
        return;
    }
    if !may() {
        return tools::skipped("this user may not make a network of few ports");
    }
    // In a network of its own, and beyond the few: the kernel would offer the same port to the stub.
    let left = holding_with(60, "port = 30000").run_below(&below).ended(4).complete();
    let acts = left.summary()["acts"].clone();
    let kinds = &acts["open"]["rig_faults"];
    assert!(kinds["address_not_available"].as_u64() > Some(0), "{kinds}");
    assert_eq!(acts["open"]["outcomes"]["refused"], 0, "{acts}");
    assert!(left.stdout.contains("no local port was left (EADDRNOTAVAIL)"), "{}", left.stdout);
}
