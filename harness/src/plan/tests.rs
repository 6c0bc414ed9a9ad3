//! What a plan promises, for scenarios written by hand.

use std::time::Duration;

use super::by_hand::{MINUTE, SECOND, journey, scenario, step, story};
use super::*;
use crate::scenario::{Arrivals, Arrive, Fault, Faults, Think};

#[test]
fn the_plan_of_a_scenario_is_the_same_in_every_version_and_on_every_platform() {
    assert_eq!(hex::encode(plan(&story()).digest), "28f4c1bf30c384b3797612cbe6fa7ec5cfd6c467900e7a568d60c28f7f83f1f9");
}

#[test]
fn the_digest_is_taken_over_twenty_little_endian_bytes_for_each_arrival() {
    let arrivals = [Arrival { at: Duration::from_micros(0x0102), player: 3, visit: 4, act: 5, nth: 6 }];
    let bytes = [2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 6, 0];
    assert_eq!(digest(&arrivals), <[u8; 32]>::from(Sha256::digest(bytes)));
}

#[test]
fn the_same_seed_plans_the_same() {
    assert_eq!(plan(&story()), plan(&story()));
}

#[test]
fn another_seed_plans_something_else() {
    assert_ne!(plan(&story()).digest, plan(&Scenario { seed: 8, ..story() }).digest);
}

#[test]
fn every_planned_act_is_there_in_the_order_of_its_instant() {
    let plan = plan(&story());
    // 30 players open and guess five times; 2 a second look for a minute.
    assert_eq!((plan.visits.len(), plan.arrivals.len()), (30 + 120, 30 * 6 + 120));
    assert!(plan.visits.is_sorted_by_key(|visit| (visit.at, visit.player, visit.journey)));
    assert!(plan.arrivals.is_sorted_by_key(|act| (act.at, act.player, act.visit, act.act, act.nth)));
}

#[test]
fn an_arrival_belongs_to_its_visit_and_its_act_to_the_journey_of_that_visit() {
    let plan = plan(&story());
    for arrival in &plan.arrivals {
        let visit = plan.visits[arrival.visit as usize];
        assert_eq!(arrival.player, visit.player);
        assert_eq!(plan.acts[usize::from(arrival.act)].journey, usize::from(visit.journey));
    }
    let acts: Vec<_> = plan.acts.iter().map(|act| (act.name.as_str(), act.journey, act.step)).collect();
    assert_eq!(acts, [("open", 0, 0), ("guess", 0, 1), ("look", 1, 0)]);
}

#[test]
fn a_player_thinks_before_each_act_for_as_long_as_the_step_says() {
    let plan = plan(&story());
    for (number, visit) in (0..).zip(&plan.visits).filter(|(_, visit)| visit.journey == 0) {
        let acts: Vec<_> = plan.arrivals.iter().filter(|arrival| arrival.visit == number).collect();
        assert_eq!(acts[0].at, visit.at);
        assert_eq!(
            acts.iter().map(|act| (act.act, act.nth)).collect::<Vec<_>>(),
            [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4)]
        );
        assert!(acts.windows(2).all(|pair| (pair[0].at + 3 * SECOND..=pair[0].at + 20 * SECOND).contains(&pair[1].at)));
    }
}

#[test]
fn the_first_act_of_a_visit_waits_for_its_own_thinking() {
    let pause = step("open", 1, 2 * SECOND..=2 * SECOND);
    let plan = plan(&scenario(vec![journey(Arrive::Burst { over: MINUTE }, vec![pause])]));
    assert!(plan.arrivals.iter().all(|act| act.at == plan.visits[act.visit as usize].at + 2 * SECOND));
}

#[test]
fn acts_without_thinking_keep_their_order_at_the_same_instant() {
    let at_once = Duration::ZERO..=Duration::ZERO;
    let steps = vec![step("twice", 2, at_once.clone()), step("once", 1, at_once)];
    let plan = plan(&scenario(vec![journey(Arrive::Burst { over: Duration::ZERO }, steps)]));
    let first_visit: Vec<_> = plan.arrivals.iter().take(3).map(|act| (act.visit, act.act, act.nth)).collect();
    assert_eq!(first_visit, [(0, 0, 0), (0, 0, 1), (0, 1, 0)]);
}

#[test]
fn instants_are_whole_microseconds() {
    assert!(plan(&story()).arrivals.iter().all(|act| act.at.subsec_nanos().is_multiple_of(1000)));
}

#[test]
fn thinking_longer_leaves_the_openings_and_the_crowd_alone() {
    let mut slower = story();
    slower.journeys[0].steps[1].think = Think::Between(MINUTE..=MINUTE);
    let (plan, slower) = (plan(&story()), plan(&slower));
    assert_eq!((&plan.visits, &plan.players), (&slower.visits, &slower.players));
    assert_ne!(plan.digest, slower.digest);
}

/// The crowd's arrivals come by steps and are shared by two journeys, one of which has faulty initData and thinks.
fn rich() -> Scenario {
    let people = |act: &str, think| {
        let mut step = step(act, 3, Duration::ZERO..=Duration::ZERO);
        step.think = think;
        step
    };
    let within = Duration::ZERO..=MINUTE;
    let lognormal = Think::Lognormal { median: 4 * SECOND, p90: 12 * SECOND, within: within.clone() };
    let exponential = Think::Exponential { mean: 4 * SECOND, within };
    let burst = || Arrive::Burst { over: SECOND };
    let mut play = journey(burst(), vec![people("open", lognormal), people("guess", exponential)]);
    play.arrive = Arrivals::Shared { weight: 3 };
    let refused = vec![Fault::Stale, Fault::Tampered];
    play.faults = Some(Faults { shares: [0.1, 0.1, 0.1], stale_by: MINUTE, refused, refused_with: vec![401] });
    let mut look = journey(burst(), vec![people("look", Think::default())]);
    look.arrive = Arrivals::Shared { weight: 1 };
    let mut scenario = scenario(vec![play, look]);
    scenario.crowd.arrive = Some(Arrive::Steps { rates: vec![1.0, 5.0, 0.5], each: 20 * SECOND });
    scenario
}

#[test]
fn distributions_weights_and_faults_are_the_same_in_every_version_and_on_every_platform() {
    assert_eq!(hex::encode(plan(&rich()).digest), "313d332853b994fe4cadb3df7896dc0243873bf4fe8a25d42ac7219bc749c9e8");
}

#[test]
fn acts_with_faulty_init_data_follow_all_others_and_belong_to_visits_with_that_fault() {
    let plan = plan(&rich());
    let names: Vec<_> = plan.acts.iter().map(|act| act.name.as_str()).collect();
    let faulty = ["open.stale", "guess.stale", "open.tampered", "guess.tampered", "open.reused", "guess.reused"];
    assert_eq!((&names[..3], &names[3..]), (&["open", "guess", "look"][..], &faulty[..]));
    for arrival in &plan.arrivals {
        let (act, visit) = (&plan.acts[usize::from(arrival.act)], plan.visits[arrival.visit as usize]);
        assert_eq!((act.fault, act.journey), (visit.fault, usize::from(visit.journey)));
    }
}

#[test]
fn faults_leave_the_instants_of_all_acts_alone() {
    let mut good = rich();
    good.journeys[0].faults = None;
    let instants =
        |scenario| plan(scenario).arrivals.iter().map(|act| (act.at, act.visit, act.nth)).collect::<Vec<_>>();
    assert_eq!(instants(&good), instants(&rich()));
}
