//! What a person is told about each kind of mistake, drawn as they see it, in one golden file to read through.

mod journeys;
mod shapes;

use proptest::prelude::*;

use super::*;
use crate::scenario::{parse, parse_each};

const GOOD: &str = include_str!("good.toml");

/// Words that stand once in the good scenario, and a mistake to write in their place.
const MISTAKES: &[(&str, &str)] = &[
    // Not TOML.
    (r#"timeout = "20s""#, r"timeout = 20s"),
    ("groups = 3", "groups = 3\ngroups = 4"),
    ("[crowd]", "[crowd"),
    ("act = \"guess\", ", "act = \"guess\", , "),
    // Keys.
    ("groups = 3", "gruops = 3"),
    ("[crowd]", "[crwod]"),
    (r#"command = ["run"]"#, r#"comand = ["run"]"#),
    ("cores = 1", r#"memroy = "1GiB""#),
    (r#"version = "/version""#, r#"versoin = "/version""#),
    (r#"p99 = "200ms""#, r#"p98 = "200ms""#),
    ("groups = 3\n", ""),
    ("name = \"good\"\n", ""),
    ("arrive.burst.over = \"60s\"\n", ""),
    ("[[journey]]", "[journey]"),
    // Units.
    (r#"timeout = "20s""#, "timeout = 250"),
    (r#"timeout = "20s""#, r#"timeout = "250""#),
    (r#"timeout = "20s""#, r#"timeout = "20 sekunden""#),
    (r#"arrive.burst.over = "60s""#, r#"arrive.burst.over = "60""#),
    (r#"think = "3s..9s""#, r#"think = "3..9s""#),
    (r#"think = "3s..9s""#, r#"think = "9s..3s""#),
    (r#"answer_time = "40ms..120ms""#, "answer_time = 40"),
    (r#"p99 = "200ms""#, "p99 = 200"),
    (r#"memory = "400MiB""#, "memory = 400"),
    (r#"memory = "400MiB""#, r#"memory = "400""#),
    (r#"memory = "400MiB""#, r#"memory = "400 elephants""#),
    // Types.
    ("groups = 3", r#"groups = "three""#),
    ("groups = 3", "groups = -3"),
    ("repeat = 6", "repeat = 70000"),
    ("seed = 7", "seed = -7"),
    ("seed = 7", r#"needs = ["node > 20"]"#),
    (r#"command = ["run"]"#, r#"command = "run""#),
    ("cores = 1", r#"cores = "all""#),
    ("cores = 1", "cores = [-1]"),
    (r#"env = { A = "1" }"#, "env = { A = 1 }"),
    // Words.
    (r#"arrive.burst.over = "60s""#, r#"arrive.brust.over = "60s""#),
    (r#"arrive.burst.over = "60s""#, r#"arrive = "burst""#),
    (r#"arrive.burst.over = "60s""#, r#"arrive = { burst = { over = "1s" }, constant = { rate = 1, over = "1s" } }"#),
    (r#"init_data = "authorization""#, r#"init_data = "autorization""#),
    (r#"verdict = "broken""#, r#"verdict = "brokn""#),
    (r#"verdict = "broken""#, r#"verdict = "broken", findings = ["stampede"]"#),
    // Acts towards the bot.
    (r#"{ act = "leave", delete = "/api/session""#, r#"{ act = "leave", says = "bye", delete = "/api/session""#),
    (r#"delete = "/api/session", capture = { later = "/later" }"#, r#"says = "bye", taps = "Play""#),
    (r#"delete = "/api/session", capture = { later = "/later" }"#, r#"says = "bye", in = "channel""#),
    (r#"delete = "/api/session", capture = { later = "/later" }"#, r#"delete = "/api/session", in = "group""#),
    (r#"delete = "/api/session", capture = { later = "/later" }"#, r#"says = """#),
    (
        r#"delete = "/api/session", capture = { later = "/later" }"#,
        r#"says = "bye", check = [{ pointer = "/ok", exists = true }]"#,
    ),
    (
        r#"delete = "/api/session", capture = { later = "/later" }"#,
        r#"says = "bye" }, { act = "again", get = "/", when = { act = "leave", status = 200 }"#,
    ),
    (
        r#"delete = "/api/session", capture = { later = "/later" }"#,
        r#"says = "bye", shows = { chat = "{chat.id}", version = "/version" }"#,
    ),
    (r#"post = "/api/session", capture = { token = "/token" }, expect_status = [200, 201]"#, r#"taps = "Play""#),
    (r#"ready = "/healthz""#, r#"ready = "bots""#),
    // Impossible values.
    ("cores = 1", "memory = 512"),
    ("cores = 1", r#"memory = "512KiB""#),
    ("cores = 1", "cpu = 0.0"),
    ("cores = 1", "open_files = 3"),
    (r#"env = { A = "1" }"#, "env = { A = \"{service.bd.port}\" }\n\n[[service]]\nname = \"db\"\nstart = [\"pg\"]"),
    (r#"env = { A = "1" }"#, "env = {}\n\n[[service]]\nname = \"db\"\nstart = [\"pg\", \"{service.db.port}\"]"),
    (r#"env = { A = "1" }"#, "env = {}\n\n[[service]]\nname = \"db\"\nstart = [\"pg\"]\nready = \"5432\""),
    (r#"env = { A = "1" }"#, "env = {}\n\n[[service]]\nname = \"d b\"\nstart = []"),
    ("name = \"good\"", r#"name = "good/bad""#),
    ("groups = 3", "groups = 0"),
    ("groups = 3", "groups = 50000001"),
    (r#"timeout = "20s""#, r#"timeout = "0s""#),
    (r#"timeout = "20s""#, r#"timeout = "25h""#),
    (r#"timeout = "20s""#, r#"start_param = "{player.name}""#),
    (r#"timeout = "20s""#, r#"start_param = "group {chat.id}""#),
    (r#"command = ["run"]"#, "command = []"),
    (r#"command = ["run"]"#, r#"command = ["run", "--port={system.port}"]"#),
    (r#"command = ["run"]"#, "command = [\"run\"]\ndir = \"nowhere\""),
    ("cores = 1", "cores = 0"),
    ("cores = 1", "cores = []"),
    ("cores = 1", "cores = [1, 1]"),
    ("cores = 1", "port = 0"),
    (r#"ready = "/healthz""#, r#"ready = "healthz""#),
    (r#"env = { A = "1" }"#, r#"env = { "A=B" = "1" }"#),
    (r#"arrive.burst.over = "60s""#, r#"arrive.constant = { rate = 0, over = "60s" }"#),
    (r#"arrive.burst.over = "60s""#, r#"arrive.poisson = { rate = -2.5, over = "60s" }"#),
    (r#"arrive.burst.over = "60s""#, r#"arrive.ramp = { from = 0, to = 0, over = "60s" }"#),
    ("repeat = 6", "repeat = 0"),
    (r#"think = "3s..9s""#, r#"think = "10h""#),
    ("expect_status = [200, 201]", "expect_status = 100"),
    ("expect_status = [200, 201]", "expect_status = [200, 700]"),
    ("expect_status = [200, 201]", "expect_status = []"),
    // Ceilings.
    (r#"answer_time = "40ms..120ms""#, r#"profile = "lenint""#),
    (r#"answer_time = "40ms..120ms""#, r#"prfile = "lenient""#),
    (r#"answer_time = "40ms..120ms""#, "penalty_growth = 5"),
    (r#"answer_time = "40ms..120ms""#, r#"answer_time = "40ms..25h""#),
    (r#"answer_time = "40ms..120ms""#, r#"counts = ["answers"]"#),
    (
        r#"answer_time = "40ms..120ms""#,
        r#"rules = [{ id = "mine", scope = "group", families = ["sends"], limit = 5, window = "0s" }]"#,
    ),
    (
        r#"answer_time = "40ms..120ms""#,
        r#"rules = [{ id = "mine", scope = "group", families = [], limit = 5, window = "10s" }]"#,
    ),
    // Steps.
    (r#"act = "guess""#, r#"act = "open""#),
    (r#"act = "guess""#, r#"act = """#),
    (r#"act = "guess""#, r#"act = "the guess""#),
    (r#"delete = "/api/session", "#, ""),
    (r#"post = "/api/session""#, r#"post = "/api/session", get = "/api/session/2""#),
    (r#"post = "/api/session""#, r#"post = "api/session""#),
    (r#"post = "/api/session""#, r#"post = "http://localhost/api/session""#),
    (r#"post = "/api/session""#, r#"post = "/api/my session""#),
    (r#"headers = { x-token = "{token}" }"#, r#"headers = { authorization = "{token}" }"#),
    (r#"headers = { x-token = "{token}" }"#, r#"headers = { Host = "example.org" }"#),
    (r#"headers = { x-token = "{token}" }"#, r#"headers = { "x token" = "{token}" }"#),
    (r#"init_data = "authorization""#, r#"init_data = { field = "word" }"#),
    ("repeat = 6", r#"text = "crane""#),
    (r#"word = "{word}""#, "word = nan"),
    (r#"version = "/version""#, r#"version = "version""#),
    (r#"version = "/version""#, r#"version = "/version", marker = "{marker}""#),
    // Placeholders.
    (r#"env = { A = "1" }"#, r#"env = { A = "{stub.ulr}" }"#),
    (r#"word = "{word}""#, r#"word = "{playr.id}""#),
    (r#"word = "{word}""#, r#"word = "{word""#),
    (r#"word = "{word}""#, r#"word = "word}""#),
    (r#"word = "{word}""#, r#"word = "\u0041{wrod}""#),
    (r#"headers = { x-token = "{token}" }"#, r#"headers = { x-token = "{later}" }"#),
    (r#"{ token = "/token" }"#, r#"{ token = "token" }"#),
    (r#"{ later = "/later" }"#, r#"{ word = "/later" }"#),
    // Budgets.
    ("latency.guess", "latency.gess"),
    ("[budgets]", "[budgets]\nlate = 0"),
    (r#"shows = { chat = "{chat.id}", version = "/version" }"#, "shows = {}"),
    (r#", shows = { chat = "{chat.id}", version = "/version" }"#, ""),
    // Variants.
    ("[variants.after]", "[variants.\"after/all\"]"),
    ("[variants.after]", "[variants.after]\nsytem.env = {}"),
    ("[variants.after]", "[variants.after]\nname = \"other\""),
    ("[variants.after]", "[variants]\nafter = 3"),
    ("seed = 7", "seed = 7\nexpect = { verdict = \"pass\" }"),
];

fn with(right: &str, wrong: &str) -> String {
    assert_eq!(GOOD.matches(right).count(), 1, "`{right}` stands exactly once in the good scenario");
    GOOD.replace(right, wrong)
}

fn drawn(text: &str, complaints: &[Complaint]) -> String {
    let source = Source { path: "good.toml".into(), text: text.to_owned() };
    anstream::adapter::strip_str(&render(&source, complaints)).to_string()
}

fn complaints(text: &str) -> Vec<Complaint> {
    parse_each("good.toml".as_ref(), text).err().unwrap_or_default()
}

#[test]
fn the_good_scenario_is_good() {
    assert_eq!(complaints(GOOD), []);
}

/// What is said of each of these mistakes, one below the other.
fn all_drawn(mistakes: &[(&str, &str)]) -> String {
    let mut golden = String::new();
    for (right, wrong) in mistakes {
        let text = with(right, wrong);
        let complaints = complaints(&text);
        assert!(!complaints.is_empty(), "`{wrong}` passes");
        assert!(complaints.iter().all(|complaint| complaint.help.is_some()), "no help for `{wrong}`");
        golden.push_str(&drawn(&text, &complaints));
        golden.push('\n');
    }
    let here = std::env::current_dir().unwrap().display().to_string();
    golden.replace(&here, "HERE")
}

#[test]
fn every_mistake_is_drawn_where_it_is_with_what_to_do() {
    insta::assert_snapshot!(all_drawn(MISTAKES));
}

#[test]
fn several_mistakes_are_told_at_once_in_file_order() {
    let text = with("groups = 3", "gruops = 3").replace("repeat = 6", "repeet = 6").replace("\"200ms\"", "200");
    let said: Vec<String> = complaints(&text).into_iter().map(|complaint| complaint.says).collect();
    assert_eq!(said, ["unknown key `gruops`", "unknown key `repeet`", "a number without its unit"]);
}

#[test]
fn a_mistake_beside_the_variants_is_told_once() {
    assert_eq!(complaints(&with("groups = 3", "groups = 0")).len(), 1);
}

#[test]
fn an_unknown_variant_is_told_with_the_nearest() {
    let complaints = parse("good.toml".as_ref(), GOOD, Some("befor")).unwrap_err();
    assert_eq!(complaints[0].says, "this scenario has no variant `befor`");
    assert_eq!(complaints[0].help.as_deref(), Some("did you mean `before`?"));
}

#[test]
fn a_span_over_many_lines_or_past_the_end_is_drawn_on_its_first_line() {
    let complaint = |span| Complaint { span, says: "so".to_owned(), help: None };
    insta::assert_snapshot!(drawn("añ = [\n1]\n", &[complaint(5..10), complaint(1..2), complaint(90..99)]));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_or_the_drawing_panic(text in "\\PC{0,200}") {
        drawn(&text, &complaints(&text));
    }

    #[test]
    fn no_change_to_a_good_scenario_makes_them_panic(
        from in 0..GOOD.len(), length in 0..40_usize, instead in "[ -~\n]{0,6}|[{}\\[\\]\"=.,0-9é😀-]{0,4}", lines in any::<bool>(),
    ) {
        let text = if lines { swapped(from, length) } else { replaced(from, length, &instead) };
        let complaints = complaints(&text);
        for complaint in &complaints {
            prop_assert!(complaint.span.start <= complaint.span.end, "{complaint:?}");
            prop_assert!(text.get(complaint.span.clone()).is_some(), "{complaint:?} is outside the text");
        }
        drawn(&text, &complaints);
    }
}

fn replaced(from: usize, length: usize, instead: &str) -> String {
    let mut text = GOOD.to_owned();
    text.replace_range(from..(from + length).min(GOOD.len()), instead);
    text
}

fn swapped(one: usize, other: usize) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    let count = lines.len();
    lines.swap(one % count, other % count);
    lines.join("\n")
}
