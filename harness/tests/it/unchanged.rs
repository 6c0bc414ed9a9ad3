//! Bots that know nothing of the rig: real ones, whose libraries call `https://api.telegram.org` by themselves.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::rig::{Left, Rig};
use crate::tools;

/// 5 players once each within a second, in private chats. It is written twice as large, because tests run it with
/// `--quick`.
const TALK: &str = r#"
name = "talk"
seed = 11

[system]
dir = "."
command = COMMAND
env = { ENV = "" }

[telegram]
profile = "off"
answer_time = "0ms..0ms"

[crowd]
groups = 2
players_per_group = 5
timeout = "10s"
settle = "5s"

[[journey]]
name = "play"
arrive.burst.over = "2s"
steps = [
  { act = "talk", says = "hello" },
]
"#;

const NODE_BOTS: [(&str, &str); 5] = [
    ("grammy.mjs", include_str!("bots/unchanged/grammy.mjs")),
    ("telegraf.mjs", include_str!("bots/unchanged/telegraf.mjs")),
    ("node-telegram-bot-api.mjs", include_str!("bots/unchanged/node-telegram-bot-api.mjs")),
    ("axios.mjs", include_str!("bots/unchanged/axios.mjs")),
    ("undici.mjs", include_str!("bots/unchanged/undici.mjs")),
];

const PYTHON_BOTS: [(&str, &str); 3] = [
    ("aiogram.py", include_str!("bots/unchanged/aiogram.py")),
    ("python_telegram_bot.py", include_str!("bots/unchanged/python_telegram_bot.py")),
    ("pytelegrambotapi.py", include_str!("bots/unchanged/pytelegrambotapi.py")),
];

/// Where `scripts/clients` keeps the libraries; nothing where the tools to install them are missing.
fn libraries() -> Option<&'static Path> {
    static INSTALLED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        if !tools::here(&["node", "npm", "python3"]) {
            return None;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let install =
            Command::new(root.join("scripts/clients")).arg("--install").output().expect("scripts/clients runs");
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        // The binary is in target/debug.
        let target = Path::new(env!("CARGO_BIN_EXE_floodrig")).ancestors().nth(2).expect("the target folder");
        Some(target.join("clients"))
    });
    installed.as_deref()
}

/// The scenario with this bot in its folder, beside its libraries.
fn with_bot(libraries: &Path, (name, text): (&str, &str), changes: &[(&str, &str)]) -> Rig {
    let python = libraries.join("python/venv/bin/python");
    let is_python = Path::new(name).extension().is_some_and(|extension| extension == "py");
    let program = if is_python { python.display().to_string() } else { "node".to_owned() };
    let file = format!("bot-{name}");
    let scenario = TALK.replace("COMMAND", &format!("[{program:?}, {file:?}]"));
    let rig = Rig::changed(&scenario, changes).holding(&file, text);
    symlink(libraries.join("node/node_modules"), rig.path().join("node_modules")).expect("its libraries are linked");
    rig
}

/// Every player was answered, and what the bot had uploaded it has read back.
fn all_answered(name: &str, left: &Left) {
    let summary = left.summary();
    assert_eq!(summary["acts"]["talk"]["ok"], 5, "{name}: {}", left.stdout);
    let methods = &summary["telegram"]["by_method"];
    for method in ["sendDocument", "getFile", "sendMessage"] {
        assert!(methods[method]["calls"].as_u64() >= Some(5), "{name}: {method}: {methods}");
        assert_eq!(methods[method]["errors"], 0, "{name}: {method}");
    }
}

fn play_and_fetch(bots: &[(&str, &str)]) {
    let Some(libraries) = libraries() else { return };
    for bot in bots {
        let left = with_bot(libraries, *bot, &[]).run().ended(0).complete();
        all_answered(bot.0, &left);
        let redirect = left.observed("redirect");
        let says = "active: https://api.telegram.org is the stub inside pid ";
        assert!(redirect.starts_with(says), "{}: {redirect}", bot.0);
    }
}

#[test]
fn bots_in_node_that_call_telegram_by_its_own_address_play_with_the_stub_and_fetch_their_files() {
    play_and_fetch(&NODE_BOTS);
}

#[test]
fn bots_in_python_that_call_telegram_by_its_own_address_play_with_the_stub_and_fetch_their_files() {
    play_and_fetch(&PYTHON_BOTS);
}

/// What is said of a bot that runs as this command and reaches nobody.
fn advice(command: &str, libraries: &Path) -> String {
    let lines = format!("command = [\"sh\", \"-c\", {command:?}]\nready_within = \"2s\"\nenv");
    let plain = "command = [\"node\", \"bot-grammy.mjs\"]\nenv";
    let left = with_bot(libraries, NODE_BOTS[0], &[(plain, &lines)]).run().ended(3);
    assert!(left.stdout.contains("0 calls reached the stub: "), "{}", left.stdout);
    assert!(left.stdout.contains("TELEGRAM_API_ROOT"), "{}", left.stdout);
    left.stdout
}

#[test]
fn a_bot_whose_calls_do_not_come_is_told_what_to_do_by_what_it_runs_on() {
    let Some(libraries) = libraries() else { return };
    let node = advice("NODE_OPTIONS= exec node -e 'setInterval(() => {}, 1000)'", libraries);
    assert!(node.contains("add to NODE_OPTIONS instead of replacing it"), "{node}");
    let python = advice("exec python3 -I -c 'import time; time.sleep(60)'", libraries);
    assert!(python.contains("was started with -I, with which Python loads no hook"), "{python}");
    let idle = advice("exec python3 -c 'import time; time.sleep(60)'", libraries);
    assert!(idle.contains("has the hook and has not called https://api.telegram.org"), "{idle}");
    let other = advice("exec sleep 60", libraries);
    assert!(other.contains("(sleep) is neither Node nor Python") && other.contains("Run with --isolate"), "{other}");
}

#[test]
fn a_real_token_of_the_scenario_or_of_the_users_environment_never_reaches_the_system() {
    let real = "123456789:AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456";
    let scenario = TALK
        .replace("COMMAND", "[\"sh\", \"-c\", \"printenv MINE EXPORTED TELEGRAM_BOT_TOKEN > seen; exit 1\"]")
        .replace("ENV = \"\"", &format!("MINE = \"{real}\""));
    let rig = Rig::new(&scenario).exporting("EXPORTED", &format!("https://api.telegram.org/bot{real}/"));
    let left = rig.run().ended(3);
    let seen = fs::read_to_string(rig.path().join("seen")).expect("the system has written what it saw");
    let fake = floodrig::redirect::BOT_TOKEN;
    assert_eq!(seen, format!("{fake}\nhttps://api.telegram.org/bot{fake}/\n{fake}\n"));
    assert!(left.stderr.contains("note: a bot's token in EXPORTED, MINE: "), "{}", left.stderr);
    assert!(!left.stderr.contains(real) && !left.stdout.contains(real), "it is not shown either");
}

/// Each program writes down what it finds where a real bot's token was.
const EVERY_PROGRAM: &str = r#"
name = "every"
seed = 11
needs = ["asked >= 1"]

[system]
dir = "."
build = ["sh", "-c", "printenv EXPORTED > build"]
command = ["sh", "-c", "printenv EXPORTED > command; exec python3 -m http.server --bind 127.0.0.1 $PORT"]

[[service]]
name = "beside"
start = ["sh", "-c", "printenv EXPORTED > start; exec sleep 1000"]
ready.command = ["sh", "-c", "printenv EXPORTED > ready"]
stop = ["sh", "-c", "printenv EXPORTED > stop"]

[crowd]
groups = 2
players_per_group = 5
settle = "0s"

[[journey]]
name = "play"
arrive.burst.over = "1s"
steps = [{ act = "look", get = "/" }]
"#;

#[test]
fn a_real_token_reaches_no_program_that_the_rig_starts() {
    if !tools::here(&["python3"]) {
        return;
    }
    let real = "123456789:AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456";
    let rig = Rig::new(EVERY_PROGRAM).holding("asked", "#!/bin/sh\nprintenv EXPORTED > needs\necho 1.2\n");
    fs::set_permissions(rig.path().join("asked"), Permissions::from_mode(0o755)).expect("it may be run");
    let path = format!("{}:{}", rig.path().display(), std::env::var("PATH").expect("a PATH"));
    let rig = rig.exporting("EXPORTED", real).exporting("PATH", &path);
    rig.run().ended(0);
    for program in ["needs", "build", "start", "ready", "command", "stop"] {
        let seen = fs::read_to_string(rig.path().join(program)).expect("it was started");
        assert_eq!(seen.trim_end(), floodrig::redirect::BOT_TOKEN, "{program}");
    }
}
