//! Samples gathered into intervals on the driving thread, each act with its outcomes and histograms.
//!
//! A full interval is handed to the writer without waiting. One that cannot be handed over is kept, and the next
//! becomes part of it: counts are exact whatever the disk does. Only exemplars are dropped, and counted.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use floodrig_reports::recording::{ActInterval, Interval, Outcome, Outcomes, Row, Sample};

use super::progress::Progress;
use super::slowest::Slowest;

/// The length of an interval for a load this long: 100 ms up to a minute, else 1 s.
pub fn interval_length(load: Duration) -> Duration {
    if load <= Duration::from_mins(1) { Duration::from_millis(100) } else { Duration::from_secs(1) }
}

/// The interval that is open, and what it has gathered.
#[derive(Debug)]
pub struct Intervals {
    rows: SyncSender<Row>,
    progress: Arc<Progress>,
    names: Vec<String>,
    length: Duration,
    from: Duration,
    until: Duration,
    acts: Vec<Share>,
    slowest: Slowest,
    in_flight: u64,
    recorded: Recorded,
}

/// One act's share, and whether anything has happened to it.
#[derive(Debug, Default, Clone)]
struct Share {
    counts: ActInterval,
    touched: bool,
}

/// What was recorded in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Samples, one for each planned act.
    pub samples: u64,
    /// Exemplars dropped because the queue was full.
    pub dropped: u64,
}

impl Intervals {
    /// Intervals of `length` from `load_from` on, of the acts named by their index.
    pub fn new(
        names: Vec<String>,
        load_from: Duration,
        length: Duration,
        rows: SyncSender<Row>,
        progress: Arc<Progress>,
    ) -> Self {
        let acts = vec![Share::default(); names.len()];
        let (from, until) = (load_from, load_from + length);
        let (slowest, recorded) = (Slowest::default(), Recorded::default());
        Self { rows, progress, names, length, from, until, acts, slowest, in_flight: 0, recorded }
    }

    /// An act's planned instant has come. To be told in order, and before any sample that ended later.
    pub fn offer(&mut self, act: u16, scheduled: Duration) {
        self.advance(scheduled);
        self.share(act).offered += 1;
        self.progress.offered();
    }

    /// An act has begun.
    pub fn begin(&mut self) {
        self.in_flight += 1;
        self.progress.in_flight(self.in_flight);
    }

    /// An act that had begun has ended.
    pub fn end(&mut self) {
        self.in_flight -= 1;
        self.progress.in_flight(self.in_flight);
    }

    /// Counts one sample in the interval it ended in.
    pub fn record(&mut self, sample: &Sample) {
        self.advance(sample.ended);
        count(self.share(sample.act), sample);
        self.slowest.add(sample);
        self.recorded.samples += 1;
        self.progress.ended(matches!(sample.outcome, Outcome::Ok { .. }));
    }

    /// When the open interval ends.
    pub fn until(&self) -> Duration {
        self.until
    }

    /// Samples recorded so far.
    pub fn samples(&self) -> u64 {
        self.recorded.samples
    }

    /// Closes the intervals that are over at `now`.
    pub fn advance(&mut self, now: Duration) {
        while now >= self.until {
            self.close();
        }
    }

    /// Closes the last interval at `now` and waits until it is handed over: the load is done. A writer that has
    /// failed says so itself.
    pub fn finish(&mut self, now: Duration) -> Recorded {
        self.advance(now);
        self.until = now.max(self.from);
        self.offer_exemplars();
        let last = Row::Interval(self.take());
        drop(self.rows.send(last));
        self.recorded
    }

    fn share(&mut self, act: u16) -> &mut ActInterval {
        let share = &mut self.acts[usize::from(act)];
        share.touched = true;
        &mut share.counts
    }

    fn close(&mut self) {
        let full = Row::Interval(self.take());
        match self.rows.try_send(full) {
            Ok(()) => {
                self.offer_exemplars();
                self.from = self.until;
            }
            Err(TrySendError::Full(row) | TrySendError::Disconnected(row)) => self.put_back(row),
        }
        self.until += self.length;
    }

    fn offer_exemplars(&mut self) {
        for sample in self.slowest.take() {
            if self.rows.try_send(Row::Exemplar(sample)).is_err() {
                self.recorded.dropped += 1;
            }
        }
    }

    fn take(&mut self) -> Interval {
        let touched = self.acts.iter_mut().zip(&self.names).filter(|(share, _)| share.touched);
        let acts = touched.map(|(share, name)| (name.clone(), std::mem::take(share).counts)).collect();
        let micros = |time: Duration| time.as_micros() as u64;
        let (from_us, len_us) = (micros(self.from), micros(self.until) - micros(self.from));
        Interval { from_us, len_us, acts, in_flight: self.in_flight }
    }

    /// Undoes [`Self::take`].
    fn put_back(&mut self, row: Row) {
        let Row::Interval(mut interval) = row else { unreachable!("only intervals are taken back") };
        for (share, name) in self.acts.iter_mut().zip(&self.names) {
            if let Some(counts) = interval.acts.remove(name) {
                *share = Share { counts, touched: true };
            }
        }
    }
}

fn count(share: &mut ActInterval, sample: &Sample) {
    share.requests += u64::from(sample.tries);
    match sample.outcome {
        Outcome::Abandoned | Outcome::Skipped => {}
        Outcome::Ok { late_connect } => {
            share.ok += 1;
            share.late_connect += u64::from(late_connect);
            share.lag.record(sample.lag());
            share.response.record(sample.response());
            share.service.record(sample.service());
            share.blocked.record(sample.blocked());
        }
        Outcome::CheckFailed
        | Outcome::Status(_)
        | Outcome::Refused
        | Outcome::Reset
        | Outcome::ConnectTimeout
        | Outcome::Closed
        | Outcome::Timeout
        | Outcome::Unanswered
        | Outcome::RigFault(_) => {
            share.lag.record(sample.lag());
            share.failed_response.record(sample.response());
        }
    }
    tally(&mut share.outcomes, sample.outcome);
}

fn tally(outcomes: &mut Outcomes, outcome: Outcome) {
    let class = match outcome {
        Outcome::Ok { .. } => return,
        Outcome::CheckFailed => &mut outcomes.check_failed,
        Outcome::Status(..200) => &mut outcomes.status_1xx,
        Outcome::Status(200..300) => &mut outcomes.status_2xx,
        Outcome::Status(300..400) => &mut outcomes.status_3xx,
        Outcome::Status(400..500) => &mut outcomes.status_4xx,
        Outcome::Status(500..) => &mut outcomes.status_5xx,
        Outcome::Refused => &mut outcomes.refused,
        Outcome::Reset => &mut outcomes.reset,
        Outcome::ConnectTimeout => &mut outcomes.connect_timeout,
        Outcome::Closed => &mut outcomes.closed,
        Outcome::Timeout => &mut outcomes.timeout,
        Outcome::Unanswered => &mut outcomes.unanswered,
        Outcome::RigFault(_) => &mut outcomes.rig_fault,
        Outcome::Abandoned => &mut outcomes.abandoned,
        Outcome::Skipped => &mut outcomes.skipped,
    };
    *class += 1;
}
