//! Telegram's side of a run: once an interval, the stub's counts and what became visible go into the recording.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use floodrig_reports::recording::{CallInterval, DeliveryInterval, Event, EventKind, MethodCounts, Row};
use floodrig_stub::{CallCounts, Sighting, Stub};

use crate::deliveries::{Deliveries, Expected};
use crate::record::{Progress, hand_over};
use crate::stop::Stop;
use crate::system::Clock;

/// What the watch reads and where it writes.
pub(super) struct Watch {
    /// Asked for its counts once an interval.
    pub(super) stub: Arc<Stub>,
    /// Where rows go.
    pub(super) rows: SyncSender<Row>,
    /// Reads the time since the run's epoch.
    pub(super) clock: Clock,
    /// How long an interval is.
    pub(super) interval: Duration,
    /// An effect older than this when it becomes visible is late.
    pub(super) late_after: Option<Duration>,
    /// Told the 429s so far.
    pub(super) progress: Arc<Progress>,
}

/// The running watch.
#[derive(Debug)]
pub(super) struct Watching {
    thread: JoinHandle<Watched>,
    end: Stop,
    ledger: Arc<Mutex<Ledger>>,
}

/// Deliveries, and where they hear from.
#[derive(Debug)]
struct Ledger {
    deliveries: Deliveries,
    expected: Receiver<Expected>,
    sightings: Receiver<Sighting>,
}

impl Ledger {
    /// Takes in what has been told since. Acts first: a sighting that is already here may belong to one of them.
    fn catch_up(&mut self) {
        self.expected.try_iter().for_each(|expected| self.deliveries.expect(expected));
        self.sightings.try_iter().for_each(|sighting| self.deliveries.sight(sighting));
    }

    /// The interval that ends now; with the last one, what is still unseen is lost.
    fn take_interval(&mut self, from: Duration, until: Duration, last: bool) -> DeliveryInterval {
        self.catch_up();
        if last {
            self.deliveries.close(until);
        }
        self.deliveries.take_interval(from, until)
    }
}

/// What the watch knows at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Watched {
    /// Sightings the stub could not hand over: if any, deliveries were not measured.
    pub(super) sightings_dropped: u64,
}

impl Watch {
    /// Watches from a thread of its own until told to finish.
    pub(super) fn start(self, expected: Receiver<Expected>, sightings: Receiver<Sighting>) -> io::Result<Watching> {
        let end = Stop::default();
        let ledger = Ledger { deliveries: Deliveries::new(self.late_after), expected, sightings };
        let ledger = Arc::new(Mutex::new(ledger));
        let (stop, shared) = (end.clone(), Arc::clone(&ledger));
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || self.run(&stop, &shared))?;
        Ok(Watching { thread, end, ledger })
    }

    fn run(self, end: &Stop, ledger: &Mutex<Ledger>) -> Watched {
        let mut from = self.clock.now();
        let mut throttled_before = false;
        loop {
            let last = end.asked();
            if !last {
                thread::sleep(self.interval);
            }
            let until = self.clock.now();
            let counts = self.stub.take_interval();
            self.note_first_throttled(&counts, &mut throttled_before);
            let deliveries = lock(ledger).take_interval(from, until, last);
            self.write(Row::Deliveries(deliveries));
            self.write_calls(&counts, from, until);
            if last {
                return Watched { sightings_dropped: counts.sightings_dropped };
            }
            from = until;
        }
    }

    fn note_first_throttled(&self, counts: &CallCounts, already: &mut bool) {
        let Some(at) = counts.first_throttled.filter(|_| !*already) else { return };
        *already = true;
        let text = "the first 429".to_owned();
        self.write(Row::Event(Event { at_us: at.as_micros() as u64, kind: EventKind::FirstThrottled, text }));
    }

    fn write_calls(&self, counts: &CallCounts, from: Duration, until: Duration) {
        let row = call_interval(counts, from, until);
        let throttled: u64 = row.by_method.values().map(|counts| counts.throttled).sum();
        self.progress.add_throttled(throttled);
        self.write(Row::Calls(row));
    }

    /// Waits for room: this thread is not on the measuring path. A writer that is gone has its own error to tell.
    fn write(&self, row: Row) {
        hand_over(&self.rows, row, &self.progress);
    }
}

impl Watching {
    /// Whether everything expected so far has become visible.
    pub(super) fn all_seen(&self) -> bool {
        let mut ledger = lock(&self.ledger);
        ledger.catch_up();
        ledger.deliveries.all_seen()
    }

    /// Effects accepted and not yet visible.
    pub(super) fn awaited(&self) -> u64 {
        let mut ledger = lock(&self.ledger);
        ledger.catch_up();
        ledger.deliveries.awaited()
    }

    /// Takes the last counts, counts what is unseen as lost, and ends.
    pub(super) fn finish(self) -> thread::Result<Watched> {
        self.end.ask();
        self.thread.join()
    }
}

/// The row of the calls between two instants.
pub(super) fn call_interval(counts: &CallCounts, from: Duration, until: Duration) -> CallInterval {
    let method = |(name, counts): (&&'static str, &floodrig_stub::MethodCounts)| {
        let counts = MethodCounts { calls: counts.calls, throttled: counts.throttled, errors: counts.errors };
        ((*name).to_owned(), counts)
    };
    CallInterval {
        from_us: from.as_micros() as u64,
        len_us: until.saturating_sub(from).as_micros() as u64,
        by_method: counts.by_method.iter().map(method).collect(),
        calls_while_throttled: counts.calls_while_throttled,
        uploads: counts.uploads,
        upload_bytes: counts.upload_bytes,
        uploads_at_once: counts.uploads_at_once,
        worst_second_sends: counts.worst_second_sends,
        worst_second_accepted: counts.worst_second_accepted,
        worst_minute_group_sends: counts.worst_minute_group_sends,
        worst_minute_group_accepted: counts.worst_minute_group_accepted,
        throttled_by: counts.throttled_by.clone(),
        unmodelled: counts.unmodelled.iter().map(|(name, calls)| ((*name).to_owned(), *calls)).collect(),
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_calls_names_the_rules_that_were_broken() {
        let counts = CallCounts { throttled_by: [("group".to_owned(), 6)].into(), ..CallCounts::default() };
        let row = call_interval(&counts, Duration::from_secs(1), Duration::from_secs(2));
        assert_eq!((row.from_us, row.len_us), (1_000_000, 1_000_000));
        assert_eq!(row.throttled_by, [("group".to_owned(), 6)].into());
    }
}
