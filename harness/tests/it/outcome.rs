//! What a run comes to: verdict, exit status, files, and numbers that agree.

use std::time::Duration;

use crate::rig::{Rig, kill};

#[test]
fn a_small_run_passes_and_leaves_its_files() {
    let left = Rig::small(&[]).run().ended(0).complete();
    let summary = left.summary();
    assert_eq!(summary["verdict"], "pass");
    assert_eq!(summary["acts"]["open"]["planned"], 20);
    assert_eq!(summary["acts"]["guess"]["ok"], 40);
    assert_eq!(summary["deliveries"]["expected"], 40);
    assert_eq!(summary["deliveries"]["lost"], 0);
    for name in ["report.html", "report.md", "run.jsonl"] {
        assert!(!left.file(name).is_empty(), "{name}");
    }
}

#[test]
fn a_broken_budget_exits_with_1_and_names_it() {
    let rig = Rig::small(&[("[crowd]", "[budgets]\nmemory = \"1MiB\"\n\n[crowd]")]);
    let left = rig.run().ended(1);
    assert_eq!(left.summary()["breaches"][0]["series"], "memory");
}

#[test]
fn a_system_that_dies_exits_with_5_and_says_how() {
    let left = Rig::small(&[("CALIBRATE = \"1\"", "CRASH_AT_BOARDS = \"0\"")]).run().ended(5).complete();
    let ending = left.summary()["system"]["ending"].clone();
    assert_eq!(ending["signal"], "SIGSEGV");
    assert!(left.stdout.contains("SIGSEGV"), "{}", left.stdout);
    let refused = left.summary()["acts"]["guess"]["outcomes"]["refused"].as_u64();
    assert!(refused > Some(0), "acts after the death are refused: {refused:?}");
}

#[test]
fn a_budget_on_an_act_without_samples_is_never_a_pass() {
    let rig = Rig::small(&[
        ("[crowd]", "[budgets]\nlatency.guess = { p99 = \"10s\" }\n\n[crowd]"),
        ("arrive.burst.over = \"2s\"", "arrive.poisson = { rate = 1.0, over = \"1s\" }"),
        // The seed by which this Poisson process has no arrival in its second.
        ("seed = 11", "seed = 1"),
    ]);
    let left = rig.judged().run().ended(4);
    assert_eq!(left.summary()["acts"]["guess"]["planned"], 0);
}

#[test]
fn variants_are_held_against_what_is_expected_of_them() {
    let variants =
        "\n[variants.tight]\nbudgets.memory = \"1MiB\"\nexpect = { verdict = \"broken\" }\n[variants.loose]\n";
    let scenario = format!("{}{variants}", crate::rig::SMALL);
    let left = Rig::new(&scenario).run();
    assert_eq!(left.status, Some(0), "{}\n{}", left.stdout, left.stderr);
    let unmet = scenario.replace("\"broken\"", "\"died\"");
    assert_eq!(Rig::new(&unmet).run().status, Some(1));
}

#[test]
fn variants_of_different_plans_are_not_compared_and_the_reason_is_said() {
    let left = Rig::small(&[]).and("\n[variants.few]\n[variants.more]\ncrowd.groups = 10\n").run().ended(0);
    assert!(left.stdout.contains("few and more: the runs are of different plans"), "{}", left.stdout);
}

#[test]
fn a_variant_with_a_build_of_its_own_is_built_by_it() {
    let build = |name: &str| format!("[variants.{name}]\nsystem.build = [\"touch\", \"{name}\"]\n");
    let rig = Rig::small(&[]).and(&format!("\n{}{}", build("one"), build("two")));
    rig.run().ended(0);
    assert!(rig.path().join("one").exists() && rig.path().join("two").exists());
}

#[test]
fn a_table_that_quotes_a_complaint_has_no_colours_in_a_pipe() {
    let left = Rig::small(&[]).and("\n[variants.here]\n[variants.nowhere]\nsystem.cores = [4095]\n").run().ended(2);
    assert!(left.stdout.contains("error: core 4095 does not exist here"), "{}", left.stdout);
    assert!(!left.stdout.contains('\u{1b}'), "{}", left.stdout);
}

#[test]
fn a_run_that_was_invalid_by_the_rigs_fault_is_tried_again_and_leaves_its_folder_to_the_second_try() {
    let rig = Rig::small(&[]);
    let other = rig.path().join("out/discarded");
    std::fs::create_dir_all(&other).expect("a folder");
    std::fs::write(other.join("run.jsonl"), "of another run").expect("a recording");
    let child = rig.start();
    rig.load_has_begun();
    kill(child.id(), "STOP");
    std::thread::sleep(Duration::from_secs(2));
    kill(child.id(), "CONT");
    let left = rig.wait(child).ended(0);
    assert!(left.stderr.contains("this one is left in out/discarded-2"), "{}", left.stderr);
    assert_eq!(std::fs::read_to_string(other.join("run.jsonl")).expect("a recording"), "of another run");
    assert!(left.file("discarded-2/summary.json").contains("the rig stood still"));
    assert_eq!(left.summary()["verdict"], "pass");
}

#[test]
fn a_run_that_no_machine_would_have_made_valid_is_not_tried_again() {
    let left = Rig::small(&[("[crowd]", "[budgets]\nlatency.guess = { p99 = \"10s\" }\n\n[crowd]")]).run().ended(4);
    assert!(!left.stderr.contains("once more"), "{}", left.stderr);
}

#[test]
fn a_system_that_never_became_ready_still_shows_what_it_asked_of_telegram_and_nothing_else() {
    let ask = r"exec 3<>/dev/tcp/127.0.0.1/${TELEGRAM_API_ROOT##*:}
        printf 'GET /bot%s/getMe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n' $BOT_TOKEN >&3; cat <&3 >&2; exit 7";
    let command = format!("[\"bash\", \"-c\", '''{ask}''']");
    let left = Rig::small(&[("[\"WORDLE\"]", &command)]).run().ended(3).complete();
    let summary = left.summary();
    assert_eq!(summary["telegram"]["by_method"]["getMe"]["calls"], 1, "{}", left.stdout);
    assert!(summary["deliveries"]["lost"].is_null(), "nobody has watched for deliveries: {}", summary["deliveries"]);
}

#[test]
fn a_system_that_is_asked_in_another_version_than_it_speaks_is_told_so_by_the_pre_flight() {
    // It listens, and answers whoever asks in HTTP/1.1 and nobody else.
    let answers = r#"
import os, socketserver
class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline()
        status = b"200 OK" if line.startswith((b"GET", b"POST")) and line.endswith(b"1.1\r\n") else b"505 No"
        self.wfile.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}")
socketserver.ThreadingTCPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
"#;
    if !crate::tools::here(&["python3"]) {
        return;
    }
    let changes = [("[\"WORDLE\"]", "[\"python3\", \"answers.py\"]"), ("ready = \"/healthz\"", "http2 = true")];
    let left = Rig::small(&changes).holding("answers.py", answers).run().ended(3);
    assert!(left.stdout.contains("it speaks HTTP/1.1: leave `system.http2` out"), "{}", left.stdout);
}

#[test]
fn a_network_that_is_in_every_figure_stands_beside_them_everywhere() {
    let left = Rig::small(&[("settle = \"5s\"", "settle = \"5s\"\nrtt = \"20ms..40ms\"")]).run().ended(0);
    assert_eq!(left.summary()["network"]["rtt_us"], serde_json::json!([20_000, 40_000]));
    for text in [left.file("report.html"), left.file("report.md"), left.stdout.clone()] {
        assert!(text.contains("in every response time: rtt 20ms..40ms"), "{text}");
    }
}

#[test]
fn the_same_p99_stands_everywhere() {
    let left = Rig::small(&[]).run().ended(0);
    let p99 = left.summary()["acts"]["guess"]["response_us"]["p99"].as_u64().expect("a p99");
    let shown = floodrig_reports::Value::Time(p99).to_string();
    for text in [left.file("report.html"), left.file("report.md"), left.stdout.clone()] {
        assert!(text.contains(&shown), "{shown} is missing");
    }
}
