//! Open loop: every arrival is fired when it is due, however slow the last one was. A closed loop is the same with
//! another [`Pace`].
//!
//! [`drive`] owns the calling thread until the load is over. An act is sent at the later of its planned instant and
//! the end of the same player's previous act; `scheduled` comes from the plan and never from a clock. Whatever
//! happens, each planned act gets exactly one sample.
//!
//! Nothing here formats, logs, locks or waits for the recorder between an arrival and its send; a backlog takes no
//! memory, because the plan itself is the queue. It knows no budgets and no verdicts.

mod alarm;
mod assets;
mod bot;
mod busy;
mod clock;
mod conversation;
mod course;
mod desk;
mod floor;
mod handles;
mod hands;
mod impatience;
mod judge;
mod memory;
mod pace;
mod page;
mod request;
mod retries;
mod seat;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Outcome, Spoken};
use floodrig_stub::Crowd;
use tokio::runtime::{Builder, LocalOptions};
use tokio::time::MissedTickBehavior;

pub use self::bot::BotSide;
pub(crate) use self::handles::most_open;
pub use self::pace::Pace;
pub use self::seat::Seat;

use self::alarm::Alarm;
use self::desk::Desk;
use crate::deliveries::Expected;
use crate::init_data::Signed;
use crate::plan::Plan;
use crate::record::Intervals;
use crate::scenario::{self, Scenario};
use crate::stop::Stop;

/// How often the pacer looks up when nothing is due: how late it may notice the stop flag. It also keeps a timer in
/// tokio's wheel that is earlier than any request's timeout; without one, every request that the rig sends while idle
/// makes tokio wake itself through an eventfd: two system calls more.
const PULSE: Duration = Duration::from_millis(50);

/// Everything a load is made of.
pub struct Job {
    /// What requests look like, and the timeouts.
    pub scenario: Arc<Scenario>,
    /// What is sent, and when.
    pub plan: Arc<Plan>,
    /// Whether the plan is done once, or again and again.
    pub pace: Pace,
    /// Where the driving thread sits.
    pub seat: Seat,
    /// Where to.
    pub target: Target,
    /// `{bot.token}`.
    pub bot_token: String,
    /// The initData of each visit.
    pub signed: Arc<Signed>,
    /// The run's epoch.
    pub epoch: Instant,
    /// The start of the load, since the epoch.
    pub load_from: Duration,
    /// Set from outside to end the load early.
    pub stop: Stop,
    /// The bot's users, where acts are theirs.
    pub crowd: Option<Crowd>,
    /// Told of the effects that successful acts are expected to show.
    pub expected: Option<SyncSender<Expected>>,
    /// Where the last answer to each act goes that could not use it; bodies are kept for that, but for a `WebSocket`'s.
    pub unfit: Option<Unfit>,
    /// Where samples go.
    pub sink: Intervals,
}

/// What was answered to acts that could not use it, by act; empty: nothing.
pub type Unfit = Arc<Mutex<BTreeMap<u16, Vec<u8>>>>;

/// The system under test, as clients see it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// What requests say in `Host`.
    pub host: String,
}

/// What a load came to, beside its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driven {
    /// How it ended.
    pub end: End,
    /// When, since the epoch.
    pub ended: Duration,
    /// Samples recorded: the number of planned acts.
    pub samples: u64,
    /// Exemplars dropped because the recorder's queue was full.
    pub exemplars_dropped: u64,
    /// Awaited effects dropped because their queue was full or their chat had no id.
    pub expected_dropped: u64,
    /// Acts abandoned because a system that did not answer held too many connections open.
    pub capped: u64,
    /// Acts not sent, at the rig's own fault, because the crowd has more connections than the rig may open.
    pub held_back: u64,
    /// Acts abandoned because the rig itself came a second or more too late for them.
    pub too_late: u64,
    /// The most connections that were open at once.
    pub open_peak: u64,
    /// Connections by what the system chose to speak on each, where it was left to choose.
    pub spoken: Spoken,
    /// Of acts towards the bot.
    pub bot: BotSide,
}

/// How a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Every act ended by itself.
    Complete,
    /// Acts were still in flight one `timeout`, or a longer `connect_timeout`, after the last planned instant.
    Drained,
    /// The stop flag was set.
    Stopped,
}

/// Why there was no load.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// No event loop.
    #[error("could not start the driving thread's event loop: {0}")]
    Runtime(io::Error),
    /// No core of its own.
    #[error("could not pin the driving thread to its core: {0}")]
    Pin(io::Error),
    /// No timer.
    #[error("could not set the driving thread's timer: {0}")]
    Timer(io::Error),
}

/// Drives the load from the calling thread, which takes its seat, and returns when it is over.
pub fn drive(job: Job) -> Result<Driven, DriveError> {
    let _seated = job.seat.take().map_err(DriveError::Pin)?;
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(LocalOptions::default()).map_err(DriveError::Runtime)?;
    let stop = job.stop.clone();
    let drain_at = job.load_from + job.pace.length(&job.plan) + longest_wait(&job.scenario.crowd);
    let desk = Rc::new(Desk::new(job));
    let end = runtime.block_on(pace(&desk, &stop, drain_at)).map_err(DriveError::Timer)?;
    Ok(finish(&desk, end))
}

/// How long whoever comes last is waited for: whether they are let in is seen as well as whether they are answered.
fn longest_wait(crowd: &scenario::Crowd) -> Duration {
    crowd.timeout.max(crowd.connect_timeout)
}

/// Fires arrivals as they come due, until all acts have ended or it is time to end them.
async fn pace(desk: &Rc<Desk>, stop: &Stop, drain_at: Duration) -> io::Result<End> {
    let alarm = Alarm::new(desk.clock)?;
    desk.listen();
    let mut pulse = tokio::time::interval(PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let now = desk.clock.now();
        desk.fire_due(now);
        desk.floor.borrow_mut().sink.advance(now);
        if desk.is_done() {
            return Ok(End::Complete);
        }
        if stop.asked() {
            return Ok(End::Stopped);
        }
        if now >= drain_at {
            return Ok(End::Drained);
        }
        alarm.set(wake_at(desk).min(drain_at))?;
        tokio::select! {
            biased;
            rang = alarm.rings() => rang?,
            () = desk.stir.notified() => {}
            _ = pulse.tick() => {}
        }
    }
}

/// The next instant at which there is something to do.
fn wake_at(desk: &Desk) -> Duration {
    let floor = desk.floor.borrow();
    let next = [floor.next_due(), desk.retries.borrow().next_due()].into_iter().flatten();
    next.fold(floor.sink.until(), Duration::min)
}

/// Gives every act its sample and closes the last interval. What was in flight at the rig's own stop was no timeout of
/// the system's.
fn finish(desk: &Desk, end: End) -> Driven {
    match end {
        End::Complete => {}
        End::Drained => desk.end_all(Outcome::Timeout),
        End::Stopped => desk.end_all(Outcome::Abandoned),
    }
    let ended = desk.clock.now();
    let mut floor = desk.floor.borrow_mut();
    let recorded = floor.sink.finish(ended);
    Driven {
        end,
        ended,
        samples: recorded.samples,
        exemplars_dropped: recorded.dropped,
        expected_dropped: desk.expected_dropped(),
        capped: floor.counts.capped,
        held_back: floor.counts.held_back,
        too_late: floor.counts.too_late,
        open_peak: floor.counts.open_peak,
        spoken: desk.wire.spoken(),
        bot: desk.bot_side(),
    }
}
