//! What holds for any sequence of calls under any rules.

use proptest::prelude::*;

use super::*;
use crate::limits::{Rule, Scope};

/// A call: milliseconds since the one before, where to, and how many messages.
#[derive(Debug, Clone, Copy)]
struct Made {
    gap: u64,
    to: u8,
    weight: u32,
}

fn calls() -> impl Strategy<Value = Vec<Made>> {
    let call = (0_u64..400, 0_u8..3, 1_u32..4).prop_map(|(gap, to, weight)| Made { gap, to, weight });
    prop::collection::vec(call, 1..400)
}

fn call_of(made: Made) -> Counted {
    let chat = match made.to {
        0 => GROUP,
        1 => PRIVATE,
        _ => None,
    };
    Counted { weight: made.weight, ..send(chat) }
}

/// Rules of the bot, a group and a private chat, with limits that no call's own weight breaks.
fn rules() -> impl Strategy<Value = Limits> {
    (3_u32..40, 3_u32..30, 1_u64..20_000, 3_u32..6).prop_map(|(bot, group, window, burst)| {
        let own = |id: &'static str, scope, limit, burst| Rule {
            id: id.into(),
            scope,
            families: vec![Family::Sends],
            limit,
            window: ms(window),
            burst,
            paid_limit: 0,
            evidence: "",
        };
        let rules = vec![own("own group", Scope::Group, group, 0), own("own chat", Scope::Chat, 1, burst)];
        Limits { sends_per_second: bot, group_sends_per_minute: group, chat_burst: 3, rules, ..Limits::default() }
    })
}

/// The most entries that any half-open window of `span` holds.
fn fullest(accepted: &[Duration], span: Duration) -> usize {
    let ends_at = |from: usize| accepted.partition_point(|at| *at < accepted[from] + span);
    (0..accepted.len()).map(|from| ends_at(from) - from).max().unwrap_or(0)
}

/// When each accepted message was, by where it went.
fn accepted(throttle: &mut Throttle, calls: Vec<Made>) -> [Vec<Duration>; 3] {
    let (mut now, mut accepted) = (ms(0), [vec![], vec![], vec![]]);
    for made in calls {
        now += ms(made.gap / 8);
        if is_accepted(throttle, now, call_of(made)) {
            accepted[usize::from(made.to)].extend((0..made.weight).map(|_| now));
        }
    }
    accepted
}

proptest! {
    #[test]
    fn no_window_ever_holds_more_than_its_ceiling(limits in rules(), calls in calls()) {
        let mut throttle = Throttle::new(&limits);
        let [group, private, nowhere] = accepted(&mut throttle, calls);
        let mut all = [&group[..], &private[..], &nowhere[..]].concat();
        all.sort();
        prop_assert!(fullest(&all, SECOND) <= limits.sends_per_second as usize);
        prop_assert!(fullest(&group, MINUTE) <= limits.group_sends_per_minute as usize);
        let (own_group, own_chat) = (&limits.rules[0], &limits.rules[1]);
        prop_assert!(fullest(&group, own_group.window) <= own_group.limit as usize);
        for times in 1_u32..10 {
            prop_assert!(fullest(&private, SECOND * times) < 3 + times as usize);
            prop_assert!(fullest(&private, own_chat.window * times) < (own_chat.burst + times) as usize);
        }
        prop_assert_eq!(throttle.fullest_second().accepted as usize, fullest(&all, SECOND));
        prop_assert_eq!(throttle.fullest_minute().accepted as usize, fullest(&group, MINUTE));
    }

    #[test]
    fn who_waits_as_told_is_accepted_and_who_waits_a_second_less_is_not(limits in rules(), calls in calls()) {
        let mut throttle = Throttle::new(&limits);
        let mut now = ms(0);
        for made in calls {
            now += ms(made.gap);
            let told = retry_after(&mut throttle, now, call_of(made));
            if told == 0 { continue }
            let told = Duration::from_secs(u64::from(told));
            prop_assert!(!is_accepted(&mut throttle, now + told.saturating_sub(SECOND), call_of(made)));
            prop_assert!(is_accepted(&mut throttle, now + told, call_of(made)));
            now += told;
        }
    }

    #[test]
    fn what_is_told_counts_down_by_the_second_however_often_it_is_asked(limits in rules(), calls in calls()) {
        let mut throttle = Throttle::new(&limits);
        let mut now = ms(0);
        for made in calls {
            now += ms(made.gap / 8);
            let told = retry_after(&mut throttle, now, call_of(made));
            for second in 1..told {
                now += SECOND;
                prop_assert_eq!(retry_after(&mut throttle, now, call_of(made)), told - second);
            }
        }
    }

    #[test]
    fn refused_calls_leave_no_trace(limits in rules(), calls in calls()) {
        let (mut hammered, mut spared) = (Throttle::new(&limits), Throttle::new(&limits));
        let mut now = ms(0);
        for made in calls {
            now += ms(made.gap / 8);
            let first = retry_after(&mut hammered, now, call_of(made));
            for _ in 0..3 {
                if first > 0 {
                    prop_assert_eq!(retry_after(&mut hammered, now, call_of(made)), first);
                }
            }
            prop_assert_eq!(retry_after(&mut spared, now, call_of(made)), first);
        }
    }

    #[test]
    fn the_longest_wait_of_the_broken_rules_is_told(limits in rules(), calls in calls()) {
        let mut throttle = Throttle::new(&limits);
        let [mut all, mut group, mut private] = [vec![], vec![], vec![]];
        let mut now = ms(0);
        for made in calls {
            now += ms(made.gap / 8);
            let entered = match made.to { 0 => &mut group, 1 => &mut private, _ => &mut Vec::new() };
            let mut waits = vec![window_wait(&all, now, SECOND, limits.sends_per_second, made.weight)];
            match made.to {
                0 => {
                    waits.push(window_wait(entered, now, MINUTE, limits.group_sends_per_minute, made.weight));
                    waits.push(window_wait(entered, now, limits.rules[0].window, limits.rules[0].limit, made.weight));
                }
                1 => {
                    waits.push(pace_wait(entered, now, SECOND, 3, made.weight));
                    waits.push(pace_wait(entered, now, limits.rules[1].window, limits.rules[1].burst, made.weight));
                }
                _ => {}
            }
            let longest = waits.into_iter().max().unwrap_or_default();
            let expected = if longest.is_zero() { 0 } else { whole_seconds(longest) };
            prop_assert_eq!(retry_after(&mut throttle, now, call_of(made)), expected);
            if expected == 0 {
                for _ in 0..made.weight {
                    all.push(now);
                    entered.push(now);
                }
            }
        }
    }
}

/// The rule in its plainest form: the first instant at which the window has room, looked for among all entries.
fn window_wait(entered: &[Duration], now: Duration, span: Duration, limit: u32, weight: u32) -> Duration {
    let fits = |at: Duration| entered.iter().filter(|entry| **entry + span > at).count() as u32 + weight <= limit;
    let leaves = entered.iter().map(|entry| *entry + span).filter(|at| *at > now);
    std::iter::once(now).chain(leaves).find(|at| fits(*at)).map_or(Duration::ZERO, |at| at.saturating_sub(now))
}

/// The bucket in its plainest form: filled step by step from the first entry on.
fn pace_wait(entered: &[Duration], now: Duration, interval: Duration, burst: u32, weight: u32) -> Duration {
    let (mut spent, mut last) = (Duration::ZERO, Duration::ZERO);
    for entry in entered {
        spent = spent.saturating_sub(entry.saturating_sub(last)) + interval;
        last = *entry;
    }
    spent = spent.saturating_sub(now.saturating_sub(last));
    (spent + interval * weight).saturating_sub(interval * burst)
}
