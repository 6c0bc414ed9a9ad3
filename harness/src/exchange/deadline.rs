//! How long an answer is waited for.
//!
//! A timer of its own for every exchange, set and taken away again, was measured as a thirtieth of what a request
//! costs. One that stays set from exchange to exchange, as long as each comes right after the other, rings once in a
//! while for a deadline that has long been met, and is then set to the present one.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The timer of whoever does one exchange after another; pinned by its owner, so that it costs no allocation.
pub type Timer = Option<Sleep>;

/// The wait of one exchange.
#[derive(Debug)]
pub(super) struct Deadline<'a> {
    timer: Pin<&'a mut Timer>,
    deadline: Instant,
}

impl<'a> Deadline<'a> {
    /// Begins to wait now.
    pub(super) fn new(timer: Pin<&'a mut Timer>, timeout: Duration) -> Self {
        Self { timer, deadline: now() + timeout }
    }

    /// Ready when it has been too long.
    pub(super) fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.is_none() {
            self.timer.set(Some(sleep_until(self.deadline)));
        }
        while let Some(mut sleep) = self.timer.as_mut().as_pin_mut() {
            ready!(sleep.as_mut().poll(context));
            if sleep.deadline() >= self.deadline {
                break;
            }
            sleep.reset(self.deadline);
        }
        // A timer that has rung is not asked again.
        self.timer.set(None);
        Poll::Ready(())
    }
}

#[expect(clippy::disallowed_methods, reason = "how long an answer is waited for is a matter of this room")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    async fn over(timer: Pin<&mut Timer>, timeout: Duration) -> Duration {
        let begun = now();
        let mut deadline = Deadline::new(timer, timeout);
        poll_fn(|context| deadline.poll_over(context)).await;
        now() - begun
    }

    #[test]
    fn a_timer_set_for_an_earlier_exchange_does_not_end_a_later_one() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut timer = pin!(None);
            let mut first = Deadline::new(timer.as_mut(), 5 * MILLISECOND);
            assert!(poll_fn(|context| Poll::Ready(first.poll_over(context).is_pending())).await);
            assert!(over(timer.as_mut(), 50 * MILLISECOND).await >= 50 * MILLISECOND);
            assert!(timer.is_none());
            assert!(over(timer.as_mut(), 5 * MILLISECOND).await >= 5 * MILLISECOND);
        });
    }
}
