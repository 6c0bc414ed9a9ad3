//! A run in a network of its own: bots that no hook can reach meet the stub by TLS, and nothing of them is left behind.

use std::fs;
use std::process::Command;

use crate::rig::{self, Rig, eventually, kill, process_named, processes_in};
use crate::tools;

/// A bot in Python's standard library that is started so that it loads no hook (`-E`), as one in Go or Rust would; it
/// says what network it finds itself in.
const BOT: &str = r#"
import json, os, socket, urllib.parse, urllib.request
with open("seen", "w") as seen:
    links = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
    routes = open("/proc/net/route").readlines()[1:]
    print(socket.gethostbyname("api.telegram.org"), links, routes, file=seen)
def call(method, **params):
    url = f"https://api.telegram.org/bot{os.environ['BOT_TOKEN']}/{method}"
    return json.load(urllib.request.urlopen(url, urllib.parse.urlencode(params).encode()))["result"]
offset = 0
while True:
    for update in call("getUpdates", offset=offset, timeout=20):
        offset = update["update_id"] + 1
        call("sendMessage", chat_id=update["message"]["chat"]["id"], text="yes")
"#;

const TALK: &str = r#"
name = "talk"
seed = 11

[system]
dir = "."
command = ["python3", "-E", "bot.py"]

[telegram]
profile = "off"
answer_time = "0ms..0ms"

[crowd]
groups = 2
players_per_group = 5
settle = "5s"

[[journey]]
name = "play"
arrive.burst.over = "2s"
steps = [
  { act = "talk", says = "hello" },
]
"#;

/// A bot that is one file for the JVM.
const JAVA: &str = include_str!("bots/unchanged/Bot.java");

/// Whether this user may make namespaces, which no tool could change. A tool that is missing is another matter.
pub(crate) fn may_isolate() -> bool {
    let ways = [&["--net", "--mount"][..], &["--map-root-user", "--net", "--mount"]];
    let works = |way: &[&str]| {
        let tried = Command::new("unshare").args(way).arg("true").output();
        tried.is_ok_and(|output| output.status.success())
    };
    let has_tool = tools::here(&["unshare"]);
    let may = has_tool && ways.into_iter().any(works);
    if has_tool && !may {
        tools::skipped("this user may make no namespaces");
    }
    may
}

/// The run of the bot in Python; nothing where it cannot be.
fn isolated() -> Option<Rig> {
    let can = tools::here(&["python3"]) && may_isolate();
    can.then(|| Rig::new(TALK).with(&["--isolate"]).holding("bot.py", BOT))
}

#[test]
fn a_bot_that_no_hook_reaches_meets_the_stub_by_tls_and_reaches_nothing_else() {
    let Some(rig) = isolated() else { return };
    let left = rig.run().ended(0).complete();
    assert_eq!(left.summary()["acts"]["talk"]["ok"], 5);
    assert!(left.observed("isolate").starts_with("active: "), "{}", left.observed("isolate"));
    assert_eq!(left.observed("redirect"), "active: by the system's own API root, or by the hosts file of --isolate");
    assert!(left.summary()["system"]["listen_overflows"].is_null(), "who listens nowhere has no queue to overflow");
    assert!(left.stderr.contains("services of this machine included"), "its cost is said: {}", left.stderr);
    let seen = fs::read_to_string(rig.path().join("seen")).expect("the bot has said what it saw");
    assert_eq!(seen, "127.0.0.1 ['lo'] []\n");
    assert!(left.stdout.contains("--isolate"), "the command that repeats it: {}", left.stdout);
}

/// Whoever calls Telegram by its own address is answered, and every call is the stub's.
fn is_answered(command: &[&str], files: &[(&str, &str)]) {
    let changes = [("[\"python3\", \"-E\", \"bot.py\"]", &*format!("{command:?}"))];
    let rig = Rig::changed(TALK, &changes).with(&["--isolate"]);
    let rig = files.iter().fold(rig, |rig, (name, text)| rig.holding(name, text));
    let left = rig.run().ended(0).complete();
    let summary = left.summary();
    assert_eq!(summary["acts"]["talk"]["ok"], 5);
    assert_eq!(left.observed("redirect"), "active: by the system's own API root, or by the hosts file of --isolate");
    assert_eq!(summary["system"]["stderr_errors"], 0, "{}", left.stderr);
}

#[test]
fn a_bot_in_java_meets_the_stub_and_trusts_it_though_nobody_has_told_it_to() {
    if tools::here(&["java"]) && may_isolate() {
        is_answered(&["java", "Bot.java"], &[("Bot.java", JAVA)]);
    }
}

/// With the C library's resolver and with Go's own, which reads the hosts file and its order by itself.
#[test]
fn a_bot_in_go_that_trusts_what_the_system_trusts_meets_the_stub() {
    if !tools::needed("go", Command::new("go").arg("version").output().is_ok()) || !may_isolate() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bot = folder.path().join("bot");
    for cgo in ["0", "1"] {
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&bot).arg("tests/it/bots/unchanged/bot.go").env("CGO_ENABLED", cgo);
        let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("go runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        is_answered(&[bot.to_str().expect("a path in UTF-8")], &[]);
    }
}

#[test]
fn a_bot_in_rust_that_trusts_what_the_system_trusts_meets_the_stub() {
    if may_isolate() {
        is_answered(&[rig::unchanged().to_str().expect("a path in UTF-8")], &[]);
    }
}

#[test]
fn a_run_that_was_not_asked_to_be_isolated_says_so() {
    if !tools::here(&["python3"]) {
        return;
    }
    let left = Rig::changed(TALK, &[("\"-E\", ", "")]).holding("bot.py", BOT).run().ended(0);
    assert_eq!(left.observed("isolate"), "inactive: not asked for (--isolate)");
    assert!(left.summary()["system"]["listen_overflows"].is_null(), "not counted is no zero");
}

#[test]
fn ctrl_c_ends_an_isolated_run_in_order_and_a_kill_leaves_nothing() {
    for (signal, status) in [("INT", Some(130)), ("KILL", None)] {
        let Some(rig) = isolated() else { return };
        let running = rig.start();
        eventually("the bot runs", || process_named(rig.path(), "python3").is_some());
        kill(running.id(), signal);
        assert_eq!(rig.wait(running).status, status, "SIG{signal}");
        eventually("nothing is left", || processes_in(rig.path()).is_empty());
    }
}

#[test]
fn without_the_tool_nothing_is_run_and_the_next_step_is_named() {
    let rig = Rig::new(TALK).with(&["--isolate"]).exporting("PATH", "/nowhere");
    let left = rig.run().ended(2);
    assert!(left.stderr.contains("--isolate: there is no `unshare` here: install util-linux"), "{}", left.stderr);
    assert!(!rig.path().join("out").exists());
}

/// Becomes what it is given, where no more namespaces may be made: a user namespace whose limits are 0.
const FORBIDDEN: &str = "echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_net_namespaces && \
                         exec \"$@\"";

#[test]
fn where_namespaces_are_forbidden_nothing_is_run_and_what_would_allow_them_is_named() {
    if isolated().is_none() {
        return;
    }
    let tried = Command::new("unshare").args(["--user", "--map-root-user", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return tools::skipped("this user may make no user namespaces");
    }
    let rig =
        Rig::new(&TALK.replace("[\"python3\", \"-E\", \"bot.py\"]", "[\"touch\", \"seen\"]")).with(&["--isolate"]);
    let below = ["unshare", "--user", "--map-root-user", "sh", "-c", FORBIDDEN, "sh"];
    let left = rig.run_below(&below).ended(2);
    let says =
        ["--isolate: namespaces are not allowed here", "kernel.unprivileged_userns_clone", "run without --isolate"];
    assert!(says.iter().all(|words| left.stderr.contains(words)), "{}", left.stderr);
    assert!(!rig.path().join("out").exists() && !rig.path().join("seen").exists());
}

#[test]
fn a_system_elsewhere_and_a_network_of_ones_own_exclude_each_other() {
    let left = Rig::new(TALK).with(&["--isolate", "--target", "http://127.0.0.1:1"]).run().ended(2);
    assert!(left.stderr.contains("cannot be used with"), "{}", left.stderr);
}
