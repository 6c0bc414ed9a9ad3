//! How the system, and what runs beside it, is written.

use super::*;
use crate::exchange::versed::Identity;

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
fn a_system_of_bot_acts_alone_is_ready_once_its_bot_asks_and_any_other_once_it_accepts() {
    let ready = |steps: &str| with_steps(steps).unwrap().system.ready;
    assert_eq!(ready("{ act = 'a', says = '/start' }"), Ready::Bot);
    assert_eq!(ready("{ act = 'a', says = '/start' }, { act = 'b', get = '/' }"), Ready::Accepts);
    assert_eq!(shipped("bot.toml", None).system.ready, Ready::Bot);
}

#[test]
fn a_budget_of_stalls_needs_somebody_who_watches_for_them() {
    let says = |file: &str, system: &str| {
        let text = Source::read(&at(file)).unwrap().text.replace("cores   = 1", &format!("cores   = 1\n{system}"));
        let has_budget = text.contains("\nstall ");
        let text = if has_budget { text } else { text.replace("[budgets]", "[budgets]\nstall = \"1s\"") };
        parse(&at(file), &text, None).map(drop).map_err(|complaints| complaints[0].says.clone())
    };
    assert_eq!(says("bot.toml", ""), Ok(()), "its own loop tells");
    assert!(says("bot.toml", "heartbeat = \"off\"").unwrap_err().contains("is not probed"));
    assert_eq!(says("bot.toml", "heartbeat = \"off\"\nready = \"/healthz\""), Ok(()));
    assert_eq!(says("solo.toml", "outside = \"off\""), Ok(()));
    assert!(says("solo.toml", "outside = \"off\"\nheartbeat = \"off\"").unwrap_err().contains("`outside` is off"));
}

#[test]
fn a_budget_below_the_shortest_stall_that_is_told_is_complained_of() {
    let stall = |most: &str| with_system(&format!("url = 'http://127.0.0.1:1'\n[budgets]\nstall = '{most}'\n"));
    assert!(stall("50ms").is_ok());
    assert_eq!(stall("49ms").unwrap_err(), ["'49ms': a stall shorter than 50ms is not told from an ordinary delay"]);
}

#[test]
fn a_system_that_speaks_tls_or_runs_already_needs_another_watch_for_a_budget_of_stalls() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), Identity::signed("localhost").trusted).unwrap();
    let says = |system: &str| {
        let written = format!("budgets.stall = '1s'\nsystem.{system}");
        spoken_to(folder.path(), &written).map(drop).map_err(|complaints| complaints[0].says.clone())
    };
    let secure = "tls.ca = 'ca.pem'\nsystem.heartbeat = 'off'";
    assert!(says(secure).unwrap_err().contains("on order only"));
    assert_eq!(says(&format!("{secure}\nsystem.outside = 'often'")), Ok(()));
    let attached = |outside: &str| {
        with_system(&format!("url = 'http://127.0.0.1:1'\noutside = '{outside}'\n[budgets]\nstall = '1s'\n"))
    };
    assert!(attached("on").is_ok());
    assert!(attached("off").unwrap_err()[0].contains("`outside` is off"));
}

#[test]
fn a_service_has_a_port_that_environments_may_name_and_its_own_sign_of_readiness() {
    let written = "name = 's'\nsystem.command = ['run']\nsystem.env = { URL = 'pg://x:{service.db.port}/y' }\n\
                system.memory = '512MiB'\nsystem.cpu = 1.5\nsystem.open_files = 256\n\
                crowd = { groups = 1, players_per_group = 1 }\n\
                [[service]]\nname = 'db'\nstart = ['pg']\nready.command = ['pg', 'ready']\n\
                [[service]]\nname = 'web'\nstart = ['web']\nstop = ['web', 'stop']\nready.path = '/'\n\
                [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{ act = 'a', get = '/' }]\n";
    let Scenario { system, services, .. } = parse(Path::new("s.toml"), written, None).unwrap();
    let expected = [text("pg://x:"), Piece::Slot(Slot::ServicePort("db".to_owned())), text("/y")];
    assert_eq!(system.env["URL"].pieces, expected);
    assert_eq!((system.memory, system.cpu, system.open_files), (Some(512 << 20), Some(1.5), Some(256)));
    assert_eq!(services[0].ready, Ready::Command(vec!["pg".to_owned(), "ready".to_owned()]));
    assert_eq!(services[1].ready, Ready::Path("/".to_owned()));
    assert_eq!((services[0].stop.as_deref(), services[1].stop.as_ref().map(Vec::len)), (None, Some(2)));
}

fn spoken_to(folder: &Path, written: &str) -> Result<Scenario, Vec<Complaint>> {
    let text = format!(
        "name = 's'\nsystem.command = ['run']\n{written}\ncrowd = {{ groups = 1, players_per_group = 1 }}\n\
         [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{{ act = 'a', get = '/' }}]"
    );
    parse(&folder.join("s.toml"), &text, None)
}

#[test]
fn a_system_is_spoken_to_in_plain_unless_it_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), Identity::signed("localhost").trusted).unwrap();
    for (written, plain) in [("", true), ("system.http2 = true", false), ("system.tls.ca = 'ca.pem'", false)] {
        assert_eq!(spoken_to(folder.path(), written).unwrap().system.speech.is_plain(), plain, "{written}");
    }
}

#[test]
fn a_certificate_that_cannot_be_trusted_is_complained_of_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), Identity::signed("localhost").trusted).unwrap();
    std::fs::write(folder.path().join("empty.pem"), "").unwrap();
    for (written, says) in [
        ("ca = 'missing.pem'", "there is no file `missing.pem`"),
        ("ca = '.'", "`.` is a folder"),
        ("ca = 'empty.pem'", "no certificate in PEM"),
        ("ca = 'ca.pem', name = 'no name'", "neither a host name nor an address"),
    ] {
        let complaints = spoken_to(folder.path(), &format!("system.tls = {{ {written} }}")).unwrap_err();
        assert!(complaints[0].says.contains(says) && complaints.len() == 1, "{complaints:?}");
    }
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
    let held = complaints("url = 'http://127.0.0.1:1'\nmemory = '1GiB'\ncpu = 1.5\nopen_files = 64");
    let says = |key| format!("{key}: both `{key}` and `url`: a system that runs already cannot be held to a limit");
    assert_eq!(held, [says("memory"), says("cpu"), says("open_files")]);
    let served = complaints("url = 'http://127.0.0.1:1'\n[[service]]\nname = 'db'\nstart = ['pg']");
    assert_eq!(served, ["service: a service beside a system that runs already: it would not be used"]);
    let disagree = ["'https://127.0.0.1:1': `url` and `tls` do not agree on how the system is spoken to"];
    assert_eq!(complaints("url = 'https://127.0.0.1:1'"), disagree);
    assert_eq!(complaints("url = 'http://127.0.0.1:1'\npid = 0"), ["0: there is no process 0"]);
}
