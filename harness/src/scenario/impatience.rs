//! What a player does when an act fails: `on_failure`.

use std::time::Duration;

use super::check::positive;
use super::complaint::Complaint;
use super::spot::Spot;

/// What a player does when an act fails. By default nothing: the next act comes at its planned instant all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnFailure {
    /// Tries again first.
    pub retry: Option<Retry>,
    /// Leaves: the rest of the visit is not done.
    pub leave: bool,
}

/// Trying again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often, from once to a hundred times.
    pub times: u16,
    /// Since the act was begun: the tries are spread evenly over this long, and none begins later.
    pub within: Duration,
}

/// Reads `leave`, `retry 2 within 5s` or `retry 2 within 5s, then leave`.
pub(super) fn checked(text: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> OnFailure {
    let Some(on_failure) = read(text) else {
        let help = "write \"leave\", \"retry 2 within 5s\" or \"retry 2 within 5s, then leave\"";
        complaints.push(spot.complain(format!("`{text}` is nothing that a player does"), help));
        return OnFailure::default();
    };
    if let Some(retry) = on_failure.retry {
        positive(retry.within, spot, complaints);
    }
    on_failure
}

/// Nobody taps more often than that, and a script that does is a journey of its own.
const MOST_TRIES: u16 = 100;

fn read(text: &str) -> Option<OnFailure> {
    let (first, leave) = match text.split_once(',') {
        Some((first, then)) => (first, words(then) == ["then", "leave"]),
        None if words(text) == ["leave"] => return Some(OnFailure { retry: None, leave: true }),
        None => (text, false),
    };
    if text.contains(',') && !leave {
        return None;
    }
    let (times, within) = first.trim().strip_prefix("retry ")?.split_once(" within ")?;
    let times = times.trim().parse().ok().filter(|times| (1..=MOST_TRIES).contains(times))?;
    let within = humantime::parse_duration(within.trim()).ok()?;
    Some(OnFailure { retry: Some(Retry { times, within }), leave })
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_leave_try_again_or_try_again_and_then_leave() {
        let retry = Some(Retry { times: 2, within: Duration::from_secs(5) });
        assert_eq!(read("leave"), Some(OnFailure { retry: None, leave: true }));
        assert_eq!(read("retry 2 within 5s"), Some(OnFailure { retry, leave: false }));
        assert_eq!(read("retry 2 within 5s, then leave"), Some(OnFailure { retry, leave: true }));
    }

    #[test]
    fn anything_else_is_no_way_to_behave() {
        let wrong = [
            "",
            "retry",
            "retry 0 within 5s",
            "retry 101 within 5s",
            "retry 2",
            "retry 2 within 5",
            "leave, then leave",
            "retry 2 within 5s, leave",
        ];
        for text in wrong {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
