//! The scenario room as a whole: what parses, and into what.

mod journeys;
mod steps;
mod system;

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

fn with_crowd(written: &str) -> Result<Crowd, Vec<Complaint>> {
    let text = format!(
        "name = 's'\nsystem.command = ['run']\ncrowd = {{ groups = 1, players_per_group = 1{written} }}\n\
         [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{{ act = 'a', get = '/' }}]"
    );
    parse(Path::new("s.toml"), &text, None).map(|scenario| scenario.crowd)
}

#[test]
fn a_network_is_a_range_of_round_trips_and_of_reading_speeds() {
    let crowd = with_crowd(", rtt = '40ms..300ms', reads_at = '200KiB..2MiB'").unwrap();
    assert_eq!(crowd.rtt, Some(Duration::from_millis(40)..=Duration::from_millis(300)));
    assert_eq!(crowd.reads_at, Some(200 * 1024..=2 * 1024 * 1024));
    assert_eq!(with_crowd(", reads_at = '500KB'").unwrap().reads_at, Some(500_000..=500_000));
}

#[test]
fn a_network_that_cannot_be_is_complained_of() {
    for (written, says) in [
        (", reads_at = '200'", "no speed"),
        (", reads_at = '0KB..1MB'", "nobody would read"),
        (", reads_at = '2MB..1MB'", "ends before it begins"),
        (", rtt = '30s'", "within `timeout`"),
        (", rtt = '30ms', connections = 'shared'", "nobody's network"),
    ] {
        let complaints = with_crowd(written).unwrap_err();
        assert!(complaints[0].says.contains(says) && complaints.len() == 1, "{written}: {complaints:?}");
    }
}
