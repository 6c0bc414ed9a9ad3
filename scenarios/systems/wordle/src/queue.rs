//! The way out to Telegram: free, or through one queue in front of every send, edit and delete.
//!
//! Reads are not queued: they do not count against the ceiling.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::pacing::{Departure, Pacing};
use crate::settings::SendQueue;

/// Where calls leave.
#[derive(Debug)]
pub(crate) struct Outgoing {
    queue: Option<Queue>,
}

#[derive(Debug)]
struct Queue {
    clock: Clock,
    /// Tokio's mutex is fair: those who wait stand in the order in which they came.
    front: tokio::sync::Mutex<()>,
    pacing: Mutex<Pacing>,
    an_answer: Notify,
}

/// The right to make one call; dropped when it is answered or given up.
#[derive(Debug)]
pub(crate) struct Turn<'a>(Option<&'a Queue>);

impl Outgoing {
    /// The way out that was ordered.
    pub(crate) fn new(send_queue: SendQueue, clock: Clock) -> Self {
        match send_queue {
            SendQueue::Off => Self { queue: None },
            SendQueue::On => Self { queue: Some(Queue::new(clock)) },
        }
    }

    /// Waits until a call may leave.
    pub(crate) async fn turn(&self) -> Turn<'_> {
        if let Some(queue) = &self.queue {
            queue.leave().await;
        }
        Turn(self.queue.as_ref())
    }

    /// Telegram refused a call and said for how long: with a queue, everyone waits.
    pub(crate) fn pause(&self, retry_after: Duration) {
        if let Some(queue) = &self.queue {
            queue.pacing().pause(queue.clock.now(), retry_after);
        }
    }
}

impl Queue {
    fn new(clock: Clock) -> Self {
        Self {
            clock,
            front: tokio::sync::Mutex::new(()),
            pacing: Mutex::new(Pacing::default()),
            an_answer: Notify::new(),
        }
    }

    async fn leave(&self) {
        let _front = self.front.lock().await;
        loop {
            let departure = self.pacing().ask(self.clock.now());
            match departure {
                Departure::Now => return,
                Departure::At(instant) => self.clock.until(instant).await,
                Departure::AfterAnAnswer => self.an_answer.notified().await,
            }
        }
    }

    fn pacing(&self) -> MutexGuard<'_, Pacing> {
        self.pacing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(queue) = self.0 {
            queue.pacing().answered(queue.clock.now());
            queue.an_answer.notify_one();
        }
    }
}
