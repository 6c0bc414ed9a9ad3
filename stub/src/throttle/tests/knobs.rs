//! The knobs that a profile may turn.

use super::*;
use crate::limits::{Rule, Scope};

#[test]
fn only_families_that_count_are_counted() {
    let mut throttle = only(|limits| limits.sends_per_second = 1);
    let call = |family| Counted { family, ..send(None) };
    assert!(is_accepted(&mut throttle, ms(0), call(Family::Edits)));
    assert_eq!(retry_after(&mut throttle, ms(0), call(Family::Sends)), 1, "edits share the budget of sends");
    for family in [Family::Deletes, Family::ChatActions, Family::Pins, Family::Reads, Family::Answers, Family::Others] {
        assert!(is_accepted(&mut throttle, ms(0), call(family)), "{family:?}");
    }
    assert!(throttle.counts(Family::Edits) && !throttle.counts(Family::Deletes));
}

#[test]
fn slow_mode_takes_one_send_to_a_group_and_any_number_of_edits() {
    let mut throttle = only(|limits| limits.slow_mode = ms(10_000));
    assert!(is_accepted(&mut throttle, ms(0), send(GROUP)));
    assert_eq!(throttle.admit(ms(2500), send(GROUP)), Admission::Refused { retry_after: 8, rule: "slow mode" });
    assert!(is_accepted(&mut throttle, ms(2500), Counted { family: Family::Edits, ..send(GROUP) }));
    assert!(is_accepted(&mut throttle, ms(2500), send(PRIVATE)));
    assert!(is_accepted(&mut throttle, ms(10_000), send(GROUP)));
}

#[test]
fn the_slow_mode_of_a_chat_is_one_of_its_ceilings() {
    let mut throttle = only(|limits| limits.group_sends_per_minute = 1);
    let slow = |seconds: u64| Counted { slow_mode: Some(ms(1000 * seconds)), ..send(GROUP) };
    assert!(is_accepted(&mut throttle, ms(0), slow(90)));
    let told = throttle.admit(ms(500), slow(90));
    assert_eq!(told, Admission::Refused { retry_after: 90, rule: "the chat's slow mode" }, "the longer wait");
    assert_eq!(throttle.admit(ms(500), send(GROUP)), Admission::Refused { retry_after: 60, rule: "group" });
    assert_eq!(retry_after(&mut throttle, before(ms(90_000)), slow(90)), 1);
    assert!(is_accepted(&mut throttle, ms(90_000), slow(10)));
    let told = throttle.admit(ms(90_000), slow(10));
    assert_eq!(told, Admission::Refused { retry_after: 60, rule: "group" }, "the longer wait is the other");
    let patient = Counted { patience: 8, ..slow(10) };
    assert!(is_accepted(&mut throttle, ms(150_000), patient));
    let elsewhere = Counted { chat: PRIVATE, ..patient };
    assert!(is_accepted(&mut throttle, ms(150_000), elsewhere));
    assert_eq!(throttle.admit(ms(152_000), elsewhere), Admission::Absorbed { seconds: 8 });
}

#[test]
fn an_album_passes_slow_mode_as_one_message() {
    let mut throttle = only(|limits| limits.slow_mode = ms(10_000));
    let album = Counted { weight: 10, ..send(GROUP) };
    assert!(is_accepted(&mut throttle, ms(0), album));
    assert_eq!(retry_after(&mut throttle, before(ms(10_000)), album), 1);
    assert!(is_accepted(&mut throttle, ms(10_000), album));
}

#[test]
fn who_pays_sends_a_thousand_a_second_and_who_does_not_thirty() {
    let mut throttle = only(|limits| {
        limits.sends_per_second = 30;
        limits.paid_sends_per_second = 1000;
    });
    let paid = Counted { is_paid: true, ..send(None) };
    let accepted = (0..1001).filter(|_| is_accepted(&mut throttle, ms(0), paid)).count();
    assert_eq!(accepted, 1000);
    assert_eq!(retry_after(&mut throttle, ms(999), send(None)), 1, "the free thirty are used up as well");
    assert!(is_accepted(&mut throttle, SECOND, send(None)));
}

#[test]
fn without_stars_paying_changes_nothing() {
    let mut throttle = only(|limits| limits.sends_per_second = 1);
    let paid = Counted { is_paid: true, ..send(None) };
    assert!(is_accepted(&mut throttle, ms(0), paid));
    assert_eq!(retry_after(&mut throttle, ms(0), paid), 1);
}

#[test]
fn a_429_of_one_chat_closes_the_whole_bot_only_when_it_is_told_to() {
    let full = |closes| {
        let mut throttle = only(|limits| {
            limits.group_sends_per_minute = 1;
            limits.throttle_scope = closes;
        });
        assert!(is_accepted(&mut throttle, ms(0), send(GROUP)));
        assert_eq!(retry_after(&mut throttle, ms(10_000), send(GROUP)), 50);
        throttle
    };
    assert!(is_accepted(&mut full(ThrottleScope::Chat), ms(10_000), send(PRIVATE)));
    let mut throttle = full(ThrottleScope::Bot);
    let refused = throttle.admit(ms(12_500), send(PRIVATE));
    assert_eq!(refused, Admission::Refused { retry_after: 48, rule: "an earlier 429" });
    assert!(is_accepted(&mut throttle, ms(12_500), Counted { bot: 2, ..send(PRIVATE) }), "another bot");
    assert_eq!(retry_after(&mut throttle, before(MINUTE), send(PRIVATE)), 1, "refused calls extend nothing");
    assert!(is_accepted(&mut throttle, MINUTE, send(PRIVATE)));
}

#[test]
fn each_send_into_an_open_penalty_puts_its_end_off() {
    let mut throttle = only(|limits| {
        limits.group_sends_per_minute = 1;
        limits.penalty_growth = ms(5000);
    });
    assert!(is_accepted(&mut throttle, ms(0), send(GROUP)));
    assert_eq!(retry_after(&mut throttle, ms(20_000), send(GROUP)), 40);
    assert_eq!(retry_after(&mut throttle, ms(20_000), send(GROUP)), 45);
    assert_eq!(retry_after(&mut throttle, ms(21_000), send(GROUP)), 49, "5 s more, 1 s gone");
    assert!(is_accepted(&mut throttle, ms(21_000), send(PRIVATE)), "only the group is closed");
    assert_eq!(retry_after(&mut throttle, before(ms(70_000)), send(GROUP)), 6, "though the window has room");
    assert!(is_accepted(&mut throttle, ms(75_000), send(GROUP)));
}

#[test]
fn a_penalty_grows_to_two_weeks_and_no_further() {
    let mut throttle = only(|limits| {
        limits.group_sends_per_minute = 1;
        limits.penalty_growth = Duration::from_secs(1_000_000);
    });
    for _ in 0..5 {
        throttle.admit(ms(0), send(GROUP));
    }
    assert_eq!(retry_after(&mut throttle, ms(0), send(GROUP)), 14 * 24 * 60 * 60);
}

#[test]
fn a_wait_of_eight_seconds_is_absorbed_and_one_of_nine_is_told() {
    let mut throttle = only(|limits| limits.group_sends_per_minute = 1);
    let patient = Counted { patience: 8, ..send(GROUP) };
    assert!(is_accepted(&mut throttle, ms(0), patient));
    assert_eq!(retry_after(&mut throttle, before(ms(52_000)), patient), 9);
    assert_eq!(throttle.admit(ms(52_000), patient), Admission::Absorbed { seconds: 8 });
    assert_eq!(throttle.admit(MINUTE, Counted { again: true, ..patient }), Admission::Accepted);
}

#[test]
fn who_was_told_nothing_ignores_nothing() {
    let mut throttle = only(|limits| limits.sends_per_second = 1);
    let patient = Counted { patience: 8, ..send(GROUP) };
    throttle.admit(ms(0), patient);
    throttle.admit(ms(0), patient);
    throttle.admit(ms(1), patient);
    assert_eq!(throttle.take_while_throttled(), 0);
    assert_eq!(throttle.fullest_second(), Fullest { attempts: 1, accepted: 1 });
}

#[test]
fn a_rule_of_the_scenario_counts_what_it_names() {
    let rule = Rule {
        id: "uploads".into(),
        scope: Scope::Uploads,
        families: vec![Family::Sends],
        limit: 2,
        window: ms(5000),
        burst: 0,
        paid_limit: 0,
        evidence: "",
    };
    let mut throttle = only(|limits| limits.rules = vec![rule]);
    let upload = Counted { carries_file: true, ..send(PRIVATE) };
    assert!(is_accepted(&mut throttle, ms(0), upload) && is_accepted(&mut throttle, ms(1000), upload));
    assert_eq!(throttle.admit(ms(1000), upload), Admission::Refused { retry_after: 4, rule: "uploads" });
    assert!(is_accepted(&mut throttle, ms(1000), send(PRIVATE)), "a message without a file");
    assert!(is_accepted(&mut throttle, ms(5000), upload));
}
