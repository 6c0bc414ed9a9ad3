//! The floor, step by step.

use std::sync::mpsc::sync_channel;

use super::*;
use crate::plan::{ActSpec, crowd};

/// When the first player comes again where that is only later.
const LATER: Duration = Duration::from_secs(60);

/// One arrival for each of two players, and then another of the first, all due at once.
fn floor(most_open: u64) -> Floor {
    floor_by(Rules { pace: Pace::Planned, connections: Connections::Player, most_open })
}

fn floor_by(rules: Rules) -> Floor {
    coming_again(Duration::ZERO, rules)
}

/// The same, the first player's other arrival being due at `again`.
fn coming_again(again: Duration, rules: Rules) -> Floor {
    let arrival = |player| Arrival { at: Duration::ZERO, player, visit: player, act: 0, nth: 0 };
    let plan = Plan {
        acts: vec![ActSpec { name: "act".to_owned(), journey: 0, step: 0, fault: None }],
        players: crowd(7, 1, 2),
        visits: Vec::new(),
        arrivals: vec![arrival(0), arrival(1), Arrival { at: again, ..arrival(0) }],
        digest: [0; 32],
    };
    let (rows, _) = sync_channel(1);
    let second = Duration::from_secs(1);
    let sink = Intervals::new(vec!["act".to_owned()], Duration::ZERO, second, rows, Arc::default());
    Floor::new(Arc::new(plan), Duration::ZERO, rules, sink)
}

fn begin(floor: &mut Floor, index: u32) -> Result<(), Outcome> {
    begin_by(floor, index, Way::Wire)
}

fn begin_by(floor: &mut Floor, index: u32, way: Way) -> Result<(), Outcome> {
    let mut hands = floor.take_hands(index, way);
    floor.begin(index, &mut hands, way, Duration::ZERO)
}

fn all(outcome: Outcome) -> InFlight {
    InFlight { wired: outcome, to_bot: outcome }
}

fn end(floor: &mut Floor, index: u32) -> Option<u32> {
    let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
    floor.end(index, Hands { room: Way::Wire.needs(), ..Hands::default() }, &ended)
}

#[test]
fn a_busy_players_next_act_waits_for_the_end_of_the_last() {
    let mut floor = floor(9);
    let due: Vec<u32> = std::iter::from_fn(|| floor.take_due(Duration::ZERO)).collect();
    assert_eq!(due, [0, 1]);
    begin(&mut floor, 0).unwrap();
    assert_eq!(end(&mut floor, 0), Some(2));
    begin(&mut floor, 2).unwrap();
    assert_eq!(end(&mut floor, 2), None);
}

#[test]
fn a_free_players_next_act_is_taken_by_the_pacer() {
    let mut floor = floor(9);
    assert_eq!(floor.take_due(Duration::ZERO), Some(0));
    begin(&mut floor, 0).unwrap();
    assert_eq!(end(&mut floor, 0), None);
    let due: Vec<u32> = std::iter::from_fn(|| floor.take_due(Duration::ZERO)).collect();
    assert_eq!(due, [1, 2]);
}

#[test]
fn one_connection_too_many_is_not_opened_and_one_that_ended_makes_room() {
    let mut floor = floor(1);
    while floor.take_due(Duration::ZERO).is_some() {}
    assert_eq!(begin(&mut floor, 0), Ok(()));
    assert!(begin(&mut floor, 1).is_err());
    assert_eq!(end(&mut floor, 0), Some(2));
    assert_eq!(begin(&mut floor, 2), Ok(()));
    assert_eq!(floor.counts.open_peak, 1);
}

#[test]
fn connections_that_only_a_slow_system_holds_are_its_doing_and_those_of_a_large_crowd_the_rigs() {
    let crowded = Outcome::RigFault(RigFault::TooManyOpenFiles);
    for (connections, first, again, outcome) in [
        // The first act's player comes again later and keeps the connection until then; the second's does not.
        (Connections::Player, 0, LATER, crowded),
        (Connections::Player, 1, LATER, Outcome::Abandoned),
        // What is due already would long be over, had the system answered.
        (Connections::Player, 0, Duration::ZERO, Outcome::Abandoned),
        (Connections::Shared, 0, LATER, Outcome::Abandoned),
        (Connections::Fresh, 0, LATER, Outcome::Abandoned),
    ] {
        let mut floor = coming_again(again, Rules { pace: Pace::Planned, connections, most_open: 1 });
        while floor.take_due(Duration::ZERO).is_some() {}
        assert_eq!(begin(&mut floor, first), Ok(()));
        assert_eq!(begin(&mut floor, 1 - first), Err(outcome), "{connections:?}");
        let held_back = u64::from(outcome == crowded);
        assert_eq!((floor.counts.held_back, floor.counts.capped), (held_back, 1 - held_back));
    }
}

#[test]
fn an_act_that_the_rig_is_a_second_late_for_is_not_sent_any_more_and_neither_is_what_came_due_behind_it() {
    let late = |at: Duration| {
        let mut floor = floor(9);
        while floor.take_due(at).is_some() {}
        let mut hands = floor.take_hands(0, Way::Wire);
        (floor.begin(0, &mut hands, Way::Wire, at), floor)
    };
    let second = Duration::from_secs(1);
    assert_eq!(late(Duration::from_nanos(999_999_999)).0, Ok(()));
    let (begun, mut floor) = late(second);
    assert_eq!(begun, Err(Outcome::Abandoned));
    let never = Ended { at: second, outcome: Outcome::Abandoned, tries: 0 };
    assert_eq!(floor.sample(0, &never).lag(), second);
    assert_eq!(floor.end(0, Hands::default(), &never), Some(2));
    assert_eq!(floor.begin(2, &mut Hands::default(), Way::Wire, second), Err(Outcome::Abandoned));
    assert_eq!((floor.counts.too_late, floor.open), (2, 0));
}

#[test]
fn a_player_that_waited_for_the_system_however_long_goes_on_as_planned() {
    let mut floor = floor(9);
    while floor.take_due(Duration::ZERO).is_some() {}
    begin(&mut floor, 0).unwrap();
    let frozen = Duration::from_secs(5);
    let ended = Ended { at: frozen, outcome: Outcome::Closed, tries: 1 };
    assert_eq!(floor.end(0, Hands { room: Way::Wire.needs(), ..Hands::default() }, &ended), Some(2));
    assert_eq!(floor.begin(2, &mut Hands::default(), Way::Wire, frozen), Ok(()));
}

#[test]
fn an_act_is_widened_by_what_may_still_be_open_and_leaves_that_room_behind() {
    let mut floor = floor(4);
    while floor.take_due(Duration::ZERO).is_some() {}
    begin(&mut floor, 1).unwrap();
    let mut hands = floor.take_hands(0, Way::Wire);
    floor.begin(0, &mut hands, Way::Wire, Duration::ZERO).unwrap();
    floor.widen(0, &mut hands, 2);
    assert_eq!((hands.room.connections, floor.open), (2, 3));
    floor.widen(0, &mut hands, 6);
    assert_eq!((hands.room.connections, floor.open, floor.counts.open_peak), (3, 4, 4));
    let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
    floor.end(0, hands, &ended);
    assert_eq!((floor.open, floor.counts.capped), (1, 0));
}

#[test]
fn an_act_has_room_for_one_connection_more_while_one_more_may_be_open_and_leaves_it_behind() {
    let mut floor = floor(2);
    while floor.take_due(Duration::ZERO).is_some() {}
    let mut hands = floor.take_hands(0, Way::Wire);
    floor.begin(0, &mut hands, Way::Wire, Duration::ZERO).unwrap();
    assert!(floor.one_more(0, &mut hands.room));
    assert!(!floor.one_more(0, &mut hands.room));
    assert_eq!((hands.room.connections, floor.open, floor.counts.open_peak), (2, 2, 2));
    let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
    floor.end(0, hands, &ended);
    assert_eq!(floor.open, 0);
}

#[test]
fn an_act_towards_the_bot_needs_no_connection_and_frees_none() {
    let mut floor = floor(1);
    while floor.take_due(Duration::ZERO).is_some() {}
    assert_eq!(begin(&mut floor, 0), Ok(()));
    assert_eq!(begin_by(&mut floor, 1, Way::Bot), Ok(()));
    let ended = Ended { at: Duration::ZERO, outcome: Outcome::Closed, tries: 1 };
    assert_eq!(floor.end(1, Hands::default(), &ended), None);
    assert_eq!(floor.open, 1);
    assert_eq!(end(&mut floor, 0), Some(2));
    assert_eq!((floor.open, floor.counts.open_peak), (0, 1));
}

#[test]
fn an_act_towards_the_bot_starts_when_its_update_is_handed_over() {
    let mut floor = floor(9);
    assert_eq!(floor.take_due(Duration::ZERO), Some(0));
    begin_by(&mut floor, 0, Way::Bot).unwrap();
    floor.handed_over(0, Duration::from_millis(3));
    let ended = Ended { at: Duration::from_millis(7), outcome: Outcome::Unanswered, tries: 1 };
    let sample = floor.sample(0, &ended);
    assert_eq!((sample.lag(), sample.service()), (Duration::from_millis(3), Duration::from_millis(4)));
}

#[test]
fn at_the_end_every_act_has_its_sample_wherever_it_stands() {
    for begun in 0..=2 {
        let mut floor = floor(9);
        for index in 0..begun {
            assert_eq!(floor.take_due(Duration::ZERO), Some(index));
            begin(&mut floor, index).unwrap();
        }
        floor.end_all(all(Outcome::Timeout), Duration::from_millis(5));
        assert_eq!(floor.sink.samples(), 3, "{begun} begun");
    }
}

#[test]
fn an_act_that_ended_in_time_is_due_again_at_once_and_a_later_one_is_not() {
    let until = Duration::from_millis(10);
    let again = Rules { pace: Pace::Again { until }, connections: Connections::Player, most_open: 9 };
    let mut floor = floor_by(again);
    assert_eq!(floor.take_due(Duration::ZERO), Some(0));
    let mut end = |ms| {
        begin(&mut floor, 0).unwrap();
        let ended = Ended { at: Duration::from_millis(ms), outcome: Outcome::Closed, tries: 1 };
        (floor.end(0, Hands::default(), &ended), floor.planned)
    };
    assert_eq!(end(4), (Some(0), 4));
    assert_eq!(end(9), (Some(0), 5));
    assert_eq!(end(10), (None, 5));
    floor.end_all(all(Outcome::Timeout), until);
    assert!(floor.is_done());
}

#[test]
fn a_closed_loop_that_is_stopped_goes_round_no_more() {
    let until = Duration::from_secs(3600);
    let again = Rules { pace: Pace::Again { until }, connections: Connections::Player, most_open: 9 };
    let mut floor = floor_by(again);
    while let Some(index) = floor.take_due(Duration::ZERO) {
        begin(&mut floor, index).unwrap();
    }
    floor.end_all(all(Outcome::Abandoned), Duration::from_millis(1));
    assert!(floor.is_done());
}

#[test]
fn a_players_whole_pool_stays_open_for_the_acts_that_are_left() {
    let crowded = Outcome::RigFault(RigFault::TooManyOpenFiles);
    let rules = Rules { pace: Pace::Planned, connections: Connections::Player, most_open: 3 };
    // The first player comes again later and keeps its three connections; the second does not.
    for (player, again, outcome) in
        [(0, LATER, crowded), (0, Duration::ZERO, Outcome::Abandoned), (1, LATER, Outcome::Abandoned)]
    {
        let mut floor = coming_again(again, rules);
        while floor.take_due(Duration::ZERO).is_some() {}
        let mut hands = floor.take_hands(player, Way::Wire);
        floor.begin(player, &mut hands, Way::Wire, Duration::ZERO).unwrap();
        floor.widen(player, &mut hands, 6);
        assert_eq!((hands.room.connections, begin(&mut floor, 1 - player)), (3, Err(outcome)), "player {player}");
    }
}

#[test]
fn a_socket_stays_open_until_its_visit_ends_whosever_connections_are() {
    for connections in [Connections::Player, Connections::Shared, Connections::Fresh] {
        for (player, again, outcome) in [
            (0, LATER, Outcome::RigFault(RigFault::TooManyOpenFiles)),
            (0, Duration::ZERO, Outcome::Abandoned),
            (1, LATER, Outcome::Abandoned),
        ] {
            let mut floor = coming_again(again, Rules { pace: Pace::Planned, connections, most_open: 1 });
            while floor.take_due(Duration::ZERO).is_some() {}
            begin_by(&mut floor, player, Way::Socket).unwrap();
            assert_eq!(begin(&mut floor, 1 - player), Err(outcome), "{connections:?}, player {player}");
        }
    }
}
