//! getUpdates: the one call that waits. Its answer time passes on the way in, so that an update wakes it at
//! once.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use tokio::sync::oneshot::Receiver;
use tokio::time::{sleep, timeout};

use super::answering;
use crate::answer::{Done, Json, Refusal};
use crate::call::Call;
use crate::shared::Shared;
use crate::updates::{Asked, Poll, Woken};

/// The longest that a poll may wait (`LONG_POLL_MAX_TIMEOUT` of the server).
const LONGEST_POLL: i64 = 50;
const MOST_UPDATES: i64 = 100;

const REPLACED: &str = "terminated by other getUpdates request; make sure that only one bot instance is running";

pub(super) async fn get_updates(shared: &Shared, call: &Call) -> Response<Body> {
    let takes = shared.telegram().answer_time();
    sleep(takes).await;
    let poll = Poll {
        offset: call.params.integer("offset").unwrap_or(0),
        limit: call.params.clamped("limit", 1..=MOST_UPDATES, MOST_UPDATES) as usize,
        timeout: Duration::from_secs(call.params.clamped("timeout", 0..=LONGEST_POLL, 0) as u64),
    };
    let asked = shared.telegram().ask(call, shared.clock.now(), poll);
    let answer = match asked {
        Asked::Now(updates) => Done::of(&updates),
        Asked::Refused(refusal) => Err(refusal),
        Asked::Parked { woken, timeout } => parked(shared, call.bot, poll.limit, woken, timeout).await,
    };
    let held = held(shared, call.bot, &answer);
    let status = answer.as_ref().map_or_else(|refusal| refusal.code, |_| 200);
    shared.telegram().journal.answered(shared.clock.now(), call.method, status);
    answering::after(held, answer).await
}

/// How long the answer is held back: a conflict, when another was answered just before.
fn held(shared: &Shared, bot: i64, answer: &Result<Done, Refusal>) -> Duration {
    match answer {
        Err(refusal) if refusal.code == Refusal::CONFLICT => {
            shared.telegram().inboxes.met(bot).hold_conflict(shared.clock.now())
        }
        Ok(_) | Err(_) => Duration::ZERO,
    }
}

async fn parked(
    shared: &Shared,
    bot: i64,
    limit: usize,
    woken: Receiver<Woken>,
    longest: Duration,
) -> Result<Done, Refusal> {
    match timeout(longest, woken).await {
        Ok(Ok(Woken::Updates)) => {
            let gathers = shared.telegram().poll_batch();
            if !gathers.is_zero() {
                sleep(gathers).await;
            }
            let updates = shared.telegram().take(bot, shared.clock.now(), limit);
            Done::of(&updates)
        }
        Ok(Ok(Woken::ReplacedByPoll)) => Err(Refusal::conflict(REPLACED)),
        Ok(Ok(Woken::ReplacedByWebhook)) => Err(Refusal::conflict("terminated by setWebhook request")),
        // Time is up, or whoever would have woken it is gone.
        Ok(Err(_)) | Err(_) => Done::of(&Vec::<Json>::new()),
    }
}
