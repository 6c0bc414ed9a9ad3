//! Waiting for the system without charging it for the rig's own absence.
//!
//! A wait is made of short steps. A step at whose end the answer is still not there was the system's, however long
//! it took. A step that found the answer is charged at most what was asked for it: if the rig was stopped or
//! starved meanwhile, nobody knows since when the answer had been there.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::served::{Quiet, Served, Watch};
use super::stalls::Wait;
use crate::system::Clock;

/// One step; also how soon an order to finish is heard.
const STEP: Duration = Duration::from_millis(10);
/// How late a wake-up may be and still count as on time, on a core that the driver keeps busy.
const LATE_WAKE_UP: Duration = Duration::from_millis(5);
/// After a step that took far too long the answer is given this long to show itself: whatever stopped the rig may
/// have stopped the system too, or the system may have been waiting for the rig.
const SECOND_LOOK: Duration = Duration::from_millis(50);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// What was waited for is there.
    Ready,
    /// The run is over.
    Stopped,
    /// The wait itself failed.
    Failed,
}

/// The wait of one probe, over all that it has to wait for.
#[derive(Debug)]
pub(super) struct Patience<'a> {
    clock: Clock,
    stop: &'a Receiver<()>,
    gauge: &'a AtomicU64,
    sent: Duration,
    charged: Duration,
    others: Watch<'a>,
}

impl<'a> Patience<'a> {
    /// A new wait; `gauge` always holds the longest delay since somebody took it, in microseconds. Where it is known
    /// who is `served`, a wait among others is told from one in which nobody is.
    pub(super) fn new(clock: Clock, stop: &'a Receiver<()>, gauge: &'a AtomicU64, served: Option<&'a Served>) -> Self {
        let sent = clock.now();
        Self { clock, stop, gauge, sent, charged: Duration::ZERO, others: Watch::begin(served, sent) }
    }

    /// The wait has ended, with an answer or without.
    pub(super) fn over(self) -> Wait {
        let Quiet { silences, unaccepted } = self.others.end(self.sent + self.charged);
        Wait { sent: self.sent, delay: self.charged, silences, unaccepted }
    }

    /// Waits until the socket is readable, or writable.
    pub(super) fn wait(&mut self, socket: impl AsFd, what: PollFlags) -> Waited {
        self.wait_for(|within| ready_within(&socket, what, within))
    }

    /// Waits for what `seen` looks for, which takes no longer than it is told if that is not there.
    pub(super) fn wait_for<E>(&mut self, mut seen: impl FnMut(Duration) -> Result<bool, E>) -> Waited {
        let mut charged_to = self.clock.now();
        loop {
            let Ok(ready) = self.step(&mut seen, self.clock.now()) else { return Waited::Failed };
            let now = self.clock.now();
            // With what the look at the others took: the system was waited for meanwhile too.
            self.charged += charged(now.saturating_sub(charged_to), ready);
            charged_to = now;
            if ready {
                return Waited::Ready;
            }
            self.show();
            self.others.look(now);
            if self.stop.try_recv() != Err(TryRecvError::Empty) {
                return Waited::Stopped;
            }
        }
    }

    fn step<E>(&self, seen: &mut impl FnMut(Duration) -> Result<bool, E>, before: Duration) -> Result<bool, E> {
        let ready = seen(STEP)?;
        let took = self.clock.now().saturating_sub(before);
        if ready || took <= STEP + LATE_WAKE_UP {
            return Ok(ready);
        }
        seen(SECOND_LOOK)
    }

    /// Shows what is charged so far. A wait that ends at once, by a refusal, is not shown: nobody was late.
    pub(super) fn show(&self) {
        self.gauge.fetch_max(self.charged.as_micros().max(1) as u64, Ordering::Relaxed);
    }
}

/// What the system is charged for one step.
fn charged(took: Duration, ready: bool) -> Duration {
    if ready { took.min(STEP + LATE_WAKE_UP) } else { took }
}

fn ready_within(socket: impl AsFd, what: PollFlags, within: Duration) -> rustix::io::Result<bool> {
    let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    match poll(&mut [PollFd::new(&socket, what)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(cause) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock;
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::mpsc::sync_channel;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_step_that_found_the_answer_is_charged_no_more_than_a_step() {
        assert_eq!(charged(ms(3), true), ms(3));
        assert_eq!(charged(ms(15), true), ms(15));
        assert_eq!(charged(ms(2000), true), ms(15), "the rig was stopped for two seconds");
    }

    #[test]
    fn a_step_that_found_nothing_is_the_systems() {
        assert_eq!(charged(ms(10), false), ms(10));
        assert_eq!(charged(ms(40), false), ms(40), "the rig woke up late, and still there was no answer");
    }

    #[test]
    fn a_wait_ends_with_the_run() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stop, stopped) = sync_channel(1);
        drop(stop);
        let gauge = AtomicU64::new(0);
        let mut patience = Patience::new(clock(), &stopped, &gauge, None);
        assert_eq!(patience.wait(&silent, PollFlags::IN), Waited::Stopped);
        assert_eq!(gauge.load(Ordering::Relaxed), patience.over().delay.as_micros() as u64);
    }
}
