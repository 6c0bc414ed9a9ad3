//! What the rig asks of the system for itself, in whole runs.

use crate::rig::Rig;

#[test]
fn a_system_without_a_heartbeat_is_asked_and_connected_to_and_the_waits_for_both_are_told() {
    let left = Rig::small(&[]).run().ended(0).complete();
    assert!(left.observed("black_box").starts_with("active: asked 20 times a second"), "{}", left.stdout);
    assert!(left.observed("bare_connects").starts_with("active: made 20 times a second"), "{}", left.stdout);
    let system = &left.summary()["system"];
    assert!(system["accept_delay_max_ms"].as_f64() > Some(0.0) && system["probe_delay_max_ms"].is_f64(), "{system}");
    assert_eq!(system["stall_source"], "outside");
    for file in ["report.html", "report.md"] {
        assert!(left.file(file).contains("longest wait to be accepted"), "{file}");
    }
}

#[test]
fn the_rig_keeps_off_the_system_where_the_scenario_says_so_and_knows_nothing_of_stalls_then() {
    let left = Rig::small(&[("[crowd]", "outside = \"off\"\n\n[crowd]")]).run().ended(0).complete();
    for what in ["black_box", "bare_connects"] {
        assert_eq!(left.observed(what), "inactive: the scenario says outside = \"off\"");
    }
    let system = &left.summary()["system"];
    assert!(system["stalls"].is_null() && system["accept_delay_max_ms"].is_null(), "{system}");
}
