//! A full listen queue, with a real Node server: its depth, what the kernel dropped at it, and what its users saw.

use std::fs;

use serde_json::Value;

use crate::isolate::may_isolate;
use crate::rig::{Left, Rig};

/// Its loop is blocked for 3 s once a file `block` is there: the order comes from the test and not through the rig.
const SERVER: &str = r#"
const http = require("http"), fs = require("fs");
http.createServer((request, answer) => answer.end("ok")).listen(process.env.PORT, "127.0.0.1");
const look = setInterval(() => {
  if (!fs.existsSync("block")) return;
  clearInterval(look);
  for (const end = Date.now() + 3000; Date.now() < end; );
}, 10);
"#;

/// Everyone opens a connection of their own.
const CROWD: &str = r#"
name = "crowd"

[system]
dir = "."
command = ["node", "server.js"]
ready = "/"

[crowd]
groups = GROUPS
players_per_group = 10
settle = "0s"

[[journey]]
name = "come"
arrive.burst.over = "4s"
steps = [{ act = "open", get = "/" }]
"#;

/// Node asks for 511, which is less than any `somaxconn` since Linux 5.4.
const BACKLOG: u64 = 511;

/// A quick run has half the groups within half the time.
fn crowd(players: u32) -> Rig {
    let rig = Rig::new(&CROWD.replace("GROUPS", &(players / 10 * 2).to_string()));
    fs::write(rig.path().join("server.js"), SERVER).expect("the server is written");
    rig
}

fn count(left: &Left, table: &str, key: &str) -> u64 {
    let summary = left.summary();
    let of = if table == "system" { &summary["system"] } else { &summary["acts"][table] };
    of[key].as_u64().unwrap_or_else(|| panic!("{key}: {of}"))
}

/// The server's loop is blocked under the load of so many.
fn blocked(rig: &Rig) -> Left {
    let child = rig.start();
    rig.load_has_begun();
    fs::write(rig.path().join("block"), "").expect("the order is given");
    rig.wait(child).complete()
}

#[test]
fn a_full_queue_of_an_isolated_run_is_counted_by_the_runs_own_network() {
    if !may_isolate() {
        return;
    }
    let left = blocked(&crowd(2000).with(&["--isolate"]));
    assert!(count(&left, "system", "listen_overflows") > 0 && count(&left, "system", "listen_drops") > 0);
    assert!(left.file("report.md").contains("in the run's own network"), "{}", left.file("report.md"));
}

#[test]
fn a_loop_that_is_blocked_fills_the_queue_and_late_connects_are_not_refusals() {
    let left = blocked(&crowd(2000));
    assert_eq!(count(&left, "open", "planned"), 2000);
    // The kernel compares before it adds, so one more than asked for may wait.
    assert_eq!(count(&left, "system", "listen_queue_peak"), BACKLOG + 1);
    assert_eq!(count(&left, "system", "listen_backlog"), BACKLOG);
    assert!(count(&left, "system", "listen_overflows") > 0 && count(&left, "system", "syn_retransmits") > 0);
    assert!(count(&left, "open", "late_connect") > 0);
    let summary = left.summary();
    assert_eq!(summary["acts"]["open"]["outcomes"]["refused"], 0, "{}", summary["acts"]);
    let remark = summary["system"]["listen_remark"].as_str().expect("the reason");
    assert!(remark.contains("the fullest queue seen was 512 of 511"), "{remark}");
    assert!(left.file("report.md").contains("net.core.somaxconn = "));
}

#[test]
fn a_loop_that_nobody_blocks_has_room_in_its_queue() {
    let left = crowd(200).run().complete();
    assert!(count(&left, "system", "listen_queue_peak") < BACKLOG);
    assert_eq!(count(&left, "open", "late_connect"), 0);
    assert_eq!(left.summary()["acts"]["open"]["ok"], Value::from(200));
}
