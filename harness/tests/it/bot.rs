//! Users who act towards a bot: real bots that poll or take a webhook, and what is recorded of them.

use serde_json::Value;

use crate::rig::{Left, Rig};
use crate::tools;

/// 20 players once each within a second, their bot in Python's standard library. It is written twice as large, because
/// tests run it with `--quick`.
const START: &str = r#"
name = "start"
seed = 11

[system]
dir = "."
command = ["python3", "bot.py"]
env = { ENV = "" }

[telegram]
profile = "off"
answer_time = "0ms..0ms"

[crowd]
groups = 4
players_per_group = 10
timeout = "3s"
settle = "5s"

[[journey]]
name = "play"
arrive.burst.over = "2s"
steps = [
  { act = "start", says = "/start" },
]
"#;

const BOT: &str = include_str!("bots/bot.py");

/// The scenario with pieces replaced, and its bot; nothing where there is no Python.
pub(crate) fn with_bot(changes: &[(&str, &str)]) -> Option<Rig> {
    tools::here(&["python3"]).then(|| Rig::changed(START, changes).holding("bot.py", BOT))
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a count: {value}"))
}

/// The recording's notes.
fn notes(left: &Left) -> Vec<String> {
    let rows = left.file("run.jsonl");
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    rows.filter(|row| row["kind"] == "note").map(|row| row["text"].as_str().unwrap_or_default().to_owned()).collect()
}

const TAPS: (&str, &str) = (
    "  { act = \"start\", says = \"/start\" },",
    "  { act = \"start\", says = \"/start\" },\n  { act = \"tap\", taps = \"Play\", repeat = 4, think = \"200ms\" },",
);

#[test]
fn a_polling_bot_that_listens_nowhere_is_started_tapped_and_answered() {
    let Some(rig) = with_bot(&[TAPS]) else { return };
    let left = rig.run().ended(0).complete();
    let summary = left.summary();
    assert_eq!((count(&summary["acts"]["start"]["ok"]), count(&summary["acts"]["tap"]["ok"])), (20, 40));
    assert_eq!(summary["telegram"]["unmatched"], 0);
    assert_eq!(count(&summary["telegram"]["by_method"]["answerCallbackQuery"]["calls"]), 40);
    let black_box = summary["observations"]["black_box"].as_str().expect("said");
    assert!(black_box.starts_with("inactive: ") && black_box.contains("need not listen"), "{black_box}");
    assert!(left.stderr.contains("bot up and asking for updates"), "{}", left.stderr);
}

#[test]
fn a_bot_behind_a_webhook_is_answered_by_the_same_acts() {
    let Some(rig) = with_bot(&[TAPS, ("ENV = \"\"", "MODE = \"webhook\"")]) else { return };
    let summary = rig.run().ended(0).complete().summary();
    assert_eq!((count(&summary["acts"]["start"]["ok"]), count(&summary["acts"]["tap"]["ok"])), (20, 40));
    assert_eq!(count(&summary["telegram"]["by_method"]["setWebhook"]["calls"]), 1);
}

#[test]
fn an_answer_ordered_after_300_ms_is_recorded_as_300_ms() {
    for mode in ["poll", "webhook"] {
        let env = format!("MODE = \"{mode}\", AFTER_MS = \"300\"");
        let Some(rig) = with_bot(&[("ENV = \"\"", &env)]) else { return };
        let summary = rig.run().ended(0).complete().summary();
        let p50 = count(&summary["acts"]["start"]["response_us"]["p50"]);
        // A shared machine may hold a Python up; before 300 ms nothing can be there.
        assert!((300_000..400_000).contains(&p50), "{mode}: {p50} us");
    }
}

#[test]
fn a_bot_that_never_answers_every_fifth_leaves_exactly_as_many_unanswered() {
    let Some(rig) = with_bot(&[("ENV = \"\"", "SILENT_EVERY = \"5\"")]) else { return };
    let left = rig.run().complete();
    let act = left.summary()["acts"]["start"].clone();
    // The pre-flight's update is the first, so that every fifth of 21 is four.
    assert_eq!((count(&act["ok"]), count(&act["outcomes"]["unanswered"])), (16, 4));
    assert_eq!(left.summary()["telegram"]["unmatched"], 0);
}

#[test]
fn what_a_talkative_bot_says_beside_its_answers_is_unmatched() {
    let Some(rig) = with_bot(&[("ENV = \"\"", "TALKATIVE = \"1\"")]) else { return };
    let left = rig.run().ended(0).complete();
    // The last one may come after the load has ended.
    let unmatched = count(&left.summary()["telegram"]["unmatched"]);
    assert!((18..=21).contains(&unmatched), "{unmatched}");
    for text in [left.file("report.html"), left.file("report.md"), left.stdout.clone()] {
        assert!(text.contains("calls that answered no act"), "{text}");
    }
}

#[test]
fn a_bot_that_edits_what_was_tapped_once_it_has_answered_has_nothing_unmatched() {
    let Some(rig) = with_bot(&[TAPS, ("ENV = \"\"", "EDITS = \"1\"")]) else { return };
    let summary = rig.run().ended(0).complete().summary();
    assert_eq!((count(&summary["acts"]["tap"]["ok"]), &summary["telegram"]["unmatched"]), (40, &Value::from(0)));
    assert!(count(&summary["telegram"]["by_method"]["editMessageText"]["calls"]) >= 30, "{}", summary["telegram"]);
}

#[test]
fn a_visit_goes_from_the_app_to_the_bot_and_back_and_every_act_is_accounted_for() {
    let mixed = (
        "  { act = \"start\", says = \"/start\" },",
        "  { act = \"open\", get = \"/\", capture = { greeting = \"/greeting\" }, on_failure = \"leave\" },\n  \
           { act = \"start\", says = \"/start\" },\n  \
           { act = \"tap\", taps = \"Play\", think = \"100ms\" },\n  \
           { act = \"talk\", says = \"{greeting}\", in = \"group\", when = { act = \"tap\", ok = true } },\n  \
           { act = \"comfort\", get = \"/\", when = { act = \"tap\", ok = false } },",
    );
    // Who watches from outside would be one of those who are counted.
    let unwatched = ("[telegram]", "outside = \"off\"\n\n[telegram]");
    let Some(rig) = with_bot(&[mixed, unwatched, ("ENV = \"\"", "MODE = \"webhook\"")]) else { return };
    let summary = rig.run().complete().summary();
    let acts = summary["acts"].as_object().expect("acts");
    for (name, act) in acts {
        let outcomes: u64 = act["outcomes"].as_object().expect("outcomes").values().map(count).sum();
        assert_eq!((count(&act["planned"]), count(&act["ok"]) + outcomes), (20, 20), "{name}: {act}");
    }
    let left = count(&acts["open"]["outcomes"]["status_5xx"]);
    assert!((2..=3).contains(&left), "every seventh of 20, whatever the pre-flight took: {left}");
    for name in ["start", "tap", "talk"] {
        assert_eq!(count(&acts[name]["ok"]), 20 - left, "{name}: {}", acts[name]);
    }
    assert_eq!(count(&acts["comfort"]["ok"]), 0);
    assert_eq!(summary["telegram"]["unmatched"], 0);
}

#[test]
fn acts_towards_the_bot_are_refused_where_the_stub_is_another_rigs() {
    let rig = Rig::new(START).with(&["--stub", "http://127.0.0.1:1"]);
    let left = rig.run().ended(2);
    assert!(left.stderr.contains("acts towards the bot go through the stub"), "{}", left.stderr);
    assert!(left.stderr.contains("leave them to a run of one rig with a stub of its own"), "{}", left.stderr);
}

#[test]
fn a_group_beyond_its_ceiling_shows_throttled_calls_and_later_answers() {
    let ceiling = "profile = \"off\"\nabsorb_short_waits = false\nrules = [{ id = \"group\", scope = \"group\", \
                   families = [\"sends\"], limit = 20, window = \"2s\" }]";
    let group = "{ act = \"start\", says = \"hello {marker}\", in = \"group\", \
                 shows = { chat = \"{chat.id}\", marker = \"{marker}\" } }";
    let Some(rig) = with_bot(&[
        ("profile = \"off\"", ceiling),
        ("groups = 4", "groups = 1"),
        ("players_per_group = 10", "players_per_group = 25"),
        ("timeout = \"3s\"", "timeout = \"20s\""),
        ("{ act = \"start\", says = \"/start\" }", group),
    ]) else {
        return;
    };
    let left = rig.run().ended(0).complete();
    let (summary, act) = (left.summary(), left.summary()["acts"]["start"].clone());
    let planned = count(&act["planned"]);
    assert_eq!((planned, &act["ok"]), (25, &act["planned"]));
    assert!(count(&summary["telegram"]["throttled"]) >= planned - 20, "{}", summary["telegram"]);
    assert!(count(&act["response_us"]["max"]) > 1_000_000, "a refused call is no answer, its retry is: {act}");
    assert_eq!(summary["deliveries"]["delivered"], planned);
}

#[test]
fn a_tap_on_a_button_that_was_never_shown_is_abandoned() {
    let wrong = (
        "  { act = \"start\", says = \"/start\" },",
        "  { act = \"start\", says = \"/start\" },\n  { act = \"tap\", taps = \"Quit\", think = \"200ms\" },",
    );
    let Some(rig) = with_bot(&[wrong]) else { return };
    let summary = rig.run().complete().summary();
    assert_eq!(count(&summary["acts"]["tap"]["outcomes"]["abandoned"]), 20);
}

#[test]
fn a_bot_that_never_asks_is_not_ready_and_is_told_what_to_look_at() {
    let idle = ("env = { ENV = \"\" }", "env = { MODE = \"idle\" }\nready_within = \"1s\"");
    let Some(rig) = with_bot(&[idle]) else { return };
    let left = rig.run().ended(3);
    assert!(left.stdout.contains("0 calls reached the stub"), "{}", left.stdout);
    assert!(left.stdout.contains("TELEGRAM_API_ROOT"), "{}", left.stdout);
}

#[test]
fn a_webhook_that_refuses_is_named_with_its_last_error() {
    let Some(rig) = with_bot(&[
        ("ENV = \"\"", "MODE = \"webhook\", REFUSES_FROM = \"1\""),
        ("timeout = \"3s\"", "timeout = \"1s\""),
    ]) else {
        return;
    };
    let left = rig.run().ended(3);
    let says = "Wrong response from the webhook: 500 Internal Server Error";
    assert!(left.stdout.contains(says), "{}", left.stdout);
    assert!(notes(&left).is_empty(), "there was no load to note anything of");
}

#[test]
fn a_webhook_that_begins_to_refuse_leaves_acts_unanswered_and_its_error_in_the_report() {
    let Some(rig) = with_bot(&[
        ("ENV = \"\"", "MODE = \"webhook\", REFUSES_FROM = \"11\""),
        ("timeout = \"3s\"", "timeout = \"1s\""),
    ]) else {
        return;
    };
    let left = rig.run().complete();
    let act = left.summary()["acts"]["start"].clone();
    // The pre-flight's update is the first of the ten that were taken.
    assert_eq!((count(&act["ok"]), count(&act["outcomes"]["unanswered"])), (9, 11));
    let notes = notes(&left);
    assert!(notes.iter().any(|note| note.contains("500 Internal Server Error")), "{notes:?}");
    assert!(left.file("report.html").contains("500 Internal Server Error"));
}

#[test]
fn a_system_that_never_calls_telegram_is_told_so_before_the_load() {
    let deaf = "command = [\"sh\", \"-c\", \"exec python3 -m http.server $PORT\"]\nready = \"/\"";
    let command = "command = [\"python3\", \"bot.py\"]";
    let Some(rig) = with_bot(&[(command, deaf), ("timeout = \"3s\"", "timeout = \"1s\"")]) else { return };
    let left = rig.run().ended(3);
    assert!(left.stdout.contains("0 calls reached the stub"), "{}", left.stdout);
    assert!(left.stdout.contains("TELEGRAM_API_ROOT"), "{}", left.stdout);
}
