//! The black-box probe: it asks the system steadily over one kept connection, on a schedule.
//!
//! While an answer is outstanding nothing more is asked: the instants that pass meanwhile belong to the same wait.
//! A delay counts from the instant of sending, which is the planned one unless the rig itself woke up late.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::line::{Line, NoAnswer};
use super::patience::Patience;
use super::served::Served;
use super::stalls::{Delays, Wait};
use crate::system::Clock;

/// How long the first answer may take, before the probe is given up.
const FIRST_WITHIN: Duration = Duration::from_secs(2);

/// A probe that is asking.
#[derive(Debug)]
pub(super) struct Probe {
    stop: SyncSender<()>,
    thread: JoinHandle<Delays>,
    /// The longest delay since somebody took it, in microseconds; zero: none.
    pub(super) gauge: Arc<AtomicU64>,
    /// Whether a wait among others can be told from one in which nobody is answered.
    pub(super) sees_others: bool,
}

impl Probe {
    /// Asks once, and goes on asking once a period if there was an answer; without one there would be nothing to measure.
    pub(super) fn start(
        target: SocketAddr,
        path: &str,
        period: Duration,
        clock: Clock,
        served: Option<Served>,
    ) -> Option<Self> {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: floodrig-probe\r\n\r\n").into_bytes();
        let (stop, stopped) = sync_channel(1);
        let (first, answered) = sync_channel(1);
        let gauge = Arc::new(AtomicU64::new(0));
        let sees_others = served.is_some();
        let mut asking =
            Asking { target, request, period, clock, served, stop: stopped, gauge: Arc::clone(&gauge), line: None };
        let thread = std::thread::Builder::new().name("probe".to_owned());
        let thread = thread.spawn(move || {
            let one = asking.once();
            // Nobody waits for it any more when it took too long.
            let _told = first.send(one.is_ok());
            asking.until_stopped()
        });
        let thread = thread.expect("the kernel has a thread for every observation");
        // On failure the sender is dropped here, which stops the thread within one step.
        (answered.recv_timeout(FIRST_WITHIN) == Ok(true)).then_some(Self { stop, thread, gauge, sees_others })
    }

    /// Stops asking.
    pub(super) fn finish(self) -> Delays {
        drop(self.stop);
        self.thread.join().expect("the probe never panics")
    }
}

struct Asking {
    target: SocketAddr,
    request: Vec<u8>,
    period: Duration,
    clock: Clock,
    served: Option<Served>,
    stop: Receiver<()>,
    gauge: Arc<AtomicU64>,
    line: Option<Line>,
}

impl Asking {
    fn until_stopped(&mut self) -> Delays {
        let mut delays = Delays::default();
        let start = self.clock.now();
        loop {
            let next = next_planned(start, self.clock.now(), self.period);
            match self.stop.recv_timeout(next.saturating_sub(self.clock.now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return delays,
            }
            match self.once() {
                Ok(wait) => delays.answered(wait),
                Err(wait) => delays.cut_short(wait),
            }
        }
    }

    /// The wait for one answer. A kept connection that turns out to be closed is opened anew, once.
    fn once(&mut self) -> Result<Wait, Wait> {
        let mut patience = Patience::new(self.clock, &self.stop, &self.gauge, self.served.as_ref());
        let mut kept = self.line.take();
        loop {
            let was_kept = kept.is_some();
            let answer = match kept.take() {
                Some(line) => Ok(line),
                None => Line::open(self.target, &mut patience),
            }
            .and_then(|mut line| line.ask(&self.request, &mut patience).map(|()| line));
            match answer {
                Ok(line) => {
                    patience.show();
                    let wait = patience.over();
                    self.line = line.finish(self.clock);
                    return Ok(wait);
                }
                Err(NoAnswer::Gone) if was_kept => {}
                Err(NoAnswer::Gone | NoAnswer::Stopped) => return Err(patience.over()),
            }
        }
    }
}

/// The first planned instant after `now`.
fn next_planned(start: Duration, now: Duration, period: Duration) -> Duration {
    let passed = now.saturating_sub(start).as_nanos() / period.as_nanos() + 1;
    start + period * passed as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_that_passed_during_a_wait_are_not_made_up_for() {
        let ms = Duration::from_millis;
        let next = |now| next_planned(ms(7), ms(now), ms(50));
        assert_eq!([next(7), next(56), next(57), next(700)], [ms(57), ms(57), ms(107), ms(707)]);
    }
}
