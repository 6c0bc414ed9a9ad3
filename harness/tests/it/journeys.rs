//! Journeys against a real system: shared arrivals, recorded ones, conditions, and initData that must be refused.

use std::fs;

use crate::rig::{Left, Rig};
use crate::server::counting;

#[test]
fn a_system_that_checks_init_data_refuses_what_is_forged_and_those_acts_are_counted_apart() {
    let faults = "init_data = \"authorization\"\ninit_data_faults = { stale = 0.4, tampered = 0.4 }";
    let left = Rig::small(&[("init_data = \"authorization\"", faults)]).run().ended(0).complete();
    let acts = left.summary()["acts"].clone();
    let planned = |act: &str| acts[act]["planned"].as_u64().unwrap_or_else(|| panic!("no act {act} in {acts}"));
    assert_eq!(planned("open") + planned("open.stale") + planned("open.tampered"), 20);
    for act in ["open.stale", "open.tampered", "guess.stale", "guess.tampered"] {
        assert!(planned(act) > 0 && acts[act]["ok"] == planned(act), "{act}: {acts}");
    }
    assert_eq!(findings(&left), [""; 0]);
}

fn findings(left: &Left) -> Vec<String> {
    let found = left.summary()["findings"].as_array().expect("findings").clone();
    found.iter().map(|finding| finding["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_system_that_lets_forged_and_old_init_data_in_has_a_finding_of_each_and_how_often() {
    let (address, _) = counting();
    let faults = "init_data = \"authorization\"\ninit_data_faults = { stale = 0.4, tampered = 0.4 }";
    let shows = ", shows = { chat = \"{chat.id}\", version = \"/version\" }";
    let rig = Rig::small(&[("init_data = \"authorization\"", faults), (shows, "")]);
    let left = rig.with(&["--target", &format!("http://{address}")]).run().ended(0).complete();
    assert_eq!(findings(&left), ["forged_init_data", "replayed_init_data"]);
    let forged = left.summary()["acts"]["open.tampered"]["planned"].as_u64().expect("a count");
    let said = format!("{forged} of {forged} `open.tampered` were answered 2xx");
    assert!(left.stdout.contains(&said), "{said} is missing in {}", left.stdout);
}

#[test]
fn journeys_share_recorded_arrivals_and_go_different_ways() {
    let before = "players_per_group = 5\narrive.replay = { file = \"a.csv\" }";
    let ways = "
[[journey]]
name = \"look\"
weight = 2
steps = [
  { act = \"miss\", get = \"/nowhere\", expect_status = 404, on_failure = \"leave\" },
  { act = \"retry\", get = \"/nowhere\", on_failure = \"retry 2 within 4s, then leave\" },
  { act = \"left\", get = \"/healthz\" },
  { act = \"never\", get = \"/healthz\", when = { act = \"miss\", status = 200 } },
]
";
    let rig = Rig::small(&[("players_per_group = 5", before), ("arrive.burst.over = \"2s\"\n", "")]).and(ways);
    let times: Vec<String> = (0..40).map(|nth| format!("{}\n", 1_790_000_000.0 + f64::from(nth) * 0.05)).collect();
    fs::write(rig.path().join("a.csv"), times.concat()).expect("the arrivals are written");
    let left = rig.run().ended(0).complete();
    let acts = left.summary()["acts"].clone();
    let count = |act: &str, key: &str| acts[act][key].as_u64().unwrap_or_else(|| panic!("no {act} {key} in {acts}"));
    // Half of what was recorded, in a quick run.
    assert_eq!(count("open", "planned") + count("miss", "planned"), 20);
    assert!(count("miss", "planned") > 0 && count("miss", "ok") == count("miss", "planned"));
    assert_eq!(count("retry", "requests"), 3 * count("retry", "planned"));
    assert_eq!((count("left", "left"), count("left", "requests")), (count("left", "planned"), 0));
}
