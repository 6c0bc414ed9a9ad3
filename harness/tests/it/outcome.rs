//! What a run comes to: verdict, exit status, files, and numbers that agree.

use crate::rig::Rig;

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
        ("arrive.burst.over = \"1s\"", "arrive.constant = { rate = 0.1, over = \"1s\" }"),
    ]);
    rig.run().ended(4);
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
fn the_same_p99_stands_everywhere() {
    let left = Rig::small(&[]).run().ended(0);
    let p99 = left.summary()["acts"]["guess"]["response_us"]["p99"].as_u64().expect("a p99");
    let shown = floodrig_reports::Value::Time(p99).to_string();
    for text in [left.file("report.html"), left.file("report.md"), left.stdout.clone()] {
        assert!(text.contains(&shown), "{shown} is missing");
    }
}
