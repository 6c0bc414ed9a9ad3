//! Scenarios written by hand, for tests.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use floodrig_reports::Budgets;
use floodrig_stub::Limits;

use crate::scenario::{
    Arrivals, Arrive, Body, Cores, Crowd, Does, Heartbeat, Journey, OnFailure, Outside, Ready, Request, Scenario,
    Source, Step, System, Template, Think,
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// 3 groups of 10: everyone opens within a minute and guesses five times, while 2 a second only look.
pub(crate) fn story() -> Scenario {
    let play = vec![step("open", 1, Duration::ZERO..=Duration::ZERO), step("guess", 5, 3 * SECOND..=20 * SECOND)];
    let look = vec![step("look", 1, Duration::ZERO..=SECOND)];
    scenario(vec![
        journey(Arrive::Burst { over: MINUTE }, play),
        journey(Arrive::Constant { rate: 2.0, over: MINUTE }, look),
    ])
}

pub(crate) fn journey(arrive: Arrive, steps: Vec<Step>) -> Journey {
    Journey { name: "story".into(), arrive: Arrivals::Own(arrive), init_data: None, faults: None, steps }
}

pub(crate) fn step(act: &str, repeat: u16, think: RangeInclusive<Duration>) -> Step {
    let does = Does::Request(Request {
        method: "POST".into(),
        path: Template::default(),
        headers: Vec::new(),
        body: Some(Body::Text(Template::default())),
    });
    Step {
        act: act.into(),
        does,
        repeat,
        think: Think::Between(think),
        when: None,
        capture: BTreeMap::new(),
        check: Vec::new(),
        expect_status: Vec::new(),
        on_failure: OnFailure::default(),
        shows: None,
    }
}

pub(crate) fn scenario(journeys: Vec<Journey>) -> Scenario {
    Scenario {
        name: "story".into(),
        about: String::new(),
        seed: 7,
        needs: Vec::new(),
        system: system(),
        services: Vec::new(),
        telegram: Limits::default(),
        crowd: Crowd {
            groups: 3,
            players_per_group: 10,
            arrive: None,
            connections: crate::scenario::Connections::Player,
            rtt: None,
            reads_at: None,
            connect_timeout: SECOND,
            timeout: SECOND,
            settle: SECOND,
            idle: None,
            start_param: Template::default(),
        },
        journeys,
        events: Vec::new(),
        budgets: Budgets::default(),
        variant: None,
        expect: None,
        source: Source::default(),
    }
}

fn system() -> System {
    System {
        dir: PathBuf::new(),
        build: None,
        command: Vec::new(),
        attach: None,
        cores: Cores::Count(1),
        memory: None,
        cpu: None,
        open_files: None,
        env: BTreeMap::new(),
        port: None,
        speech: crate::exchange::Speech::default(),
        ready: Ready::Accepts,
        heartbeat: Heartbeat::Off,
        outside: Outside::Off,
        ready_within: SECOND,
        stop_within: SECOND,
    }
}
