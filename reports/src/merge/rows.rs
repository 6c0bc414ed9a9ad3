//! The rows of several recordings as those of one, in about the order of their times, a row of each in hand at once.

use std::collections::VecDeque;
use std::time::Duration;

use crate::recording::{Event, EventKind, Header, Interval, ReadError, Row, Sample, Seal, Shard};

/// Where a shard's recording is among those given, and how its times are brought to the first one's epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Among the recordings given.
    pub(super) index: usize,
    pub(super) shard: Shard,
    /// Added to each of its times, in microseconds.
    pub(super) later_us: i64,
}

/// The joint recording, row by row.
#[derive(Debug)]
pub struct Rows<I> {
    header: Option<Header>,
    shards: Vec<One<I>>,
    ready: VecDeque<Row>,
    seal: Option<Seal>,
}

/// One shard's recording.
#[derive(Debug)]
struct One<I> {
    place: Place,
    rows: I,
    /// Its next interval, which waits for the others'.
    held: Option<Interval>,
    sealed: bool,
}

impl<I: Iterator<Item = Result<Row, ReadError>>> Rows<I> {
    pub(super) fn new(header: Header, places: Vec<Place>, recordings: Vec<I>) -> Self {
        assert_eq!(places.len(), recordings.len(), "every recording was read before");
        let mut recordings: Vec<Option<I>> = recordings.into_iter().map(Some).collect();
        let mut one = |place: Place| {
            let rows = recordings[place.index].take().expect("every shard has a recording of its own");
            One { place, rows, held: None, sealed: false }
        };
        let shards = places.into_iter().map(&mut one).collect();
        Self { header: Some(header), shards, ready: VecDeque::new(), seal: Some(Seal::default()) }
    }

    /// Reads on in every recording up to its next interval.
    fn read_on(&mut self) -> Result<(), ReadError> {
        for one in &mut self.shards {
            while one.held.is_none() {
                let Some(row) = one.rows.next().transpose()? else { break };
                match (row, &mut self.seal) {
                    (Row::Seal(its), Some(seal)) => {
                        one.sealed = true;
                        add(seal, its, one.place.shard);
                    }
                    (row, _) => one.take(row, &mut self.ready),
                }
            }
        }
        Ok(())
    }

    /// The earliest of the intervals in hand, with all that the others have of it.
    fn joint_interval(&mut self) -> Option<Interval> {
        let from_us = self.shards.iter().filter_map(|one| Some(one.held.as_ref()?.from_us)).min()?;
        let due = self.shards.iter_mut().filter_map(|one| one.held.take_if(|held| held.from_us == from_us));
        due.reduce(|mut all, one| {
            all.merge(&one);
            all
        })
    }

    /// A recording that was never sealed is a rig that was killed.
    fn sealed(&mut self) -> Option<Row> {
        let seal = self.seal.take()?;
        let killed = self.shards.iter().any(|one| !one.sealed);
        Some(Row::Seal(Seal { partial: seal.partial || killed, ..seal }))
    }
}

impl<I: Iterator<Item = Result<Row, ReadError>>> Iterator for Rows<I> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(header) = self.header.take() {
            return Some(Ok(Row::Header(Box::new(header))));
        }
        if self.ready.is_empty()
            && let Err(cause) = self.read_on()
        {
            return Some(Err(cause));
        }
        let next = self.ready.pop_front().or_else(|| self.joint_interval().map(Row::Interval));
        next.or_else(|| self.sealed()).map(Ok)
    }
}

impl<I> One<I> {
    fn take(&mut self, row: Row, ready: &mut VecDeque<Row>) {
        let Place { shard, later_us, .. } = self.place;
        match row {
            Row::Interval(interval) => {
                self.held = Some(Interval { from_us: later(interval.from_us, later_us), ..interval });
            }
            Row::Exemplar(sample) => ready.push_back(Row::Exemplar(sample_later(&sample, later_us))),
            Row::Event(event) if !shard.is_owner() => {
                ready.extend(others_event(&event, shard, later_us).map(Row::Event));
            }
            Row::Event(_)
            | Row::Vital(_)
            | Row::Outbound(_)
            | Row::Confined(_)
            | Row::Stall(_)
            | Row::Stack(_)
            | Row::Probed(_)
            | Row::Calls(_)
            | Row::Deliveries(_)
            | Row::Recovery(_)
            | Row::OrderedStop(_)
            | Row::Logs(_)
            | Row::Ending(_) => {
                // Of the rigs that do not observe, only what they drove is of interest; what they used is in the header.
                if shard.is_owner() {
                    ready.push_back(row);
                }
            }
            Row::Header(_) | Row::Seal(_) => {}
        }
    }
}

/// All began and ended by the same plan, so only what one rig alone has to tell is kept, under its name.
fn others_event(event: &Event, shard: Shard, later_us: i64) -> Option<Event> {
    match event.kind {
        EventKind::Note | EventKind::Interrupted | EventKind::ServiceDied => {
            let (at_us, text) = (later(event.at_us, later_us), format!("shard {shard}: {}", event.text));
            Some(Event { at_us, kind: event.kind, text })
        }
        EventKind::FirstThrottled
        | EventKind::Died
        | EventKind::LoadStarted
        | EventKind::LoadEnded
        | EventKind::Settled
        | EventKind::ProbeCame
        | EventKind::StopOrdered => None,
    }
}

fn add(all: &mut Seal, its: Seal, shard: Shard) {
    let of_shard = |why: Option<String>| why.map(|why| format!("shard {shard}: {why}"));
    all.partial |= its.partial;
    all.samples += its.samples;
    all.dropped += its.dropped;
    all.deliveries_dropped += its.deliveries_dropped;
    all.signed_ahead_us += its.signed_ahead_us;
    all.spoken.merge(its.spoken);
    all.not_ready = all.not_ready.take().or_else(|| of_shard(its.not_ready));
    all.failed = all.failed.take().or_else(|| of_shard(its.failed));
}

/// What lies before the first one's epoch is put at it.
fn later(us: u64, by: i64) -> u64 {
    us.saturating_add_signed(by)
}

fn sample_later(sample: &Sample, by: i64) -> Sample {
    let by_abs = Duration::from_micros(by.unsigned_abs());
    let later = |time: Duration| if by < 0 { time.saturating_sub(by_abs) } else { time + by_abs };
    Sample {
        scheduled: later(sample.scheduled),
        free: later(sample.free),
        started: later(sample.started),
        ended: later(sample.ended),
        ..sample.clone()
    }
}
