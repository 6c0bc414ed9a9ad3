//! After the load: real systems that recover or do not, and that take an ordered stop well or badly. The order goes
//! from the test to the system by its environment, drawn anew each time, and never through the rig.

use serde_json::Value;

use crate::bot::with_bot;
use crate::rig::{Left, Rig};
use crate::tools;

/// 20 players, each saying something once within a second; written twice as large, because tests run it with
/// `--quick`.
const SAY: &str = r#"
name = "say"
seed = 5

[system]
dir = "."
command = ["python3", "app.py"]
ready = "/healthz"
stop_within = "5s"
heartbeat = "off"
env = { ENV = "" }

[telegram]
profile = "off"
answer_time = "0ms..0ms"

[crowd]
groups = 4
players_per_group = 10
timeout = "2s"
settle = "5s"

[[journey]]
name = "say"
arrive.burst.over = "2s"
steps = [
  { act = "say", post = "/say", json = { chat = "{chat.id}", text = "{marker}" }, shows = { chat = "{chat.id}", marker = "{marker}" } },
]
"#;

const APP: &str = include_str!("bots/app.py");
const STOP: &str = "\n[[event]]\nat = \"1600ms\"\ndo = \"terminate\"\n";
const IDLE: (&str, &str) = ("settle = \"5s\"", "settle = \"5s\"\nidle = \"1500ms\"");

/// The run of a system with this environment; nothing where there is no Python.
fn run(env: &str, changes: &[(&str, &str)], more: &str) -> Option<Left> {
    let rig = || Rig::changed(&SAY.replace("ENV = \"\"", env), changes).and(more).holding("app.py", APP);
    tools::here(&["python3"]).then(|| rig().run())
}

fn findings(left: &Left) -> Vec<String> {
    let summary = left.summary();
    let findings = summary["findings"].as_array().expect("findings").iter();
    findings.map(|finding| finding["id"].as_str().expect("a name").to_owned()).collect()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Different in each run, and seen in the failure's text.
fn drawn(from: u32, to: u32) -> u32 {
    from + std::process::id() % (to - from + 1)
}

#[test]
fn a_system_that_loses_what_it_has_accepted_shows_exactly_as_many() {
    let kept = drawn(1, 6);
    let env = format!("KEEP = \"{kept}\", ON_TERM = \"lose\"");
    let Some(left) = run(&env, &[], &format!("{STOP}[budgets]\nlost = 0\n")) else { return };
    let left = left.ended(1).complete();
    let stop = left.summary()["shutdown"].clone();
    assert_eq!((number(&stop["waiting"]), number(&stop["lost"])), (kept.into(), kept.into()), "kept {kept}: {stop}");
    assert_eq!(findings(&left), ["lost_at_stop"]);
    assert!(left.stdout.contains("messages were accepted and never delivered"), "{}", left.stdout);
}

#[test]
fn a_system_that_drains_loses_nothing_and_what_comes_afterwards_is_charged_to_nobody() {
    let kept = drawn(1, 6);
    let env = format!("KEEP = \"{kept}\", ON_TERM = \"drain\"");
    let budgets = "[budgets]\nlost = 0\nfailed = 0\nunserved = 0\nshutdown.within = \"4s\"\n";
    let Some(left) = run(&env, &[], &format!("{STOP}{budgets}")) else { return };
    let left = left.ended(0).complete();
    let summary = left.summary();
    let stop = &summary["shutdown"];
    assert_eq!((number(&stop["waiting"]), number(&stop["lost"])), (kept.into(), 0), "kept {kept}: {stop}");
    let act = &summary["acts"]["say"];
    assert_eq!((number(&act["ok"]) + number(&stop["stopped"]), number(&act["unserved"])), (20, 0), "{act}");
    assert!(number(&stop["stopped"]) > 0, "the load went on without it: {stop}");
    assert_eq!((summary["system"]["ending"]["kind"].as_str(), findings(&left).len()), (Some("stopped"), 0));
    assert_eq!(summary["recovery"], Value::Null);
}

#[test]
fn the_time_to_exit_is_recorded_as_it_was_ordered() {
    let ms = i64::from(drawn(300, 1_200));
    let Some(left) = run(&format!("EXIT_MS = \"{ms}\""), &[], STOP) else { return };
    let stop = left.ended(0).summary()["shutdown"].clone();
    // A shared machine may hold a Python up; before that time it cannot be gone.
    assert!((ms..ms + 500).contains(&number(&stop["exit_ms"])), "ordered {ms} ms: {stop}");
    assert_eq!(stop["killed"], false);
}

#[test]
fn a_system_that_does_not_exit_in_time_is_killed_and_breaks_its_budget() {
    let short = ("stop_within = \"5s\"", "stop_within = \"400ms\"");
    let budget = format!("{STOP}[budgets.shutdown]\nwithin = \"10s\"\n");
    let Some(left) = run("EXIT_MS = \"60000\"", &[short], &budget) else { return };
    let left = left.ended(1);
    assert_eq!(left.summary()["shutdown"]["killed"], true);
    assert_eq!(left.summary()["system"]["ending"]["kind"], "stopped");
    assert_eq!(findings(&left), ["lost_at_stop"]);
}

#[test]
fn updates_that_were_acknowledged_and_never_acted_on_are_counted_and_refused_ones_are_not() {
    let stop = STOP.replace("1600ms", "4s");
    // The pre-flight's update is the first, so that every fifth of 21 is four.
    for (env, unacted) in [
        ("SILENT_EVERY = \"5\"", 4),
        ("MODE = \"webhook\", SILENT_EVERY = \"5\"", 4),
        ("MODE = \"webhook\", REFUSES_FROM = \"17\"", 0),
    ] {
        let Some(rig) = with_bot(&[("ENV = \"\"", env)]) else { return };
        let left = rig.and(&stop).run();
        let summary = left.summary();
        assert_eq!(number(&summary["shutdown"]["unacted"]), unacted, "{env}: {}", summary["shutdown"]);
        assert_eq!(findings(&left).len(), usize::from(unacted > 0), "{env}");
    }
}

#[test]
fn memory_and_handles_that_stay_are_recorded_with_their_size_and_break_their_budgets() {
    let (mib, handles) = (drawn(40, 60), drawn(100, 200));
    let env = format!("LEAK_MIB = \"{mib}\", HANDLES = \"{handles}\"");
    let budgets = "\n[budgets.recovery]\nmemory = \"20MiB\"\nhandles = 20\nresponse = \"10s\"\n";
    let Some(left) = run(&env, &[IDLE], budgets) else { return };
    let left = left.ended(1).complete();
    let recovery = left.summary()["recovery"].clone();
    let grown = number(&recovery["rss_left_bytes"]) as f64 / f64::from(1 << 20);
    assert!((grown - f64::from(mib)).abs() < 8.0, "ordered {mib} MiB, {grown} MiB left: {recovery}");
    assert!((number(&recovery["handles_left"]) - i64::from(handles)).abs() <= 3, "ordered {handles}: {recovery}");
    assert_eq!(number(&recovery["idle_ms"]) / 1_000, 1);
    assert_eq!(findings(&left), ["did_not_recover"]);
}

#[test]
fn a_system_that_gives_its_memory_back_has_recovered() {
    let budgets = "\n[budgets.recovery]\nmemory = \"20MiB\"\nresponse = \"10s\"\n";
    let Some(left) = run("LEAK_MIB = \"50\", GIVE_BACK = \"1\"", &[IDLE], budgets) else { return };
    let left = left.ended(0).complete();
    let recovery = left.summary()["recovery"].clone();
    assert!(number(&recovery["rss_left_bytes"]) < 10 << 20, "{recovery}");
    let say = &recovery["acts"]["say"];
    assert!(number(&say["before_us"]) > 0 && number(&say["after_us"]) > 0, "{recovery}");
    assert!(findings(&left).is_empty());
}

#[test]
fn a_system_that_stays_blocked_after_the_load_did_not_recover() {
    let budgets = "\n[budgets.recovery]\nresponse = \"10s\"\n";
    let Some(left) = run("BLOCK_AFTER = \"20\"", &[IDLE], budgets) else { return };
    let left = left.ended(1).complete();
    let summary = left.summary();
    assert_eq!((number(&summary["acts"]["say"]["ok"]), findings(&left)), (20, vec!["did_not_recover".to_owned()]));
    assert_eq!(summary["recovery"]["acts"]["say"]["after_us"], Value::Null);
    assert!(left.stdout.contains("did not recover"), "{}", left.stdout);
}

#[test]
fn nothing_ordered_is_nothing_reported() {
    let Some(left) = run("KEEP = \"0\"", &[], "") else { return };
    let summary = left.ended(0).complete().summary();
    assert_eq!((&summary["shutdown"], &summary["recovery"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (number(&summary["acts"]["say"]["outcomes"]["stopped"]), &summary["findings"]),
        (0, &Value::Array(Vec::new()))
    );
}
