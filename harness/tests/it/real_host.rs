//! A system that connects to the real Telegram: it is stopped and named. All of it happens in networks of the tests' own
//! (`unshare`), in which Telegram's address is this machine's; no packet leaves them.

use std::fs;

use crate::isolate::may_isolate;
use crate::rig::{Left, Rig};
use crate::tools;

/// The address that `api.telegram.org` has had for years.
const TELEGRAM: &str = "149.154.167.220:443";

/// Becomes the rig in a network in which Telegram's address is loopback's own. There the port accepts, or lets everybody
/// wait for an answer to the first packet; and a stranger is connected to it, as a messenger on the same desk would be.
const NETWORK: &str = r#"
import fcntl, socket, struct, subprocess, sys
def order(code, name, rest):
    fcntl.ioctl(socket.socket(), code, struct.pack("16s24s", name, rest))
order(0x8914, b"lo", struct.pack("=H", 0x41))  # SIOCSIFFLAGS: up and running
if sys.argv[1] != "nowhere":
    order(0x8916, b"lo:1", struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton("149.154.167.220")))  # SIOCSIFADDR
    port = socket.create_server(("149.154.167.220", 443), backlog=0 if sys.argv[1] == "waits" else 100)
    # One more than the backlog may wait to be accepted; who comes after them is not answered.
    strangers = [socket.create_connection(port.getsockname())]
sys.exit(subprocess.call(sys.argv[2:]))
"#;

/// A server that calls the real Telegram at its start or at its fourth act, as a program in Go would, without a
/// hook (`-I`).
const SERVER: &str = r#"
import http.server, os, socket, sys, threading
family = socket.AF_INET6 if "mapped" in sys.argv else socket.AF_INET
host = "::ffff:149.154.167.220" if "mapped" in sys.argv else "149.154.167.220"
kept = []
def call():
    kept.append(socket.socket(family))
    kept[-1].connect((host, 443))
class Handler(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Handler.count += self.path == "/look"
        if "late" in sys.argv and self.path == "/look" and Handler.count == 4:
            call()
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *words): pass
if "early" in sys.argv:
    threading.Thread(target=call, daemon=True).start()
    threading.Event().wait()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

/// 20 acts: over a minute where the test ends because the run is stopped.
const STEADY: &str = r#"
name = "steady"
seed = 11

[system]
dir = "."
command = ["python3", "-I", "server.py", WORDS]
ready = "/"

[crowd]
groups = 8
players_per_group = 5
settle = "0s"

[[journey]]
name = "play"
arrive.burst.over = "LENGTH"
steps = [
  { act = "look", get = "/look" },
]
"#;

/// The run of the server with these words, in a network where the port behaves so; nothing where there can be none.
fn run(port: &str, words: &str, length: &str) -> Option<Left> {
    if !tools::here(&["python3"]) || !may_isolate() {
        return None;
    }
    let scenario = STEADY.replace("WORDS", words).replace("LENGTH", length);
    let rig = Rig::new(&scenario).holding("server.py", SERVER).holding("network.py", NETWORK);
    Some(rig.run_below(&["unshare", "--map-root-user", "--net", "python3", "network.py", port]))
}

/// The run was stopped with words that say whose connection it was, where it went and what to do.
fn stopped(left: &Left) {
    let said = [&format!("(python3) connects to {TELEGRAM}"), "the real Telegram", "Run with --isolate", "{stub.url}"];
    assert!(said.iter().all(|words| left.stdout.contains(*words)), "{}\n{}", left.stdout, left.stderr);
    let summary = left.summary();
    assert_eq!((&summary["verdict"], &summary["exit_code"]), (&"not_ready".into(), &3.into()));
    assert_eq!(summary["system"]["ending"]["kind"], "stopped", "the rig's own stop is no death: {summary}");
}

#[test]
fn a_system_that_connects_to_telegram_before_it_is_ready_is_stopped_before_any_load() {
    for words in ["'early'", "'early', 'mapped'"] {
        let Some(left) = run("accepts", words, "4s") else { return };
        let left = left.ended(3);
        stopped(&left);
        assert!(!left.file("run.jsonl").contains("\"row\":\"interval\""), "nothing was sent");
    }
}

#[test]
fn a_connection_that_is_only_tried_is_enough() {
    if let Some(left) = run("waits", "'early'", "4s") {
        stopped(&left.ended(3));
    }
}

#[test]
fn a_system_that_connects_to_telegram_during_the_load_is_stopped_there_and_then() {
    let Some(left) = run("accepts", "'late'", "120s") else { return };
    let left = left.ended(3).complete();
    stopped(&left);
    let look = &left.summary()["acts"]["look"];
    assert!(look["ok"].as_u64() >= Some(1) && look["outcomes"]["abandoned"].as_u64() > Some(0), "{look}");
}

#[test]
fn somebody_elses_connection_to_telegram_is_nobodys_fault_here() {
    let Some(left) = run("accepts", "'never'", "4s") else { return };
    let left = left.ended(0).complete();
    let lookout = left.summary()["observations"]["lookout"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(lookout.starts_with("active: "), "{lookout}");
}

/// A bot that takes no hook and asks the real Telegram over and over, as many do.
const BOT: &str = r#"
import socket, time
while True:
    try:
        socket.create_connection(("149.154.167.220", 443))
    except OSError as wrong:
        open("seen", "w").write(str(wrong.errno))
    time.sleep(0.1)
"#;

#[test]
fn where_telegram_cannot_be_reached_at_all_it_is_said_that_no_call_reached_the_stub() {
    if !tools::here(&["python3"]) || !may_isolate() {
        return;
    }
    let scenario = STEADY.replace("\"server.py\", WORDS", "\"bot.py\"").replace("LENGTH", "4s");
    let scenario = scenario.replace("ready = \"/\"", "ready = \"bot\"\nready_within = \"2s\"");
    let rig = Rig::new(&scenario).holding("bot.py", BOT).holding("network.py", NETWORK);
    let left = rig.run_below(&["unshare", "--map-root-user", "--net", "python3", "network.py", "nowhere"]).ended(3);
    assert_eq!(fs::read_to_string(rig.path().join("seen")).ok().as_deref(), Some("101"), "ENETUNREACH");
    let said = ["0 calls reached the stub", "was started with -I", "Run with --isolate"];
    assert!(said.iter().all(|words| left.stdout.contains(words)), "{}", left.stdout);
}
