//! How the ways of players are written.

use serde_json::json;

use super::*;

/// A scenario in a folder of its own, beside these files.
fn in_folder(text: &str, files: &[(&str, &str)]) -> Result<Scenario, Vec<Complaint>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    parse(&folder.path().join("s.toml"), text, None)
}

fn scenario(before: &str, journeys: &str) -> String {
    format!(
        "name = 's'\nsystem.command = ['run']\n{before}\n[crowd]\ngroups = 1\nplayers_per_group = 1\n{journeys}\
         \nsteps = [{{ act = 'a', post = '/', text = '{{word}} {{word.city}}' }}]"
    )
}

#[test]
fn recorded_arrivals_are_read_from_beside_the_scenario() {
    let text = scenario("words.city = ['Oslo']", "[[journey]]\nname = 'j'\narrive.replay = { file = 'a.csv' }");
    let read = in_folder(&text, &[("a.csv", "at\n3.5\n1\n")]).unwrap();
    let Arrivals::Own(Arrive::Replay { file, instants, digest: _ }) = &read.journeys[0].arrive else {
        panic!("{read:?}")
    };
    assert_eq!((file.as_str(), &**instants), ("a.csv", &[Duration::ZERO, Duration::from_millis(2500)][..]));
    let complaint = in_folder(&text, &[("a.csv", "at\n1\nsoon\n")]).unwrap_err().remove(0);
    assert_eq!(&text[complaint.span.clone()], "'a.csv'");
    assert_eq!(complaint.says, "line 3 of `a.csv`: `soon` is no time");
}

#[test]
fn words_are_read_from_the_scenario_and_from_beside_it() {
    let words = "words.city = { file = 'cities.txt' }\nwords.word = ['one', 'two']";
    let text = scenario(words, "[[journey]]\nname = 'j'\narrive.burst.over = '1s'");
    let read = in_folder(&text, &[("cities.txt", "Oslo\r\n\n New York \n")]).unwrap();
    let Some(Body::Text(template)) = &request(&read.journeys[0].steps[0]).body else { panic!("{read:?}") };
    let lists = template.pieces.iter().filter_map(|piece| match piece {
        Piece::Slot(Slot::Drawn(Draw { pool: Pool::List(words), .. })) => Some(words.to_vec()),
        Piece::Slot(_) | Piece::Text(_) => None,
    });
    assert_eq!(lists.collect::<Vec<_>>(), [["one", "two"], ["Oslo", "New York"]]);
}

#[test]
fn journeys_without_arrivals_of_their_own_share_the_crowds() {
    let text = "name = 's'\nsystem.command = ['run']\n\
                crowd = { groups = 1, players_per_group = 1, arrive.steps = { rates = [1, 2], each = '10s' } }\n\
                [[journey]]\nname = 'a'\nweight = 3\nsteps = [{ act = 'a', get = '/' }]\n\
                [[journey]]\nname = 'b'\nsteps = [{ act = 'b', get = '/' }]";
    let read = parse(Path::new("s.toml"), text, None).unwrap();
    let shares: Vec<_> = read.journeys.iter().map(|journey| journey.arrive.clone()).collect();
    assert_eq!(shares, [Arrivals::Shared { weight: 3 }, Arrivals::Shared { weight: 1 }]);
    assert_eq!(read.crowd.arrive.as_ref().unwrap().over(), Duration::from_secs(20));
}

fn think(written: &str) -> Think {
    step(&format!("{{ act = 'a', get = '/', think = {written} }}")).think
}

#[test]
fn thinking_is_a_spread_or_a_distribution_with_bounds() {
    let seconds = Duration::from_secs;
    assert_eq!(think("'3s..9s'"), Think::Between(seconds(3)..=seconds(9)));
    let exponential = Think::Exponential { mean: seconds(4), within: Duration::ZERO..=seconds(40) };
    assert_eq!(think("{ exponential = { mean = '4s' } }"), exponential);
    let lognormal = Think::Lognormal { median: seconds(4), p90: seconds(12), within: seconds(1)..=seconds(60) };
    let written = "{ lognormal = { median = '4s', p90 = '12s', at_least = '1s', at_most = '1min' } }";
    assert_eq!(think(written), lognormal);
    assert_eq!(think("{ lognormal = { median = '4s', p90 = '12s' } }").longest(), seconds(120));
}

#[test]
fn a_step_says_what_it_captures_checks_and_waits_for() {
    let written = "{ act = 'a', get = '/', expect_status = [200, 404] }, { act = 'b', get = '/', \
                   when = { act = 'a', status = 404 }, capture = { etag = { header = 'etag' }, id = '/id' }, \
                   check = [{ pointer = '/n', equals = { a = [1, true] } }, { pointer = '/id', equals = '{player.id}' }, \
                   { pointer = '/x', exists = false }] }";
    let step = with_steps(written).unwrap().journeys.remove(0).steps.remove(1);
    assert_eq!(step.when, Some(When { step: 0, ended: Ended::Status(vec![404]) }));
    let captured = [InAnswer::Header("etag".to_owned()), InAnswer::Pointer("/id".to_owned())];
    assert_eq!(step.capture.into_values().collect::<Vec<_>>(), captured);
    let musts: Vec<Must> = step.check.into_iter().map(|check| check.must).collect();
    let filled = Template { pieces: vec![text("\""), Piece::Slot(Slot::PlayerId), text("\"")] };
    assert_eq!(musts, [Must::Equal(json!({ "a": [1, true] })), Must::EqualFilled(filled), Must::BeAbsent]);
}

#[test]
fn what_a_step_does_not_say_of_failure_its_journey_does() {
    let text = "name = 's'\nsystem.command = ['run']\ncrowd = { groups = 1, players_per_group = 1 }\n\
                [[journey]]\nname = 'j'\narrive.burst.over = '1s'\non_failure = 'leave'\n\
                steps = [{ act = 'a', get = '/' }, { act = 'b', get = '/', on_failure = 'retry 2 within 5s' }]";
    let read = parse(Path::new("s.toml"), text, None).unwrap();
    let on_failure: Vec<_> = read.journeys[0].steps.iter().map(|step| step.on_failure).collect();
    let retry = Some(Retry { times: 2, within: Duration::from_secs(5) });
    assert_eq!(on_failure, [OnFailure { retry: None, leave: true }, OnFailure { retry, leave: false }]);
}

#[test]
fn stale_and_tampered_init_data_must_be_refused_unless_it_is_said_otherwise() {
    let faults = |written: &str| {
        let text = format!(
            "name = 's'\nsystem.command = ['run']\ncrowd = {{ groups = 1, players_per_group = 1 }}\n\
             [[journey]]\nname = 'j'\narrive.constant = {{ rate = 1, over = '9s' }}\ninit_data = 'authorization'\n\
             init_data_faults = {written}\nsteps = [{{ act = 'a', get = '/' }}]"
        );
        parse(Path::new("s.toml"), &text, None).unwrap().journeys.remove(0).faults.unwrap()
    };
    let usual = faults("{ stale = 0.25, reused = 0.5 }");
    assert_eq!(Fault::ALL.map(|fault| usual.share(fault).to_string()), ["0.25", "0", "0.5"]);
    assert_eq!(Fault::ALL.map(|fault| usual.refusal(fault)), [Some(&[401, 403][..]), Some(&[401, 403][..]), None]);
    let own = faults("{ tampered = 0.1, refused = ['reused'], refused_with = 400, stale_by = '1h' }");
    assert_eq!(Fault::ALL.map(|fault| own.refusal(fault)), [None, None, Some(&[400][..])]);
    assert_eq!(own.stale_by, Duration::from_secs(3600));
}
