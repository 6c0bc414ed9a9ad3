//! Mistakes in what players do, beyond the simplest.

use super::*;

const ARRIVE: &str = r#"arrive.burst.over = "60s""#;
const THINK: &str = r#"think = "3s..9s""#;
const CAPTURE: &str = r#"{ token = "/token" }"#;
const INIT_DATA: &str = r#"init_data = "authorization""#;
const GROUPS: &str = "players_per_group = 2";

const IN_JOURNEYS: &[(&str, &str)] = &[
    // Arrivals.
    (ARRIVE, r#"arrive.steps = { rates = [1, -2], each = "10s" }"#),
    (ARRIVE, r#"arrive.steps = { rates = [], each = "10s" }"#),
    (ARRIVE, r#"arrive.steps = { rates = [5], each = "0s" }"#),
    (ARRIVE, r#"arrive.replay = { file = "nowhere.csv" }"#),
    (ARRIVE, "weight = 3"),
    (ARRIVE, "arrive.burst.over = \"60s\"\nweight = 3"),
    (GROUPS, "players_per_group = 2\narrive.burst.over = \"60s\""),
    (GROUPS, "players_per_group = 2\narrive.constant = { rate = 0, over = \"60s\" }"),
    // Thinking.
    (THINK, "think = 3"),
    (THINK, "think = {}"),
    (THINK, r#"think = { normal = { mean = "4s" } }"#),
    (THINK, "think = { exponential = { mean = 4 } }"),
    (THINK, r#"think = { exponential = { mean = "4s" }, lognormal = { median = "4s", p90 = "12s" } }"#),
    (THINK, r#"think = { exponential = { mean = "4s", at_least = "20s", at_most = "10s" } }"#),
    (THINK, r#"think = { lognormal = { median = "4s", p90 = "4s" } }"#),
    (THINK, r#"think = { lognormal = { median = "4s", p90 = "1h" } }"#),
    // Conditions, captures and checks.
    (THINK, r#"when = { act = "opne", ok = true }"#),
    (THINK, r#"when = { act = "leave", ok = true }"#),
    (THINK, r#"when = { act = "open", ok = true, status = 200 }"#),
    (THINK, r#"when = { act = "open", status = 99 }"#),
    (CAPTURE, r#"{ token = { haeder = "x-token" } }"#),
    (CAPTURE, r#"{ token = { header = "x token" } }"#),
    (CAPTURE, "{ token = 3 }"),
    (THINK, r#"check = [{ pointer = "ok", equals = true }]"#),
    (THINK, r#"check = [{ pointer = "/ok" }]"#),
    (THINK, r#"check = [{ pointer = "/ok", equals = true, exists = true }]"#),
    (THINK, r#"check = [{ pointer = "/id", equals = "{playr.id}" }]"#),
    // Failure.
    (THINK, r#"on_failure = "retry""#),
    (THINK, r#"on_failure = "retry 2 within 0s""#),
    (INIT_DATA, "init_data = \"authorization\"\non_failure = \"complain\""),
    // Faulty initData.
    (INIT_DATA, "init_data_faults = { stale = 0.1 }"),
    (INIT_DATA, "init_data = \"authorization\"\ninit_data_faults = { stale = 2 }"),
    (INIT_DATA, "init_data = \"authorization\"\ninit_data_faults = { stale = 0.6, tampered = 0.6 }"),
    (INIT_DATA, "init_data = \"authorization\"\ninit_data_faults = { reused = 0.1 }"),
    (INIT_DATA, "init_data = \"authorization\"\ninit_data_faults = { stale = 0.1, refused = [\"old\"] }"),
    (INIT_DATA, "init_data = \"authorization\"\ninit_data_faults = { stale = 0.1, refused_with = [] }"),
    // Words and chance.
    ("[crowd]", "[words]\ncity = []\n[crowd]"),
    ("[crowd]", "[words]\n\"my city\" = [\"Oslo\"]\n[crowd]"),
    ("[crowd]", "[words]\ncity = \"Oslo\"\n[crowd]"),
    ("[crowd]", "[words]\ncity = { file = \"nowhere.txt\" }\n[crowd]"),
    (r#"word = "{word}""#, r#"word = "{word.city}""#),
    (r#"word = "{word}""#, r#"word = "{random.9..1}""#),
    (r#"word = "{word}""#, r#"word = "{random.text.0}""#),
];

#[test]
fn a_list_that_cannot_be_read_is_complained_of_where_it_is_named_and_not_where_it_is_drawn_from() {
    for list in [r#"{ file = "nowhere.txt" }"#, "[]"] {
        let text = with("[crowd]", &format!("[words]\ncity = {list}\n[crowd]")).replace("{word}", "{word.city}");
        assert_eq!(complaints(&text).len(), 1, "{list}");
    }
}

#[test]
fn every_mistake_in_a_journey_is_drawn_where_it_is_with_what_to_do() {
    insta::assert_snapshot!(all_drawn(IN_JOURNEYS));
}
