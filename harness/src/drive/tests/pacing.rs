//! When requests leave, seen by the server that they come to and compared with the plan.
//!
//! A machine that runs other things besides is late now and then, and no timer is to blame: so a load is cut into
//! windows, and its calmest one is looked at. A timer with ticks of a millisecond has no window that is calm enough: it
//! sends half a tick late at the median, and a tick's worth at once.

use super::*;
use crate::scenario::{OnFailure, Retry};

/// Planned in a second.
const RATE: u32 = 5_000;

/// Acts of one window: 20 ms of the plan, which is longer than a tick and short enough to be left in peace by the
/// others that a core is shared with.
const WINDOW: usize = 100;

/// Loads that are tried until one of them has a calm window, on a machine that is anything but.
const ROUNDS: usize = 20;

/// How late the median of a calm window is at most; the wheel of tokio's timers was measured to give 540 us.
const LATE: Duration = Duration::from_micros(300);

/// Two that come as close as this left together; the plan has 200 us between any two.
const TOGETHER: Duration = Duration::from_micros(50);

/// How late the acts of a window were, how many were planned apart from the one before, and how many of these left
/// together with it all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Window {
    median: Duration,
    together: usize,
    apart: usize,
}

impl Window {
    fn of(acts: &[(Duration, Duration)]) -> Self {
        let mut late: Vec<Duration> = acts.iter().map(|(planned, came)| came.saturating_sub(*planned)).collect();
        late.sort_unstable();
        let gaps = acts.windows(2).map(|two| (two[1].0.saturating_sub(two[0].0), two[1].1.saturating_sub(two[0].1)));
        let apart: Vec<Duration> = gaps.filter(|(planned, _)| *planned >= 2 * TOGETHER).map(|(_, came)| came).collect();
        let together = apart.iter().filter(|came| **came < TOGETHER).count();
        Self { median: late[late.len() / 2], together, apart: apart.len() }
    }

    /// One in ten is what a busy machine does to any timer.
    fn is_paced(self) -> bool {
        self.median <= LATE && self.together * 10 <= self.apart && self.apart * 2 >= WINDOW
    }
}

/// The first paced window of several loads, each of which tells when its acts were planned and when they came.
fn paced(mut round: impl FnMut() -> Vec<(Duration, Duration)>) -> Result<Window, Vec<Window>> {
    let mut seen = Vec::new();
    for _ in 0..ROUNDS {
        seen.extend(round().chunks_exact(WINDOW).map(Window::of));
        if let Some(paced) = seen.iter().find(|window| window.is_paced()) {
            return Ok(*paced);
        }
    }
    seen.sort_unstable();
    seen.truncate(5);
    Err(seen)
}

/// One act every 200 us, over connections that are shared.
fn every_200_us(acts: u32) -> Load {
    Load { every: SECOND / RATE, connections: Connections::Shared, ..apart(std::iter::repeat_n(0, acts as usize)) }
}

/// A server that notes when each request came, and the notes.
fn noting(answer: impl Fn(usize) -> String + Send + Sync + 'static) -> (Rough, Arc<Mutex<Vec<Instant>>>) {
    let came = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&came);
    let server = Rough::serve(move |_| {
        let mut notes = notes.lock().unwrap();
        notes.push(now());
        Manner::Answer(vec![answer(notes.len() - 1)])
    });
    (server, came)
}

#[expect(clippy::disallowed_methods, reason = "a server has a clock of its own")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn at_five_thousand_a_second_every_act_leaves_at_its_own_instant_and_not_in_lumps() {
    let acts = RATE / 2;
    let found = paced(|| {
        let (server, came) = noting(|_| ok(""));
        let load = every_200_us(acts);
        let outcome = load.against(server.address);
        assert_eq!(outcome.total.ok, u64::from(acts));
        let planned = load.plan().arrivals.into_iter().map(|arrival| outcome.load_from + arrival.at);
        planned.zip(came.lock().unwrap().iter().map(|at| *at - outcome.epoch)).collect()
    });
    assert!(found.is_ok(), "the calmest windows: {found:?}");
}

#[test]
fn a_crowd_that_tries_again_does_so_at_as_many_instants_and_not_in_lumps() {
    let (acts, within) = (RATE / 5, SECOND);
    let found = paced(|| {
        let first = acts as usize;
        let (server, came) = noting(move |nth| if nth < first { answer("503 Busy", "") } else { ok("") });
        let on_failure = OnFailure { retry: Some(Retry { times: 1, within }), leave: false };
        let load = every_200_us(acts).steps([Step { on_failure, ..get("act") }]);
        let outcome = load.against(server.address);
        // Where the machine held a first try up until others were tried again, nobody can tell them apart.
        if (outcome.total.ok, outcome.total.requests) != (u64::from(acts), 2 * u64::from(acts)) {
            return Vec::new();
        }
        let came: Vec<Duration> = came.lock().unwrap().iter().map(|at| *at - outcome.epoch).collect();
        // Each is due that long after its first try, which had left on time or not.
        came[..first].iter().map(|at| *at + within).zip(came[first..].iter().copied()).collect()
    });
    assert!(found.is_ok(), "the calmest windows: {found:?}");
}
