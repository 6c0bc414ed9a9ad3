//! Both sides of every edge of the ceilings, to the nanosecond, and what holds for any sequence of calls.

use proptest::prelude::*;

use super::*;

const GROUP: Option<(i64, ChatKind)> = Some((-100, ChatKind::Group));
const PRIVATE: Option<(i64, ChatKind)> = Some((7, ChatKind::Private));

fn throttle() -> Throttle {
    Throttle::new(&Limits::default())
}

fn only(change: impl FnOnce(&mut Limits)) -> Throttle {
    let mut limits =
        Limits { sends_per_second: 0, group_sends_per_minute: 0, chat_sends_per_second: 0, ..Limits::default() };
    change(&mut limits);
    Throttle::new(&limits)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The last instant before that one.
fn before(at: Duration) -> Duration {
    at.saturating_sub(Duration::from_nanos(1))
}

fn send(chat: Option<(i64, ChatKind)>) -> Counted {
    Counted { bot: 1, chat, weight: 1, patience: Duration::ZERO, comes_again: false }
}

fn retry_after(admission: Admission) -> u32 {
    match admission {
        Admission::Accepted | Admission::Absorbed(_) => 0,
        Admission::Refused { retry_after } => retry_after,
    }
}

/// Sends to `n` different private chats, so that only the bot's own ceiling can refuse.
fn fan_out(throttle: &mut Throttle, at: Duration, n: i64) -> u32 {
    (0..n).map(|user| u32::from(throttle.admit(at, send(Some((user, ChatKind::Private)))) == Admission::Accepted)).sum()
}

#[test]
fn the_31st_send_in_a_second_is_refused() {
    let mut throttle = throttle();
    assert_eq!(fan_out(&mut throttle, ms(0), 30), 30);
    let last_instant = before(BOT_SPAN);
    assert_eq!(
        throttle.admit(last_instant, send(Some((99, ChatKind::Private)))),
        Admission::Refused { retry_after: 1 }
    );
    assert_eq!(throttle.admit(BOT_SPAN, send(Some((99, ChatKind::Private)))), Admission::Accepted);
}

#[test]
fn the_21st_send_to_a_group_waits_for_the_oldest_to_leave_the_minute() {
    let mut throttle = throttle();
    for nth in 0..20 {
        assert_eq!(throttle.admit(ms(nth * 100), send(GROUP)), Admission::Accepted);
    }
    assert_eq!(retry_after(throttle.admit(ms(2000), send(GROUP))), 58);
    assert_eq!(retry_after(throttle.admit(ms(2001), send(GROUP))), 58);
    assert_eq!(retry_after(throttle.admit(ms(3000), send(GROUP))), 57, "it counts down");
    assert_eq!(retry_after(throttle.admit(before(GROUP_SPAN), send(GROUP))), 1);
    assert_eq!(throttle.admit(GROUP_SPAN, send(GROUP)), Admission::Accepted);
    assert_eq!(retry_after(throttle.admit(GROUP_SPAN, send(GROUP))), 1, "the second oldest leaves 100 ms later");
}

#[test]
fn a_private_chat_takes_three_at_once_and_then_one_a_second() {
    let mut throttle = throttle();
    for _ in 0..3 {
        assert_eq!(throttle.admit(ms(0), send(PRIVATE)), Admission::Accepted);
    }
    assert_eq!(retry_after(throttle.admit(ms(0), send(PRIVATE))), 1);
    assert_eq!(retry_after(throttle.admit(before(ms(1000)), send(PRIVATE))), 1);
    assert_eq!(throttle.admit(ms(1000), send(PRIVATE)), Admission::Accepted);
    assert_eq!(retry_after(throttle.admit(ms(1000), send(PRIVATE))), 1);
}

#[test]
fn the_largest_wait_over_the_broken_ceilings_is_told() {
    let mut throttle = throttle();
    for _ in 0..20 {
        throttle.admit(ms(0), send(GROUP));
    }
    assert_eq!(fan_out(&mut throttle, ms(0), 10), 10);
    assert_eq!(retry_after(throttle.admit(ms(0), send(GROUP))), 60, "bot: 1 s, group: 60 s");
    assert_eq!(retry_after(throttle.admit(ms(0), send(Some((99, ChatKind::Private))))), 1);
}

#[test]
fn an_album_counts_as_its_items_and_is_refused_whole() {
    let mut throttle = throttle();
    let album = Counted { weight: 10, ..send(GROUP) };
    assert_eq!(throttle.admit(ms(0), album), Admission::Accepted);
    assert_eq!(throttle.admit(ms(1000), Counted { weight: 1, ..album }), Admission::Accepted);
    assert_eq!(retry_after(throttle.admit(ms(1000), album)), 59);
    assert_eq!(throttle.admit(ms(1000), Counted { weight: 9, ..album }), Admission::Accepted);
}

#[test]
fn a_call_before_the_told_seconds_are_over_is_counted_even_if_it_is_accepted() {
    let mut throttle = only(|limits| limits.sends_per_second = 1);
    throttle.admit(ms(0), send(GROUP));
    throttle.admit(ms(500), send(GROUP));
    assert_eq!(throttle.take_while_throttled(), 0, "the refused one itself came into an open scope");
    assert_eq!(throttle.admit(ms(1200), send(GROUP)), Admission::Accepted);
    assert_eq!(throttle.take_while_throttled(), 1);
    throttle.admit(ms(2500), send(GROUP));
    assert_eq!(throttle.take_while_throttled(), 0);
}

#[test]
fn the_worst_windows_count_attempts_and_accepted_apart() {
    let mut throttle = throttle();
    for nth in 0..25 {
        throttle.admit(ms(nth), send(GROUP));
    }
    throttle.admit(ms(60_000), send(GROUP));
    let worst = Worst { second_attempts: 25, second_accepted: 20, minute_attempts: 25, minute_accepted: 20 };
    assert_eq!(throttle.worst(), worst);
}

#[test]
fn without_ceilings_nothing_is_refused_and_everything_is_counted() {
    let mut throttle = only(|_| {});
    for _ in 0..1000 {
        assert_eq!(throttle.admit(ms(0), send(GROUP)), Admission::Accepted);
    }
    assert_eq!(throttle.worst().minute_accepted, 1000);
}

#[test]
fn a_wait_within_the_patience_is_absorbed_and_closes_nothing() {
    let mut throttle = throttle();
    let patient = |patience: u64| Counted { patience: ms(patience), ..send(PRIVATE) };
    for _ in 0..3 {
        throttle.admit(ms(0), patient(0));
    }
    assert_eq!(throttle.admit(ms(200), patient(800)), Admission::Absorbed(ms(800)));
    let again = Counted { comes_again: true, ..patient(0) };
    assert_eq!(throttle.admit(ms(1000), again), Admission::Accepted);
    assert_eq!((throttle.take_while_throttled(), throttle.worst().second_attempts), (0, 4));
    assert_eq!(throttle.admit(ms(1200), patient(799)), Admission::Refused { retry_after: 1 });
}

#[test]
fn idle_scopes_are_forgotten() {
    let mut throttle = only(|limits| limits.chat_sends_per_second = 1);
    for user in 0..200_000_i64 {
        throttle.admit(ms(user as u64), send(Some((user, ChatKind::Private))));
        throttle.admit(ms(user as u64), send(Some((-user - 1, ChatKind::Group))));
    }
    assert!(throttle.chats.len() + throttle.groups.len() < 130_000, "one minute holds 60,000 groups");
}

/// Calls as (milliseconds since the last one, which scope).
fn calls() -> impl Strategy<Value = Vec<(u64, u8)>> {
    prop::collection::vec((0_u64..400, 0_u8..3), 1..400)
}

fn scope_of(which: u8) -> Option<(i64, ChatKind)> {
    match which {
        0 => GROUP,
        1 => PRIVATE,
        _ => None,
    }
}

/// The most instants that any half-open window of `span` holds.
fn fullest(accepted: &[Duration], span: Duration) -> usize {
    let ends_at = |from: usize| accepted.partition_point(|at| *at < accepted[from] + span);
    (0..accepted.len()).map(|from| ends_at(from) - from).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn no_window_ever_holds_more_than_its_ceiling(calls in calls()) {
        let mut throttle = throttle();
        let (mut now, mut all, mut group, mut private) = (ms(0), vec![], vec![], vec![]);
        for (gap, which) in calls {
            now += ms(gap / 8);
            if throttle.admit(now, send(scope_of(which))) == Admission::Accepted {
                all.push(now);
                match which { 0 => group.push(now), 1 => private.push(now), _ => {} }
            }
        }
        prop_assert!(fullest(&all, BOT_SPAN) <= 30);
        prop_assert!(fullest(&group, GROUP_SPAN) <= 20);
        for seconds in 1_u32..10 {
            prop_assert!(fullest(&private, BOT_SPAN * seconds) < 3 + seconds as usize);
        }
        prop_assert_eq!(throttle.worst().second_accepted as usize, fullest(&all, BOT_SPAN));
        prop_assert_eq!(throttle.worst().minute_accepted as usize, fullest(&group, GROUP_SPAN));
    }

    #[test]
    fn who_waits_as_told_is_accepted_and_who_waits_a_second_less_is_not(calls in calls()) {
        let mut throttle = throttle();
        let mut now = ms(0);
        for (gap, which) in calls {
            now += ms(gap);
            let Admission::Refused { retry_after } = throttle.admit(now, send(scope_of(which))) else { continue };
            let told = Duration::from_secs(u64::from(retry_after));
            prop_assert_ne!(throttle.admit(now + told.saturating_sub(Duration::from_secs(1)), send(scope_of(which))), Admission::Accepted);
            prop_assert_eq!(throttle.admit(now + told, send(scope_of(which))), Admission::Accepted);
            now += told;
        }
    }
}
