//! Mistakes in shape: something else where a table, a list, or a list of tables belongs.

use super::*;

const SEED: &str = "seed = 7";
const ENV: &str = r#"env = { A = "1" }"#;
const EXPECT: &str = r#"expect = { verdict = "broken" }"#;
const ARRIVE: &str = r#"arrive.burst.over = "60s""#;
const THINK: &str = r#"think = "3s..9s""#;
const CAPTURE: &str = r#"capture = { token = "/token" }"#;
const SHOWS: &str = r#"shows = { chat = "{chat.id}", version = "/version" }"#;
const LATENCY: &str = r#"latency.guess = { p99 = "200ms" }"#;
const ANSWER_TIME: &str = r#"answer_time = "40ms..120ms""#;
const SYSTEM: &str = "\n[system]\ncommand = [\"run\"]\ncores = 1\nready = \"/healthz\"\nenv = { A = \"1\" }\n";

const SHAPES: &[(&str, &str)] = &[
    // In steps.
    (THINK, r#"check = "x""#),
    (THINK, "check = true"),
    (THINK, r#"check = { pointer = "/ok", equals = true }"#),
    (THINK, r#"check = ["/ok"]"#),
    (THINK, r#"check = [["/ok", true, true]]"#),
    (THINK, r#"check = [{ pointer = "/ok", exists = "x" }]"#),
    ("repeat = 6", "repeat = -1"),
    (THINK, "expect_status = -1"),
    (THINK, "think = 2026-11-30"),
    (THINK, r#"when = "open""#),
    (THINK, r#"when = ["open", true, 200]"#),
    (THINK, r#"assets = "/a.js""#),
    (THINK, r#"answer = "ok""#),
    (THINK, r#"think = { exponential = "4s" }"#),
    (r#"headers = { x-token = "{token}" }"#, r#"headers = "x-token: 1""#),
    (CAPTURE, r#"capture = "/token""#),
    (SHOWS, r#"shows = "{chat.id}""#),
    (SHOWS, r#"shows = ["{chat.id}", "{marker}", "/version"]"#),
    (r#"delete = "/api/session", "#, r#"delete = ["/api/session"], "#),
    // In journeys.
    (ARRIVE, "arrive = 3"),
    (ARRIVE, "arrive = [3]"),
    (ARRIVE, "arrive = {}"),
    (ARRIVE, r#"arrive.constant = { rate = "50", over = "10s" }"#),
    (ARRIVE, r#"arrive.steps = { rates = ["10"], each = "10s" }"#),
    (ARRIVE, "arrive.burst.over = -60"),
    (ARRIVE, r#"arrive.burst = "60s""#),
    (ARRIVE, r#"arrive.burst = ["60s"]"#),
    (ARRIVE, r#"arrive.steps = { rates = 10, each = "10s" }"#),
    (r#"init_data = "authorization""#, "init_data = 3"),
    (r#"init_data = "authorization""#, "init_data = \"authorization\"\ninit_data_faults = 0.1"),
    ("[budgets]", "[[journey]]\nname = \"other\"\narrive.burst.over = \"1s\"\nsteps = \"open\"\n\n[budgets]"),
    ("[budgets]", "[[journey]]\nname = \"other\"\narrive.burst.over = \"1s\"\nsteps = [\"open\"]\n\n[budgets]"),
    ("[budgets]", "[[journey]]\nname = \"other\"\narrive.burst.over = \"1s\"\nsteps.act = \"open\"\n\n[budgets]"),
    // In what surrounds them.
    (SYSTEM, "system = \"npm start\"\n"),
    (SYSTEM, "system = [\"npm\", \"start\"]\n"),
    (r#"command = ["run"]"#, "command = { run = true }"),
    (ENV, r#"env = "A=1""#),
    (ENV, r#"env = ["A=1"]"#),
    (ENV, "env = 2026-11-30"),
    (ENV, "memory = -1"),
    (ENV, "open_files = 2147483585"),
    (ENV, r#"tls = "certificate.pem""#),
    (ENV, "\n[[service]]\nname = \"db\"\nstart = [\"pg\"]\nready = 5432"),
    (SEED, r#"needs = "node >= 20""#),
    (SEED, r#"service = "db""#),
    (SEED, r#"event = { at = "20s", do = "terminate" }"#),
    (SEED, r#"words = ["Oslo"]"#),
    (ANSWER_TIME, r#"counts = "sends""#),
    (ANSWER_TIME, "rules = 3"),
    (EXPECT, r#"expect = "broken""#),
    (EXPECT, "expect = { verdict = 3 }"),
    (EXPECT, r#"expect = { verdict = "broken", findings = "render_stampede" }"#),
    (EXPECT, r#"expect = { verdict = "broken", findings = [3] }"#),
    (ENV, "heartbeat = true"),
    (LATENCY, r#"latency = "200ms""#),
    (LATENCY, r#"latency.guess = "200ms""#),
    (LATENCY, r#"latency.guess = ["200ms"]"#),
    (LATENCY, "latency.guess = 2026-11-30"),
    (LATENCY, "recovery = 3"),
    (LATENCY, r#"shutdown = "10s""#),
];

#[test]
fn every_mistake_in_shape_is_drawn_where_it_is_with_what_to_do() {
    insta::assert_snapshot!(all_drawn(SHAPES));
}
