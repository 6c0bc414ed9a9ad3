//! An alarm that rings at an absolute instant, to the precision of the kernel's timers.
//!
//! Tokio's own timers have ticks of 1 ms, which would send a tick's worth of arrivals in one lump; a timerfd with
//! 1 ns of timer slack was measured to ring 23 us late at the median, without spinning.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::thread::set_current_timer_slack;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

use super::clock::Clock;

/// The alarm of one thread.
#[derive(Debug)]
pub(super) struct Alarm {
    timer: AsyncFd<OwnedFd>,
    clock: Clock,
}

impl Alarm {
    /// Makes an alarm and takes the calling thread's timer slack down to 1 ns.
    pub(super) fn new(clock: Clock) -> io::Result<Self> {
        set_current_timer_slack(NonZeroU64::new(1))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { timer: watch(timer)?, clock })
    }

    /// Sets the alarm, in place of what it was set to; an instant already past rings at once.
    pub(super) fn set(&self, at: Duration) -> io::Result<()> {
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Itimerspec { it_interval: once, it_value: self.clock.kernel_time(at) };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(())
    }

    /// Waits until the alarm rings. It may have rung for an instant it was set to before, so look at the clock.
    /// The count of expirations is never read: setting the timer again clears it.
    pub(super) async fn rings(&self) -> io::Result<()> {
        self.timer.readable().await?.clear_ready();
        Ok(())
    }
}

#[expect(deprecated, reason = "its replacement is unsafe to call; what that asks for, an owned handle upholds")]
fn watch(timer: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(timer)
}
