//! The engine alone: one request, over and over, against whatever answers at one address.
//!
//! It is the scenarios' own path, plan, drive and exchange, with a scenario written for the purpose. No system is
//! started, no stub listens, and nothing is watched but the rig itself; what is measured is kept in memory as rows.
//! `floodrig bench` is made of it, and the rig's calibration.

mod calibrate;
mod gather;
mod null;
mod order;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use floodrig_reports::recording::{Cores, Header, Row, Seal};

pub use self::calibrate::{BRIEF, WHOLE, calibrate};
pub use self::order::{Load, Order, Trust};

use self::gather::{Gathered, Gathering};
use crate::drive::{DriveError, Driven, End, Job, Pace, Seat, drive};
use crate::init_data::{CannotSign, Signed};
use crate::plan::{Plan, plan};
use crate::record::{Intervals, Progress, interval_length, nothing_watched, of_plan};
use crate::run::{Live, News, Phase, Speedometer};
use crate::scenario::{Complaint, Scenario};
use crate::stop::Stop;
use crate::system::Clock;
use crate::vitals;

/// How far ahead the load is planned: time for the driving thread to start.
const LEAD: Duration = Duration::from_millis(20);

/// Rows that may wait to be gathered: an interval and its exemplars are six, and they come ten times a second.
const ROWS: usize = 1024;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// What was asked for is no load.
    #[error("{}", .0.says)]
    Order(Complaint),
    /// The rig could not do this.
    #[error("could not {what}: {cause}")]
    Io {
        /// What it was about to do.
        what: &'static str,
        /// What the system said.
        cause: io::Error,
    },
    /// No initData; there is none to sign.
    #[error(transparent)]
    Sign(#[from] CannotSign),
    /// The engine did not start.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// A thread panicked, with its message on stderr.
    #[error("the {0} panicked")]
    Panicked(&'static str),
}

/// Who the engine shares its process with.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The rig's cores: the driving thread takes the first.
    pub cores: Cores,
    /// Threads of this process that are not the engine's, whose CPU time is told apart.
    pub apart: Vec<u32>,
}

/// Measures, and answers with the rows of a recording.
pub fn bench(order: &Order, place: Place, stop: &Stop, tell: &mut dyn FnMut(News<'_>)) -> Result<Vec<Row>, BenchError> {
    let scenario = Arc::new(order.scenario().map_err(BenchError::Order)?);
    let plan = Arc::new(plan(&scenario));
    let epoch = epoch();
    let clock = Clock::new(epoch);
    let progress = Arc::new(Progress::default());
    let signed = Arc::new(Signed::start(&scenario, &plan, "", Duration::ZERO)?);
    let (rows, queue) = sync_channel(ROWS);
    let load_from = clock.now() + LEAD;
    let (pace, seat) = (order.pace(), Seat::among(&place.cores.rig));
    let length = pace.length(&plan);
    let names = plan.acts.iter().map(|act| act.name.clone()).collect();
    let job = Job {
        scenario: Arc::clone(&scenario),
        plan: Arc::clone(&plan),
        pace,
        seat: seat.clone(),
        target: order.target.clone(),
        bot_token: String::new(),
        signed,
        epoch,
        load_from,
        stop: stop.clone(),
        crowd: None,
        expected: None,
        unfit: None,
        sink: Intervals::new(names, load_from, interval_length(length), rows, Arc::clone(&progress)),
    };
    let own = vitals::OwnUse::of(&place.cores.rig, &place.cores.system, vitals::Threads { stub: place.apart, seat });
    let gathering = Gathering::new(clock, load_from, own);
    let mut teller = Teller { load_from, length, progress, speed: Speedometer::default() };
    let (driven, gathered) = drive_apart(job, &queue, gathering, &mut |now, p99| teller.tell(now, p99, tell))?;
    Ok(recording(header(&scenario, &plan, place.cores), pace, load_from, &driven, gathered))
}

#[expect(clippy::disallowed_methods, reason = "the epoch")]
fn epoch() -> Instant {
    Instant::now()
}

/// Drives on a thread of its own, so that gathering holds nothing up; this one gathers.
fn drive_apart(
    job: Job,
    queue: &Receiver<Row>,
    gathering: Gathering,
    tell: &mut dyn FnMut(Duration, Option<Duration>),
) -> Result<(Driven, Gathered), BenchError> {
    let start = thread::Builder::new().name("drive".to_owned());
    let io = |cause| BenchError::Io { what: "start the driving thread", cause };
    let driving = start.spawn(move || drive(job)).map_err(io)?;
    let gathered = gathering.until_closed(queue, tell);
    let driven = driving.join().map_err(|_| BenchError::Panicked("driving thread"))??;
    Ok((driven, gathered))
}

/// The rows in the order of a recording. How many acts a closed loop has is known only now.
fn recording(mut header: Header, pace: Pace, load_from: Duration, driven: &Driven, gathered: Gathered) -> Vec<Row> {
    let load_to = match pace {
        Pace::Planned => load_from + Duration::from_micros(header.load_us.1),
        Pace::Again { .. } => driven.ended,
    };
    header.load_us = (micros(load_from), micros(load_to));
    if let Some(network) = &mut header.how.network {
        network.hear(driven.spoken);
    }
    for planned in header.planned.values_mut() {
        *planned = driven.samples;
    }
    let seal = Seal {
        partial: driven.end == End::Stopped,
        samples: driven.samples,
        not_ready: None,
        failed: None,
        dropped: driven.exemplars_dropped,
        deliveries_dropped: 0,
        signed_ahead_us: 0,
        spoken: driven.spoken,
    };
    let mut rows = vec![Row::Header(Box::new(header)), Row::Interval(gathered.total)];
    rows.extend(gathered.vitals.into_iter().map(Row::Vital));
    rows.push(Row::Seal(seal));
    rows
}

fn header(scenario: &Scenario, plan: &Plan, cores: Cores) -> Header {
    Header {
        load_us: (0, micros(Pace::Planned.length(plan))),
        cores,
        observations: nothing_watched("the engine alone, without a system of its own"),
        judge_latency: true,
        ..of_plan(scenario, plan)
    }
}

/// Tells how it goes.
struct Teller {
    load_from: Duration,
    length: Duration,
    progress: Arc<Progress>,
    speed: Speedometer,
}

impl Teller {
    fn tell(&mut self, now: Duration, p99: Option<Duration>, to: &mut dyn FnMut(News<'_>)) {
        let at = now.saturating_sub(self.load_from);
        let live = self.speed.read(now, self.progress.standing());
        to(News::Live(Live { phase: Phase::Load, at, of: self.length, p99, ..live }));
    }
}

fn micros(time: Duration) -> u64 {
    time.as_micros() as u64
}
