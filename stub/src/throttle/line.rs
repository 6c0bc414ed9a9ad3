//! Calls that wait for one another: while the server waits out a short flood wait for one call, calls of the
//! same kind to the same chat stand in line behind it.
//!
//! Each has 8 s to wait in all. When the first has to wait for n seconds, those behind it are charged n too, and
//! all that then have more than 8 fail at once with that n: so bursts fail in clumps (`SequenceDispatcher.cpp`
//! and `NetQueryCreator.cpp` of <https://github.com/tdlib/td>).

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::oneshot::{self, Receiver, Sender};

use super::whole_seconds;
use crate::ids::ById;

/// Which line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) bot: i64,
    pub(crate) chat: i64,
    pub(crate) kind: Kind,
}

/// Calls of one kind are sent on one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Texts,
    Media,
    Edits,
}

/// What the line says to a call that comes.
#[derive(Debug)]
pub(crate) enum Entered {
    /// Nobody is before it.
    First,
    /// Somebody is; it will be called.
    Behind(Receiver<Called>),
    /// Somebody is, and for longer than it may wait.
    Failed { retry_after: u32 },
}

/// What the line says to a call that stood in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// It is the first now and has waited for so many seconds.
    First { waited: u32 },
    /// It has waited for too long.
    Failed { retry_after: u32 },
}

/// Every line that somebody stands in.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: ById<Place, Line>,
}

/// Those behind the first, and until when that one waits.
#[derive(Debug, Default)]
struct Line {
    first_waits_until: Duration,
    behind: VecDeque<Behind>,
}

#[derive(Debug)]
struct Behind {
    charged: u32,
    call: Sender<Called>,
}

impl Lines {
    /// A call comes; it may wait for `patience` seconds in all.
    pub(crate) fn enter(&mut self, now: Duration, place: Place, patience: u32) -> Entered {
        let Some(line) = self.lines.get_mut(&place) else { return Entered::First };
        let left = line.first_waits_until.saturating_sub(now);
        let charged = if left.is_zero() { 0 } else { whole_seconds(left) };
        if charged > patience {
            return Entered::Failed { retry_after: charged };
        }
        let (call, called) = oneshot::channel();
        line.behind.push_back(Behind { charged, call });
        Entered::Behind(called)
    }

    /// The first has to wait for some seconds, and all behind it with it.
    pub(crate) fn hold(&mut self, now: Duration, place: Place, seconds: u32, patience: u32) {
        let line = self.lines.entry(place).or_default();
        line.first_waits_until = now + Duration::from_secs(u64::from(seconds));
        line.charge(seconds, patience);
    }

    /// The first was refused for that many seconds, which those behind it feel as well.
    pub(crate) fn fail(&mut self, place: Place, seconds: u32, patience: u32) {
        if let Some(line) = self.lines.get_mut(&place) {
            line.charge(seconds, patience);
        }
    }

    /// The first is done; the next one is called, or the line is over.
    pub(crate) fn leave(&mut self, place: Place) {
        let Some(line) = self.lines.get_mut(&place) else { return };
        line.first_waits_until = Duration::ZERO;
        while let Some(Behind { charged, call }) = line.behind.pop_front() {
            if call.send(Called::First { waited: charged }).is_ok() {
                return;
            }
        }
        self.lines.remove(&place);
    }
}

impl Line {
    fn charge(&mut self, seconds: u32, patience: u32) {
        let (failed, behind): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut self.behind)
            .into_iter()
            .map(|waiting| Behind { charged: waiting.charged.saturating_add(seconds), ..waiting })
            .partition(|waiting| waiting.charged > patience);
        self.behind = behind;
        for Behind { call, .. } in failed {
            // One that is gone does not need to be told.
            let _ = call.send(Called::Failed { retry_after: seconds });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { bot: 1, chat: 7, kind: Kind::Texts };
    const PATIENCE: u32 = 8;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn behind(lines: &mut Lines, now: Duration) -> Receiver<Called> {
        match lines.enter(now, PLACE, PATIENCE) {
            Entered::Behind(called) => called,
            entered @ (Entered::First | Entered::Failed { .. }) => panic!("not in line: {entered:?}"),
        }
    }

    #[test]
    fn calls_are_called_in_the_order_in_which_they_came() {
        let mut lines = Lines::default();
        assert!(matches!(lines.enter(seconds(0), PLACE, PATIENCE), Entered::First));
        lines.hold(seconds(0), PLACE, 3, PATIENCE);
        let (mut second, mut third) = (behind(&mut lines, seconds(0)), behind(&mut lines, seconds(1)));
        lines.leave(PLACE);
        assert_eq!(second.try_recv(), Ok(Called::First { waited: 3 }));
        assert!(third.try_recv().is_err());
        lines.leave(PLACE);
        assert_eq!(third.try_recv(), Ok(Called::First { waited: 2 }), "it came a second later");
        lines.leave(PLACE);
        assert!(matches!(lines.enter(seconds(3), PLACE, PATIENCE), Entered::First));
    }

    #[test]
    fn eight_seconds_are_waited_and_with_one_more_all_fail_together() {
        let mut lines = Lines::default();
        lines.hold(seconds(0), PLACE, 8, PATIENCE);
        let mut waiting = [behind(&mut lines, seconds(0)), behind(&mut lines, seconds(0))];
        assert!(waiting.iter_mut().all(|called| called.try_recv().is_err()));
        lines.fail(PLACE, 1, PATIENCE);
        for called in &mut waiting {
            assert_eq!(called.try_recv(), Ok(Called::Failed { retry_after: 1 }));
        }
    }

    #[test]
    fn who_comes_late_pays_only_for_what_is_left() {
        let mut lines = Lines::default();
        lines.hold(seconds(0), PLACE, 8, PATIENCE);
        let _early = behind(&mut lines, seconds(0));
        let mut late = behind(&mut lines, Duration::from_millis(6500));
        lines.leave(PLACE);
        lines.hold(seconds(8), PLACE, 6, PATIENCE);
        assert!(late.try_recv().is_err(), "2 and 6 are 8");
        lines.hold(seconds(14), PLACE, 1, PATIENCE);
        assert_eq!(late.try_recv(), Ok(Called::Failed { retry_after: 1 }));
    }

    #[test]
    fn one_that_has_gone_is_passed_over() {
        let mut lines = Lines::default();
        lines.hold(seconds(0), PLACE, 1, PATIENCE);
        drop(behind(&mut lines, seconds(0)));
        let mut next = behind(&mut lines, seconds(0));
        lines.leave(PLACE);
        assert_eq!(next.try_recv(), Ok(Called::First { waited: 1 }));
    }

    #[test]
    fn other_chats_and_other_kinds_have_lines_of_their_own() {
        let mut lines = Lines::default();
        lines.hold(seconds(0), PLACE, 1, PATIENCE);
        for other in [Place { chat: 8, ..PLACE }, Place { kind: Kind::Edits, ..PLACE }, Place { bot: 2, ..PLACE }] {
            assert!(matches!(lines.enter(seconds(0), other, PATIENCE), Entered::First));
        }
    }
}
