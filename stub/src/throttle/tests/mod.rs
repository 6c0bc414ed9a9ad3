//! Both sides of every edge of the ceilings, to the nanosecond, and what holds for any sequence of calls.

mod any_sequence;
mod knobs;

use super::*;

const GROUP: Option<(i64, ChatKind)> = Some((-100, ChatKind::Group));
const PRIVATE: Option<(i64, ChatKind)> = Some((7, ChatKind::Private));
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn throttle() -> Throttle {
    Throttle::new(&Limits::default())
}

fn only(change: impl FnOnce(&mut Limits)) -> Throttle {
    let mut limits = crate::limits::Profile::Off.limits();
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
    Counted {
        bot: 1,
        chat,
        family: Family::Sends,
        weight: 1,
        carries_file: false,
        slow_mode: None,
        is_paid: false,
        patience: 0,
        again: false,
    }
}

/// What it is told; 0: it is accepted.
fn told(admission: Admission<'_>) -> u32 {
    match admission {
        Admission::Accepted => 0,
        Admission::Refused { retry_after, .. } => retry_after,
        Admission::Absorbed { .. } => panic!("nobody was patient"),
    }
}

fn retry_after(throttle: &mut Throttle, now: Duration, call: Counted) -> u32 {
    told(throttle.admit(now, call))
}

fn is_accepted(throttle: &mut Throttle, now: Duration, call: Counted) -> bool {
    throttle.admit(now, call) == Admission::Accepted
}

/// Sends to `n` different private chats, so that only the bot's own ceiling can refuse.
fn fan_out(throttle: &mut Throttle, at: Duration, n: i64) -> u32 {
    (0..n).map(|user| u32::from(is_accepted(throttle, at, send(Some((user, ChatKind::Private)))))).sum()
}

#[test]
fn the_31st_send_in_a_second_is_refused() {
    let mut throttle = throttle();
    assert_eq!(fan_out(&mut throttle, ms(0), 30), 30);
    let next = send(Some((99, ChatKind::Private)));
    assert_eq!(throttle.admit(before(SECOND), next), Admission::Refused { retry_after: 1, rule: "bot" });
    assert_eq!(throttle.admit(SECOND, next), Admission::Accepted);
}

#[test]
fn the_21st_send_to_a_group_waits_for_the_oldest_to_leave_the_minute() {
    let mut throttle = throttle();
    for nth in 0..20 {
        assert_eq!(throttle.admit(ms(nth * 100), send(GROUP)), Admission::Accepted);
    }
    assert_eq!(throttle.admit(ms(2000), send(GROUP)), Admission::Refused { retry_after: 58, rule: "group" });
    assert_eq!(retry_after(&mut throttle, ms(2001), send(GROUP)), 58);
    assert_eq!(retry_after(&mut throttle, ms(3000), send(GROUP)), 57, "it counts down");
    assert_eq!(retry_after(&mut throttle, before(MINUTE), send(GROUP)), 1);
    assert_eq!(throttle.admit(MINUTE, send(GROUP)), Admission::Accepted);
    assert_eq!(retry_after(&mut throttle, MINUTE, send(GROUP)), 1, "the second oldest leaves 100 ms later");
}

#[test]
fn a_channel_has_a_ceiling_of_its_own() {
    let mut throttle = only(|limits| limits.channel_sends_per_minute = 1);
    let channel = send(Some((-1_000_000_000_009, ChatKind::Channel)));
    assert!(is_accepted(&mut throttle, ms(0), channel));
    assert_eq!(throttle.admit(ms(0), channel), Admission::Refused { retry_after: 60, rule: "channel" });
    assert!(is_accepted(&mut throttle, ms(0), send(GROUP)));
    assert!(is_accepted(&mut throttle, ms(0), send(GROUP)));
}

#[test]
fn a_private_chat_takes_three_at_once_and_then_one_a_second() {
    let mut throttle = throttle();
    for _ in 0..3 {
        assert_eq!(throttle.admit(ms(0), send(PRIVATE)), Admission::Accepted);
    }
    assert_eq!(throttle.admit(ms(0), send(PRIVATE)), Admission::Refused { retry_after: 1, rule: "chat" });
    assert_eq!(retry_after(&mut throttle, before(ms(1000)), send(PRIVATE)), 1);
    assert_eq!(throttle.admit(ms(1000), send(PRIVATE)), Admission::Accepted);
    assert_eq!(retry_after(&mut throttle, ms(1000), send(PRIVATE)), 1);
}

#[test]
fn the_largest_wait_over_the_broken_ceilings_is_told() {
    let mut throttle = throttle();
    for _ in 0..20 {
        throttle.admit(ms(0), send(GROUP));
    }
    assert_eq!(fan_out(&mut throttle, ms(0), 10), 10);
    assert_eq!(retry_after(&mut throttle, ms(0), send(GROUP)), 60, "bot: 1 s, group: 60 s");
    assert_eq!(retry_after(&mut throttle, ms(0), send(Some((99, ChatKind::Private)))), 1);
}

#[test]
fn an_album_counts_as_its_items_and_is_refused_whole() {
    let mut throttle = throttle();
    let album = Counted { weight: 10, ..send(GROUP) };
    assert_eq!(throttle.admit(ms(0), album), Admission::Accepted);
    assert_eq!(throttle.admit(ms(1000), Counted { weight: 1, ..album }), Admission::Accepted);
    assert_eq!(retry_after(&mut throttle, ms(1000), album), 59);
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
fn the_fullest_windows_count_attempts_and_accepted_apart() {
    let mut throttle = throttle();
    for nth in 0..25 {
        throttle.admit(ms(nth), send(GROUP));
    }
    throttle.admit(ms(60_000), send(GROUP));
    let fullest = Fullest { attempts: 25, accepted: 20 };
    assert_eq!((throttle.fullest_second(), throttle.fullest_minute()), (fullest, fullest));
}

#[test]
fn without_ceilings_nothing_is_refused_and_everything_is_counted() {
    let mut throttle = only(|_| {});
    for _ in 0..1000 {
        assert_eq!(throttle.admit(ms(0), send(GROUP)), Admission::Accepted);
    }
    assert_eq!(throttle.fullest_minute().accepted, 1000);
}

#[test]
fn idle_scopes_are_forgotten() {
    let mut throttle = only(|limits| limits.chat_sends_per_second = 1);
    for user in 0..200_000_i64 {
        throttle.admit(ms(user as u64), send(Some((user, ChatKind::Private))));
        throttle.admit(ms(user as u64), send(Some((-user - 1, ChatKind::Group))));
    }
    assert!(throttle.scopes() < 130_000, "one minute holds 60,000 groups");
}
