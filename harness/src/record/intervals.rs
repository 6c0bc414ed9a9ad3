//! Samples gathered into intervals on the driving thread, each act with its outcomes and histograms.
//!
//! A full interval is handed to the writer without waiting. One that cannot be handed over is kept, and the next
//! becomes part of it: counts are exact whatever the disk does. Only exemplars are dropped, and counted.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Duration;

use floodrig_reports::recording::{ActInterval, Interval, Outcome, Row, Sample};

use super::in_flight::InFlight;
use super::patient::hand_over;
use super::progress::Progress;
use super::slowest::{KEPT, Slowest};

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
    in_flight: Arc<InFlight>,
    unmatched: Option<u64>,
    recorded: Recorded,
    excused_from: Option<Duration>,
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
        let (slowest, recorded, in_flight) = (Slowest::of(KEPT), Recorded::default(), progress.in_flight());
        Self {
            rows,
            progress,
            names,
            length,
            from,
            until,
            acts,
            slowest,
            in_flight,
            unmatched: None,
            recorded,
            excused_from: None,
        }
    }

    /// What is begun at or after this instant and not served has found the system stopped by order.
    #[must_use]
    pub fn excusing(self, from: Option<Duration>) -> Self {
        Self { excused_from: from, ..self }
    }

    /// Keeps this many exemplars of each interval, the slowest, in place of a load's few.
    #[must_use]
    pub fn keeping(self, exemplars: usize) -> Self {
        Self { slowest: Slowest::of(exemplars), ..self }
    }

    /// An act's planned instant has come. To be told in order, and before any sample that ended later.
    pub fn offer(&mut self, act: u16, scheduled: Duration) {
        self.advance(scheduled);
        self.share(act).offered += 1;
        self.progress.offered();
    }

    /// An act has begun.
    pub fn begin(&mut self) {
        self.in_flight.begin();
    }

    /// An act that had begun has ended.
    pub fn end(&mut self) {
        self.in_flight.end();
    }

    /// An act that had begun has ended because its connection did.
    pub fn cut_off(&mut self, at: Duration) {
        self.in_flight.cut_off(at);
    }

    /// From now on the bot's calls are heard, and those that answer nothing are counted.
    pub fn hear(&mut self) {
        self.unmatched.get_or_insert(0);
    }

    /// The bot made a call that answers no act.
    pub fn unmatched(&mut self) {
        *self.unmatched.get_or_insert(0) += 1;
    }

    /// Counts one sample in the interval it ended in.
    pub fn record(&mut self, sample: &Sample) {
        if let Some(excused) = excused(sample, self.excused_from) {
            return self.count(&excused);
        }
        self.count(sample);
    }

    fn count(&mut self, sample: &Sample) {
        self.advance(sample.ended);
        self.share(sample.act).count(sample);
        self.slowest.add(sample);
        self.recorded.samples += 1;
        self.progress.ended(matches!(sample.outcome, Outcome::Ok));
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
        self.until = now.max(self.from + Duration::from_micros(1));
        self.offer_exemplars();
        let last = Row::Interval(self.take());
        hand_over(&self.rows, last, &self.progress);
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
        let unmatched = self.unmatched;
        self.unmatched = unmatched.map(|_| 0);
        Interval { from_us, len_us, acts, in_flight: self.in_flight.now(), unmatched }
    }

    /// Undoes [`Self::take`].
    fn put_back(&mut self, row: Row) {
        let Row::Interval(mut interval) = row else { unreachable!("only intervals are taken back") };
        self.unmatched = interval.unmatched;
        for (share, name) in self.acts.iter_mut().zip(&self.names) {
            if let Some(counts) = interval.acts.remove(name) {
                *share = Share { counts, touched: true };
            }
        }
    }
}

/// The sample of an act that was begun once the scenario had stopped the system, and not served.
fn excused(sample: &Sample, from: Option<Duration>) -> Option<Sample> {
    if sample.started < from? {
        return None;
    }
    match sample.outcome {
        Outcome::Ok | Outcome::RigFault(_) | Outcome::Skipped { left: false } | Outcome::Stopped => None,
        Outcome::CheckFailed
        | Outcome::Status(_)
        | Outcome::Refused
        | Outcome::Reset
        | Outcome::TlsFailed
        | Outcome::ConnectTimeout
        | Outcome::Closed
        | Outcome::Malformed
        | Outcome::Timeout
        | Outcome::Unanswered
        | Outcome::Abandoned
        | Outcome::Skipped { left: true } => Some(Sample { outcome: Outcome::Stopped, ..sample.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn intervals(room: usize) -> (Intervals, Receiver<Row>) {
        let (rows, queue) = sync_channel(room);
        let names = vec!["open".to_owned(), "guess".to_owned()];
        (Intervals::new(names, 50 * MILLISECOND, 100 * MILLISECOND, rows, Arc::default()), queue)
    }

    fn sample(act: u16, ended: u32, outcome: Outcome) -> Sample {
        let (scheduled, free) = (60 * MILLISECOND, 70 * MILLISECOND);
        Sample {
            act,
            player: 0,
            scheduled,
            free,
            started: 75 * MILLISECOND,
            ended: ended * MILLISECOND,
            outcome,
            tries: 2,
            late_connect: true,
        }
    }

    const OK: Outcome = Outcome::Ok;

    fn rows(queue: &Receiver<Row>) -> Vec<Interval> {
        let interval = |row| if let Row::Interval(interval) = row { Some(interval) } else { None };
        queue.try_iter().filter_map(interval).collect()
    }

    #[test]
    fn what_is_begun_after_an_ordered_stop_and_not_served_is_charged_to_nobody() {
        let begun = sample(1, 149, Outcome::Refused).started;
        let counted = |from, outcome| {
            let (intervals, queue) = intervals(9);
            let mut intervals = intervals.excusing(from);
            intervals.record(&sample(1, 149, outcome));
            intervals.finish(150 * MILLISECOND);
            let act = rows(&queue).remove(0).acts.remove("guess").unwrap();
            (act.ok, act.outcomes.refused, act.outcomes.stopped)
        };
        assert_eq!(counted(Some(begun), Outcome::Refused), (0, 0, 1));
        assert_eq!(counted(Some(begun + MILLISECOND), Outcome::Refused), (0, 1, 0));
        assert_eq!(counted(None, Outcome::Refused), (0, 1, 0));
        assert_eq!(counted(Some(begun), OK), (1, 0, 0));
    }

    #[test]
    fn intervals_are_short_for_loads_of_up_to_a_minute() {
        assert_eq!(interval_length(Duration::from_mins(1)), 100 * MILLISECOND);
        assert_eq!(interval_length(Duration::from_mins(1) + MILLISECOND), 1000 * MILLISECOND);
    }

    #[test]
    fn a_sample_belongs_to_the_interval_it_ended_in() {
        let (mut intervals, queue) = intervals(9);
        intervals.offer(1, 60 * MILLISECOND);
        intervals.record(&sample(1, 149, OK));
        intervals.record(&sample(1, 150, Outcome::Refused));
        intervals.record(&sample(0, 249, Outcome::Abandoned));
        assert_eq!(intervals.finish(250 * MILLISECOND).samples, 3);
        let rows = rows(&queue);
        let spans: Vec<_> = rows.iter().map(|row| (row.from_us, row.len_us)).collect();
        assert_eq!(spans, [(50_000, 100_000), (150_000, 100_000), (250_000, 1)]);
        let guess = &rows[0].acts["guess"];
        assert_eq!((guess.offered, guess.ok, guess.late_connect, guess.requests), (1, 1, 1, 2));
        assert_eq!((rows[1].acts["guess"].outcomes.refused, rows[1].acts["open"].outcomes.abandoned), (1, 1));
        assert!(!rows[0].acts.contains_key("open") && rows[2].acts.is_empty());
    }

    #[test]
    fn each_duration_has_its_histogram() {
        let (mut intervals, queue) = intervals(9);
        intervals.record(&sample(0, 100, OK));
        intervals.record(&sample(1, 100, Outcome::Timeout));
        intervals.finish(110 * MILLISECOND);
        let acts = &rows(&queue)[0].acts;
        let means = |act: &ActInterval| {
            let all = [&act.response, &act.service, &act.blocked, &act.lag, &act.failed_response];
            all.map(|histogram| histogram.mean_us().map(|us| (us / 1000.0).round() as u32))
        };
        assert_eq!(means(&acts["open"]), [Some(40), Some(25), Some(10), Some(5), None]);
        assert_eq!(means(&acts["guess"]), [None, None, None, Some(5), Some(40)]);
    }

    #[test]
    fn an_interval_that_cannot_be_handed_over_becomes_part_of_the_next() {
        let (mut intervals, queue) = intervals(1);
        for ended in [100, 200, 300] {
            intervals.record(&sample(0, ended, OK));
        }
        // The first took the only room; the second waits with the third.
        assert_eq!(rows(&queue)[0].acts["open"].ok, 1);
        intervals.advance(350 * MILLISECOND);
        let merged = rows(&queue).remove(0);
        assert_eq!((merged.from_us, merged.len_us, merged.acts["open"].ok), (150_000, 200_000, 2));
        assert_eq!(merged.acts["open"].response.count(), 2);
    }

    #[test]
    fn calls_that_answer_nothing_are_counted_from_when_they_are_heard_on() {
        let (mut intervals, queue) = intervals(9);
        intervals.advance(150 * MILLISECOND);
        intervals.hear();
        intervals.unmatched();
        intervals.unmatched();
        intervals.advance(350 * MILLISECOND);
        let heard: Vec<_> = rows(&queue).iter().map(|row| row.unmatched).collect();
        assert_eq!(heard, [None, Some(2), Some(0)]);
    }

    #[test]
    fn calls_that_answer_nothing_go_on_into_the_next_interval_where_one_cannot_be_handed_over() {
        let (mut intervals, queue) = intervals(1);
        intervals.hear();
        intervals.advance(150 * MILLISECOND);
        intervals.unmatched();
        intervals.advance(250 * MILLISECOND);
        intervals.unmatched();
        rows(&queue);
        intervals.advance(350 * MILLISECOND);
        assert_eq!(rows(&queue)[0].unmatched, Some(2));
    }

    #[test]
    fn exemplars_that_find_no_room_are_counted() {
        let (mut intervals, _queue) = intervals(2);
        for _ in 0..7 {
            intervals.record(&sample(0, 100, OK));
        }
        intervals.advance(150 * MILLISECOND);
        assert_eq!(intervals.recorded, Recorded { samples: 7, dropped: 4 });
    }

    #[test]
    fn as_many_exemplars_are_kept_as_asked_for() {
        let kept = |intervals: Intervals, queue: &Receiver<Row>| {
            let mut intervals = intervals;
            (0..7).for_each(|_| intervals.record(&sample(0, 100, OK)));
            intervals.finish(150 * MILLISECOND);
            queue.try_iter().filter(|row| matches!(row, Row::Exemplar(_))).count()
        };
        let ((few, of_few), (all, of_all)) = (intervals(9), intervals(9));
        assert_eq!((kept(few, &of_few), kept(all.keeping(7), &of_all)), (5, 7));
    }

    #[test]
    fn what_is_in_flight_is_said_at_the_end_of_the_interval() {
        let (mut intervals, queue) = intervals(9);
        intervals.begin();
        intervals.begin();
        intervals.advance(150 * MILLISECOND);
        intervals.end();
        intervals.advance(250 * MILLISECOND);
        assert_eq!(rows(&queue).iter().map(|row| row.in_flight).collect::<Vec<_>>(), [2, 1]);
    }
}
