//! Acts towards the bot: an order goes to the stub, which hands the update over, and the act ends at the call that
//! answers it. Both ways cross between two threads through bounded channels, and this one waits for neither: what finds
//! no room is counted, and an act that goes unanswered meanwhile is the rig's own fault.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use floodrig_reports::recording::{Outcome, RigFault};
use floodrig_stub::{Crowd, Done, Gesture, Heard, Order};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::desk::Desk;
use super::floor::Ended;
use crate::answers::{Answers, Match};

/// The driving thread's end of the crowd.
pub(super) struct Bot {
    orders: Sender<Order>,
    dropped: Arc<AtomicU64>,
    /// Taken once, by the task that listens.
    heard: RefCell<Option<Receiver<Heard>>>,
    acts: RefCell<Acts>,
}

/// The acts under way.
#[derive(Default)]
struct Acts {
    waiting: HashMap<u32, Waiting>,
    answers: Answers,
    unwanted: u64,
    /// The updates of acts that were given up.
    unanswered: Vec<i64>,
}

/// An act that waits for its end.
struct Waiting {
    chat: i64,
    user: i64,
    /// Its update, once it is on its way.
    update_id: Option<i64>,
    end: oneshot::Sender<Told>,
}

/// What an act is told.
enum Told {
    Answered { at: Duration },
    NoButton { at: Duration },
}

/// What is known beside the samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BotSide {
    /// The updates of acts that no call answered.
    pub unanswered: Vec<i64>,
    /// Updates that the bot did not take.
    pub unwanted: u64,
    /// What the stub could not tell because the queue was full.
    pub dropped: u64,
}

impl Bot {
    pub(super) fn new(crowd: Crowd) -> Self {
        let heard = RefCell::new(Some(crowd.heard));
        Self { orders: crowd.orders, dropped: crowd.dropped, heard, acts: RefCell::default() }
    }

    /// Does it, and waits for the answer for as long as `within`. `None` stands for that long.
    async fn act(&self, order: Order, within: Duration) -> Result<Told, Outcome> {
        let ticket = order.ticket;
        let (end, told) = oneshot::channel();
        let waiting = Waiting { chat: order.chat, user: order.user, update_id: None, end };
        self.acts.borrow_mut().waiting.insert(ticket, waiting);
        let sent = self.orders.try_send(order);
        let answer = match sent {
            Ok(()) => timeout(within, told).await,
            // There is room for an order of every player, so the stub is gone.
            Err(_) => return Err(Outcome::RigFault(RigFault::Stub)),
        };
        match answer {
            Ok(Ok(told)) => Ok(told),
            Ok(Err(_)) => Err(Outcome::RigFault(RigFault::Stub)),
            Err(_) => {
                self.acts.borrow_mut().give_up(ticket);
                Err(self.unanswered())
            }
        }
    }

    /// What has become of an act without an answer. Its answer may have been among what was dropped.
    pub(super) fn unanswered(&self) -> Outcome {
        match self.dropped.load(Ordering::Relaxed) {
            0 => Outcome::Unanswered,
            _ => Outcome::RigFault(RigFault::Stub),
        }
    }

    pub(super) fn side(&self) -> BotSide {
        let acts = self.acts.borrow();
        let in_flight = acts.waiting.values().filter_map(|waiting| waiting.update_id);
        BotSide {
            unanswered: acts.unanswered.iter().copied().chain(in_flight).collect(),
            unwanted: acts.unwanted,
            dropped: self.dropped.load(Ordering::Relaxed),
        }
    }
}

impl Acts {
    fn give_up(&mut self, ticket: u32) {
        let given_up = self.waiting.remove(&ticket);
        self.unanswered.extend(given_up.and_then(|waiting| waiting.update_id));
        self.answers.close(ticket);
    }

    /// An act's update is on its way; false when nobody waits for it any more.
    fn begun(&mut self, done: Done) -> bool {
        self.unwanted += u64::from(done.update_id.is_none());
        let Some(Waiting { chat, user, update_id, .. }) = self.waiting.get_mut(&done.ticket) else { return false };
        *update_id = done.update_id;
        self.answers.open(done, *chat, *user);
        true
    }

    /// Ends an act. One that was given up at this very moment has nobody who listens.
    fn end(&mut self, ticket: u32, told: Told) {
        if let Some(Waiting { end, .. }) = self.waiting.remove(&ticket) {
            drop(end.send(told));
        }
    }
}

impl Desk {
    /// Hears the stub for as long as the load lasts.
    pub(super) fn listen(self: &Rc<Self>) {
        let Some(mut heard) = self.bot.as_ref().and_then(|bot| bot.heard.take()) else { return };
        self.floor.borrow_mut().sink.hear();
        let desk = Rc::clone(self);
        tokio::task::spawn_local(async move {
            while let Some(heard) = heard.recv().await {
                desk.hear(&heard);
            }
        });
    }

    fn hear(&self, heard: &Heard) {
        let Some(bot) = &self.bot else { return };
        let mut acts = bot.acts.borrow_mut();
        match *heard {
            Heard::Done(done) => {
                if acts.begun(done) {
                    self.floor.borrow_mut().handed_over(done.ticket, done.at);
                }
            }
            Heard::Taken { update_id, at } => acts.answers.taken(update_id, at),
            Heard::NoButton { ticket, at } => acts.end(ticket, Told::NoButton { at }),
            Heard::Called(ref call) => match acts.answers.answer(call) {
                Match::Ends(ticket) => acts.end(ticket, Told::Answered { at: call.at }),
                Match::Belongs => {}
                Match::Nobody => self.floor.borrow_mut().sink.unmatched(),
            },
        }
    }

    /// Does an act towards the bot. It ends at the instant at which the stub accepted the call that answers it. A
    /// button that the bot never showed is the bot's doing: the act is abandoned.
    pub(super) async fn gesture(&self, ticket: u32, (chat, user): (i64, i64), gesture: Gesture) -> Ended {
        let order = Order { ticket, chat, user, gesture };
        let told = match &self.bot {
            Some(bot) => bot.act(order, self.answer_within).await,
            None => Err(Outcome::RigFault(RigFault::Stub)),
        };
        match told {
            Ok(Told::Answered { at }) => Ended { at, outcome: Outcome::Ok, tries: 1 },
            Ok(Told::NoButton { at }) => Ended { at, outcome: Outcome::Abandoned, tries: 0 },
            Err(outcome) => Ended { at: self.clock.now(), outcome, tries: 1 },
        }
    }
}

#[cfg(test)]
mod tests;
