//! Short waits, which the server waits out itself: the bot gets a slow answer in place of a 429.
//!
//! Such a call goes on although its caller may hang up meanwhile, as at Telegram: who gives up and sends again
//! has sent twice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot::{self, Receiver};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::answer::{Done, Refusal};
use crate::call::Call;
use crate::limits::Family;
use crate::shared::Shared;
use crate::telegram::{Attempt, Patience, Telegram};
use crate::throttle::{Called, Entered, Kind, Place};

/// What a call is answered, and how long the answer travels.
pub(crate) type Answered = (Result<Done, Refusal>, Duration);

/// A call may wait for this long in all (`NetQueryCreator.cpp` of <https://github.com/tdlib/td>).
const LONGEST: u32 = 8;
/// A chat action is of no use later.
const LONGEST_OF_CHAT_ACTIONS: u32 = 2;
/// What a call is told whose answer will never come, since the server goes down.
const DROPPED: u32 = 5;

/// Calls that are still waited for.
#[derive(Debug, Default)]
pub(crate) struct Errands(Mutex<JoinSet<()>>);

struct Errand {
    shared: Arc<Shared>,
    call: Call,
    place: Option<Place>,
    patience: u32,
    waited: u32,
    again: bool,
}

enum Step {
    Answered(Answered),
    Wait(u32),
    InLine(Receiver<Called>),
}

/// Answers a call, at once or after it has waited.
pub(crate) async fn answered(shared: &Arc<Shared>, call: Call) -> Answered {
    let mut errand = Errand::of(shared.clone(), call);
    let step = match errand.begin() {
        Step::Answered(answered) => return answered,
        step @ (Step::Wait(_) | Step::InLine(_)) => step,
    };
    let (tell, told) = oneshot::channel();
    shared.errands.run(async move {
        // Nobody may be listening any more.
        drop(tell.send(errand.go_on(step).await));
    });
    told.await.unwrap_or_else(|_| (Err(Refusal::too_many(DROPPED)), Duration::ZERO))
}

impl Errand {
    fn of(shared: Arc<Shared>, call: Call) -> Self {
        let (patience, place) = if shared.absorbs { (patience(&call), place(&call)) } else { (0, None) };
        Self { shared, call, place, patience, waited: 0, again: false }
    }

    fn begin(&mut self) -> Step {
        let shared = self.shared.clone();
        let mut telegram = shared.telegram();
        let now = shared.clock.now();
        let entered = self.place.map_or(Entered::First, |place| telegram.lines.enter(now, place, self.patience));
        match entered {
            Entered::First => self.attempt(&mut telegram, now),
            Entered::Behind(called) => Step::InLine(called),
            Entered::Failed { retry_after } => Step::Answered(self.refused(&mut telegram, now, retry_after)),
        }
    }

    async fn go_on(mut self, mut step: Step) -> Answered {
        let shared = self.shared.clone();
        loop {
            match step {
                Step::Answered(answered) => return answered,
                Step::Wait(seconds) => {
                    sleep(Duration::from_secs(u64::from(seconds))).await;
                    self.again = true;
                }
                Step::InLine(called) => match called.await {
                    Ok(Called::First { waited }) => self.waited = waited,
                    Ok(Called::Failed { retry_after }) => {
                        return self.refused(&mut shared.telegram(), shared.clock.now(), retry_after);
                    }
                    Err(_) => return (Err(Refusal::too_many(DROPPED)), Duration::ZERO),
                },
            }
            step = self.attempt(&mut shared.telegram(), shared.clock.now());
        }
    }

    /// Asks once. Whoever is done lets the next in line ask.
    fn attempt(&mut self, telegram: &mut Telegram, now: Duration) -> Step {
        let patience = Patience { seconds: self.patience.saturating_sub(self.waited), again: self.again };
        match telegram.attempt(&self.call, now, self.shared.clock.unix(now), patience) {
            Attempt::Answered(answer) => {
                if telegram.inboxes.has_stirred() {
                    self.shared.post.notify_one();
                }
                if telegram.journal.take_news() {
                    self.shared.sent.notify_waiters();
                }
                if let Some(place) = self.place {
                    if let Some(seconds) = answer.as_ref().err().and_then(|refusal| refusal.retry_after) {
                        telegram.lines.fail(place, seconds, self.patience);
                    }
                    telegram.lines.leave(place);
                }
                Step::Answered((answer, telegram.travel_time(&self.call)))
            }
            Attempt::Held { seconds } => {
                self.waited += seconds;
                if let Some(place) = self.place {
                    telegram.lines.hold(now, place, seconds, self.patience);
                }
                Step::Wait(seconds)
            }
        }
    }

    fn refused(&self, telegram: &mut Telegram, now: Duration, retry_after: u32) -> Answered {
        let refusal = telegram.throttled(&self.call, now, retry_after, "the calls before it");
        (Err(refusal), telegram.travel_time(&self.call))
    }
}

impl Errands {
    fn run(&self, errand: impl Future<Output = ()> + Send + 'static) {
        let mut errands = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while errands.try_join_next().is_some() {}
        errands.spawn(errand);
    }

    /// Ends those that still wait.
    pub(super) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

fn patience(call: &Call) -> u32 {
    match Family::of(call.method) {
        Family::ChatActions => LONGEST_OF_CHAT_ACTIONS,
        Family::Sends
        | Family::Edits
        | Family::Deletes
        | Family::Pins
        | Family::Reads
        | Family::Answers
        | Family::Others => LONGEST,
    }
}

/// Sends and edits wait for those before them in their chat.
fn place(call: &Call) -> Option<Place> {
    let kind = match Family::of(call.method) {
        Family::Sends if is_text(call) => Kind::Texts,
        Family::Sends => Kind::Media,
        Family::Edits => Kind::Edits,
        Family::Deletes | Family::ChatActions | Family::Pins | Family::Reads | Family::Answers | Family::Others => {
            return None;
        }
    };
    Some(Place { bot: call.bot, chat: call.chat()?, kind })
}

fn is_text(call: &Call) -> bool {
    ["sendMessage", "forwardMessage", "forwardMessages"].contains(&call.method.name())
}
