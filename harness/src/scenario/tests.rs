//! The scenario room as a whole: what parses, and into what.

mod journeys;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

fn files() -> Vec<PathBuf> {
    let all = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_scenario_of_the_folder_parses_in_each_of_its_variants() {
    let files = files();
    assert!(files.len() >= 4, "{files:?}");
    for path in files {
        let source = Source::read(&path).unwrap();
        assert!(source.text.starts_with("#:schema ./scenario.schema.json\n"), "{}", path.display());
        let scenarios =
            parse_each(&path, &source.text).unwrap_or_else(|found| panic!("{}: {found:#?}", path.display()));
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(scenarios.iter().all(|scenario| scenario.name == stem), "{stem} is named otherwise");
    }
}

#[test]
fn the_checked_in_schema_is_the_one_this_parser_reads() {
    let checked_in = fs::read_to_string(folder().join("scenario.schema.json")).unwrap();
    assert!(checked_in == schema(), "stale: run `floodrig schema > scenarios/scenario.schema.json`");
}

#[test]
fn the_scenario_of_the_readme_is_one() {
    let page = fs::read_to_string(folder().join("../README.md")).unwrap();
    let (_, block) = page.split_once("```toml\n").unwrap();
    let (text, _) = block.split_once("```").unwrap();
    parse(&folder().join("friday.toml"), text, None).unwrap();
}

fn at(path: &str) -> PathBuf {
    folder().join(path)
}

fn shipped(name: &str, variant: Option<&str>) -> Scenario {
    let source = Source::read(&at(name)).unwrap();
    parse(&source.path, &source.text, variant).unwrap()
}

/// A scenario with these steps and nothing else of interest.
fn with_steps(steps: &str) -> Result<Scenario, Vec<Complaint>> {
    let text = format!(
        "name = 's'\nsystem.command = ['run']\ncrowd = {{ groups = 1, players_per_group = 1 }}\n\
         [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{steps}]"
    );
    parse(Path::new("s.toml"), &text, None)
}

fn step(written: &str) -> Step {
    with_steps(written).unwrap().journeys.remove(0).steps.remove(0)
}

fn request(step: &Step) -> &Request {
    let Does::Request(request) = &step.does else { panic!("a request") };
    request
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn json(body: &str) -> Vec<Piece> {
    match request(&step(&format!("{{ act = 'a', post = '/', json = {body} }}"))).body.clone() {
        Some(Body::Json(template)) => template.pieces,
        other => panic!("not JSON: {other:?}"),
    }
}

#[test]
fn a_variant_is_merged_key_by_key_and_says_how_it_should_end() {
    let before = shipped("rollover.toml", Some("before"));
    let names: Vec<&str> = before.system.env.keys().map(String::as_str).collect();
    assert_eq!(names, ["RECOVERY", "RENDERS_AT_ONCE", "ROLLOVER_AFTER", "SCALE", "SEND_QUEUE"]);
    assert_eq!(before.system.env["RENDERS_AT_ONCE"].pieces, [text("unbounded")]);
    assert_eq!(before.variant.as_deref(), Some("before"));
    let expected = Expect { verdict: VerdictKind::Broken, findings: vec![FindingId::RenderStampede] };
    assert_eq!(before.expect, Some(expected));
    assert_eq!(shipped("rollover.toml", Some("after")).expect, None);
}

#[test]
fn without_a_variant_a_scenario_is_read_as_it_stands() {
    let plain = shipped("rollover.toml", None);
    assert_eq!(plain.system.env.keys().collect::<Vec<_>>(), ["ROLLOVER_AFTER"]);
    assert_eq!((plain.variant, plain.expect), (None, None));
}

#[test]
fn variants_are_named_in_file_order() {
    assert_eq!(variants("[variants.b]\n[variants.a]\n[variants.c]").unwrap(), ["b", "a", "c"]);
    assert_eq!(variants("").unwrap(), [""; 0]);
}

#[test]
fn a_variant_replaces_lists_whole() {
    let text = "name = 's'\nsystem.command = ['run', 'slow']\ncrowd = { groups = 1, players_per_group = 1 }\n\
                [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{ act = 'a', get = '/' }]\n\
                [variants.fast]\nsystem.command = ['run']\ncrowd.groups = 2\n";
    let fast = parse(Path::new("s.toml"), text, Some("fast")).unwrap();
    assert_eq!(fast.system.command, ["run"]);
    assert_eq!((fast.crowd.groups, fast.crowd.players_per_group), (2, 1));
}

#[test]
fn what_is_not_said_has_its_documented_default() {
    let scenario = with_steps("{ act = 'a', get = '/' }").unwrap();
    let (system, crowd, step) = (&scenario.system, &scenario.crowd, &scenario.journeys[0].steps[0]);
    let seconds = Duration::from_secs;
    assert_eq!((system.ready_within, system.stop_within), (seconds(30), seconds(10)));
    assert_eq!((&system.cores, &system.ready, system.port), (&Cores::Count(1), &Ready::Accepts, None));
    assert_eq!((crowd.connect_timeout, crowd.timeout, crowd.settle), (seconds(10), seconds(30), seconds(30)));
    assert_eq!(crowd.start_param.pieces, [Piece::Slot(Slot::ChatId)]);
    assert_eq!((step.repeat, &step.think), (1, &Think::default()));
    assert_eq!((scenario.telegram, scenario.budgets), (Limits::default(), Budgets::default()));
    assert_eq!(scenario.journeys[0].init_data, None);
}

#[test]
fn the_solo_scenario_has_no_start_param() {
    assert_eq!(shipped("solo.toml", None).crowd.start_param, Template::default());
}

#[test]
fn a_system_runs_where_the_nearest_manifest_above_its_scenario_is() {
    let root = folder().canonicalize().unwrap().parent().unwrap().to_owned();
    assert_eq!(shipped("rollover.toml", None).system.dir, root);
    let crate_of_its_own = at("systems/wordle/any.toml");
    let source = Source::read(&at("solo.toml")).unwrap();
    let scenario = parse(&crate_of_its_own, &source.text, None).unwrap();
    assert_eq!(scenario.system.dir, root.join("scenarios/systems/wordle"));
}

#[test]
fn a_systems_folder_is_looked_for_from_the_scenarios_own() {
    let text = Source::read(&at("solo.toml")).unwrap().text.replace("[system]", "[system]\ndir = \"systems/wordle\"");
    let scenario = parse(&at("any.toml"), &text, None).unwrap();
    assert_eq!(scenario.system.dir, folder().canonicalize().unwrap().join("systems/wordle"));
}

#[test]
fn cores_are_a_number_or_a_list() {
    let text = Source::read(&at("solo.toml")).unwrap().text;
    let cores = |written: &str| {
        let text = text.replace("cores   = 1", &format!("cores = {written}"));
        parse(&at("solo.toml"), &text, None).unwrap().system.cores
    };
    assert_eq!(cores("2"), Cores::Count(2));
    assert_eq!(cores("[3, 1]"), Cores::List(vec![3, 1]));
}

#[test]
fn a_json_body_is_compact_and_keeps_its_order_and_types() {
    assert_eq!(
        json("{ z = 1, a = [true, 2.5, 0x10, 1.0], s = \"q\\\"\\n\", d = 2026-01-31 }"),
        [text(r#"{"z":1,"a":[true,2.5,16,1.0],"s":"q\"\n","d":"2026-01-31"}"#)]
    );
}

#[test]
fn a_placeholder_in_a_json_body_stays_inside_its_string() {
    let slot = Piece::Slot(Slot::PlayerId);
    assert_eq!(json("{ id = '{player.id}' }"), [text(r#"{"id":""#), slot.clone(), text(r#""}"#)]);
    assert_eq!(json("{ '{player.id}' = 1 }"), [text(r#"{""#), slot, text(r#"":1}"#)]);
}

#[test]
fn double_braces_are_the_braces_themselves() {
    let step = step("{ act = 'a', get = '/{{{nth}}}?{{}}' }");
    assert_eq!(request(&step).path.pieces, [text("/{"), Piece::Slot(Slot::Nth), text("}?{}")]);
}

#[test]
fn a_captured_value_serves_later_steps_and_the_same_steps_effect() {
    let get = "act = 'a', get = '/', capture = { id = '/id' }";
    let captured = Piece::Slot(Slot::Captured("id".to_owned()));
    let scenario =
        with_steps(&format!("{{ {get}, shows.chat = '{{id}}' }}, {{ act = 'b', get = '/{{id}}' }}")).unwrap();
    let steps = &scenario.journeys[0].steps;
    assert_eq!(steps[0].shows.as_ref().unwrap().chat.pieces, std::slice::from_ref(&captured));
    assert_eq!(request(&steps[1]).path.pieces, [text("/"), captured]);
    let complaints = with_steps("{ act = 'a', get = '/{id}', capture = { id = '/id' } }").unwrap_err();
    assert_eq!(complaints[0].says, "`{id}` is not captured yet");
}

#[test]
fn a_step_says_or_taps_in_the_private_chat_or_the_group() {
    let does =
        |written: &str| match with_steps(&format!("{{ act = 'a', says = '/start' }}, {{ act = 'b', {written} }}"))
            .unwrap()
            .journeys[0]
            .steps[1]
            .does
        {
            Does::Bot(ref to_bot) => to_bot.clone(),
            Does::Request(_) => panic!("a request"),
        };
    let template = |pieces: &[Piece]| Template { pieces: pieces.to_vec() };
    let said = Gesture::Says(template(&[text("hi "), Piece::Slot(Slot::Marker)]));
    assert_eq!(does("says = 'hi {marker}'"), ToBot { chat: Where::Private, gesture: said.clone() });
    assert_eq!(does("says = 'hi {marker}', in = 'group'"), ToBot { chat: Where::Group, gesture: said });
    let tapped = Gesture::Taps(template(&[text("Play")]));
    assert_eq!(does("taps = 'Play', in = 'private'"), ToBot { chat: Where::Private, gesture: tapped });
}

#[test]
fn a_system_of_bot_acts_alone_is_ready_once_its_bot_asks_and_any_other_once_it_accepts() {
    let ready = |steps: &str| with_steps(steps).unwrap().system.ready;
    assert_eq!(ready("{ act = 'a', says = '/start' }"), Ready::Bot);
    assert_eq!(ready("{ act = 'a', says = '/start' }, { act = 'b', get = '/' }"), Ready::Accepts);
    assert_eq!(shipped("bot.toml", None).system.ready, Ready::Bot);
}

#[test]
fn nobody_probes_a_bot_that_need_not_listen_so_it_has_no_budget_of_stalls() {
    let text = Source::read(&at("bot.toml")).unwrap().text;
    let stall = text.replace("[budgets]", "[budgets]\nstall = \"1s\"");
    let listens = stall.replace("cores   = 1", "cores   = 1\nready = \"/healthz\"");
    assert!(parse(&at("bot.toml"), &stall, None).unwrap_err()[0].says.contains("is not probed"));
    assert!(parse(&at("bot.toml"), &listens, None).is_ok());
}

#[test]
fn every_method_sends_its_own_name() {
    for method in ["get", "post", "put", "patch", "delete"] {
        let step = step(&format!("{{ act = 'a', {method} = '/' }}"));
        assert_eq!(request(&step).method, method.to_ascii_uppercase());
    }
}

#[test]
fn an_effect_is_recognised_by_a_version_a_marker_or_any_call() {
    let sign = |written: &str| {
        step(&format!("{{ act = 'a', get = '/', shows = {{ chat = '{{chat.id}}'{written} }} }}")).shows.unwrap().sign
    };
    assert!(matches!(sign(""), Sign::Any));
    assert!(matches!(sign(", version = '/v'"), Sign::Version(pointer) if pointer == "/v"));
    assert!(
        matches!(sign(", marker = '{marker}'"), Sign::Marker(marker) if marker.pieces == [Piece::Slot(Slot::Marker)])
    );
}

#[test]
fn the_longest_thinking_of_a_day_passes_and_one_second_more_does_not() {
    let thinking = |written: &str| with_steps(&format!("{{ act = 'a', get = '/', think = '{written}' }}"));
    assert!(thinking("23h 59min 59s").is_ok());
    assert!(thinking("24h").is_err());
}

#[test]
fn a_quick_scenario_is_half_of_everything_and_never_nothing() {
    let quick = shipped("rollover.toml", Some("after")).quick();
    assert_eq!((quick.crowd.groups, quick.crowd.players_per_group), (50, 10));
    assert_eq!(quick.journeys[0].arrive, Arrivals::Own(Arrive::Burst { over: Duration::from_secs(15) }));
    let repeats: Vec<u16> = quick.journeys[0].steps.iter().map(|step| step.repeat).collect();
    assert_eq!(repeats, [1, 3]);
    assert_eq!(with_steps("{ act = 'a', get = '/' }").unwrap().quick().crowd.groups, 1);
    let expected = shipped("rollover.toml", Some("before")).quick().expect.unwrap();
    assert_eq!((expected.verdict, expected.findings), (VerdictKind::Broken, Vec::new()));
}

fn with_system(system: &str) -> Result<System, Vec<String>> {
    let text = format!(
        "name = 's'\ncrowd = {{ groups = 1, players_per_group = 1 }}\n[[journey]]\nname = 'j'\n\
         arrive.burst.over = '1s'\nsteps = [{{ act = 'a', get = '/' }}]\n[system]\n{system}"
    );
    let underlined = |complaint: Complaint| format!("{}: {}", &text[complaint.span.clone()], complaint.says);
    let parsed = parse(Path::new("s.toml"), &text, None);
    parsed.map(|scenario| scenario.system).map_err(|all| all.into_iter().map(underlined).collect())
}

#[test]
fn a_system_that_runs_already_is_named_by_its_url_and_perhaps_its_process() {
    let attach = |text| with_system(text).unwrap().attach.unwrap();
    let url = "http://127.0.0.1:8080".to_owned();
    assert_eq!(attach("url = 'http://127.0.0.1:8080'"), Attach { url: url.clone(), pid: None });
    assert_eq!(attach("url = 'http://127.0.0.1:8080'\npid = 7\ncores = [1]"), Attach { url, pid: Some(7) });
}

#[test]
fn a_system_is_either_started_or_found_running() {
    let complaints = |text| with_system(text).unwrap_err();
    let both = "url = 'http://127.0.0.1:1'\ncommand = ['run']\nenv = { A = 'b' }";
    let says = |key| format!("{key}: both `{key}` and `url`: a system that runs already is not started");
    assert_eq!(complaints(both), [says("command"), says("env")]);
    assert_eq!(complaints("cores = 1")[0].lines().last().unwrap().split(": ").last(), Some("there is no system"));
    assert_eq!(complaints("command = ['run']\npid = 7"), ["pid: a process to attach to, and no address"]);
    assert_eq!(
        complaints("url = 'http://127.0.0.1:1/app'"),
        ["'http://127.0.0.1:1/app': a system is a host and a port"]
    );
    assert_eq!(complaints("url = 'localhost:1'").len(), 1);
    assert_eq!(complaints("url = 'http://127.0.0.1:1'\npid = 0"), ["0: there is no process 0"]);
}
