//! One pass over the rows of a recording builds its summary and its timeline.

use std::collections::BTreeMap;

use super::acts::Acts;
use super::after::{Recovery, Shutdown};
use super::others::Others;
use super::rig::RigWatch;
use super::services::{self, Service};
use super::system::{Last, Tree};
use super::{Deliveries, Rig, Summary, Telegram};
use crate::outbound;
use crate::recording::{
    self, Confined, DeliveryInterval, Ending, Header, Logs, Observations, OrderedStop, ReadError, Row, Seal,
};
use crate::timeline::{CallPoint, LoadPoint, Timeline};
use crate::value::many;

/// Reads a recording once, row by row.
pub fn summarise(rows: impl Iterator<Item = Result<Row, ReadError>>) -> Result<(Summary, Timeline), ReadError> {
    let mut rows = rows;
    let header = match rows.next().transpose()? {
        Some(Row::Header(header)) => *header,
        Some(_) => return Err(ReadError::Header),
        None => return Err(ReadError::Empty),
    };
    let mut gathering = Gathering::new(header);
    for row in rows {
        gathering.take(row?)?;
    }
    Ok(gathering.finish())
}

/// What the rows so far have said.
struct Gathering {
    header: Header,
    timeline: Timeline,
    acts: Acts,
    rig: RigWatch,
    tree: Tree,
    others: Others,
    services: BTreeMap<String, Service>,
    telegram: Telegram,
    deliveries: DeliveryInterval,
    logs: Option<Logs>,
    confined: Option<Confined>,
    ending: Option<Ending>,
    rested: Option<recording::Recovery>,
    ordered_stop: Option<OrderedStop>,
    seal: Option<Seal>,
}

impl Gathering {
    fn new(header: Header) -> Self {
        Self {
            timeline: Timeline::default(),
            acts: Acts::default(),
            rig: RigWatch::new(&header),
            tree: Tree::default(),
            others: Others::new(&header),
            services: BTreeMap::new(),
            telegram: Telegram::default(),
            deliveries: DeliveryInterval::default(),
            logs: None,
            confined: None,
            ending: None,
            rested: None,
            ordered_stop: None,
            seal: None,
            header,
        }
    }

    fn take(&mut self, row: Row) -> Result<(), ReadError> {
        match row {
            Row::Header(_) => return Err(ReadError::Header),
            Row::Interval(interval) => {
                self.acts.take(&interval);
                self.telegram.take_unmatched(&interval);
                self.timeline.load.push(LoadPoint::of(&interval));
            }
            Row::Exemplar(_) => {}
            Row::Vital(vital) => {
                self.rig.take(&vital);
                self.others.take(&vital);
                services::take(&mut self.services, &vital.services);
                self.timeline.vitals.push(self.tree.take(&vital));
            }
            Row::Outbound(outbound) => self.timeline.outbound.push(outbound),
            Row::Stall(stall) => self.tree.take_stall(stall),
            Row::Stack(stack) => self.tree.take_stack(stack),
            Row::Probed(probed) => self.tree.take_probed(probed),
            Row::Calls(calls) => {
                self.telegram.take(&calls);
                self.timeline.calls.push(CallPoint::of(calls));
            }
            Row::Deliveries(deliveries) => self.deliveries.merge(&deliveries),
            Row::Event(event) => self.timeline.events.push(event),
            Row::Recovery(rested) => self.rested = Some(rested),
            Row::OrderedStop(stop) => self.ordered_stop = Some(stop),
            Row::Logs(logs) => self.logs = Some(logs),
            Row::Confined(confined) => self.confined = Some(confined),
            Row::Ending(ending) => self.ending = Some(ending),
            Row::Seal(seal) => self.seal = Some(seal),
        }
        Ok(())
    }

    fn finish(mut self) -> (Summary, Timeline) {
        let partial = self.seal.as_ref().is_none_or(|seal| seal.partial);
        let not_ready = self.seal.as_ref().and_then(|seal| seal.not_ready.clone());
        let failed = self.seal.as_ref().and_then(|seal| seal.failed.clone());
        let cut_short = partial || not_ready.is_some() || failed.is_some();
        let failed = if cut_short { failed } else { self.lost_samples() };
        if cut_short {
            self.acts.abandon_the_rest(&self.header.planned);
        }
        let unheard = self.seal.as_ref().map_or(0, |seal| seal.deliveries_dropped);
        if unheard > 0 {
            self.header.observations.deliveries = format!("inactive: {unheard} of its notices found their queue full");
        }
        if let (Some(network), Some(seal)) = (&mut self.header.how.network, &self.seal) {
            network.hear(seal.spoken);
        }
        let uncounted = outbound::uncounted_ports(&self.timeline.outbound);
        if uncounted > 0 {
            let ports = many(uncounted, "remote port");
            self.header.observations.outbound = format!("active, but for {ports} of the system, beyond those shown");
        }
        let deliveries_watched = Observations::is_active(&self.header.observations.deliveries);
        self.telegram.uncounted = !Observations::is_active(&self.header.observations.calls);
        let last = Last { logs: self.logs.take(), confined: self.confined.take(), ending: self.ending.take() };
        let rig = self.rig_summary();
        let (mut system, stalls) = self.tree.summary(&self.header, last);
        self.timeline.stalls = stalls;
        system.take_outbound(&self.header.observations, &self.timeline);
        system.cores_used_by_others = self.others.share();
        let summary = Summary {
            acts: self.acts.summary(&self.header),
            rig,
            system,
            services: self.services,
            services_died: services::died(&self.timeline.events, self.header.load_us.0),
            telegram: self.telegram,
            deliveries: Deliveries::of(&self.deliveries, deliveries_watched),
            observations: self.header.observations.clone(),
            recovery: self.rested.map(|rested| Recovery::of(rested, &self.timeline.vitals, self.header.load_us.0)),
            shutdown: self
                .ordered_stop
                .map(|stop| Shutdown::of(stop, &self.deliveries, self.acts.stopped(), &self.header)),
            partial,
            not_ready,
            failed,
            header: self.header,
        };
        self.timeline.curves = self.acts.curves();
        (summary, self.timeline)
    }

    /// A whole run records one sample for each planned act; one that does not has lost some, and its numbers with them.
    fn lost_samples(&self) -> Option<String> {
        let planned: u64 = self.header.planned.values().sum();
        let sealed = self.seal.as_ref().map_or(0, |seal| seal.samples);
        let counted = self.acts.ended();
        (planned != sealed || planned != counted).then(|| {
            format!("{planned} acts were planned, {sealed} samples were taken and {counted} are in the recording: all three must be the same")
        })
    }

    fn rig_summary(&self) -> Rig {
        let requests = self.acts.requests();
        let ahead_us = self.seal.as_ref().map_or(0, |seal| seal.signed_ahead_us);
        let mut rig = self.rig.summary(requests, ahead_us).of_all(&self.header.parts, requests);
        self.acts.lag(&mut rig);
        rig.cores_shared = self.header.cores.shared;
        rig.dropped = self.seal.as_ref().map_or(0, |seal| seal.dropped);
        rig
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::{Protocol, Spoken};

    fn is_whole(summary: &Summary) -> bool {
        summary.acts.values().all(|act| act.ok + act.outcomes.total() == act.planned)
    }

    fn killed_after_three_seconds() -> Vec<Row> {
        let rows = fixture::rows();
        let third = rows.iter().enumerate().filter(|(_, row)| matches!(row, Row::Interval(_))).nth(2).unwrap().0;
        rows[..=third].to_vec()
    }

    fn sealed(change: impl Fn(&mut Seal)) -> Summary {
        let mut rows = fixture::rows();
        if let Some(Row::Seal(seal)) = rows.last_mut() {
            change(seal);
        }
        fixture::summarised(rows).0
    }

    #[test]
    fn the_rows_add_up() {
        let (summary, timeline) = fixture::summarised(fixture::rows());
        assert_eq!((summary.acts["open"].ok, summary.acts["guess"].ok), (100, 200));
        assert_eq!(summary.acts["guess"].judged_us, summary.acts["guess"].response_us);
        assert_eq!((summary.telegram.calls, summary.telegram.accepted, summary.telegram.uploads), (70, 60, 70));
        assert_eq!((summary.deliveries.expected, summary.deliveries.lost), (Some(200), Some(0)));
        assert_eq!(summary.system.stderr_errors, Some(2));
        assert_eq!((timeline.load.len(), timeline.vitals.len(), timeline.calls.len()), (10, 100, 10));
        assert_eq!(timeline.load[0].ok, 30);
        assert_eq!(timeline.curves["guess"].count(), 200);
        assert!(is_whole(&summary) && !summary.partial && summary.failed.is_none());
    }

    #[test]
    fn calls_that_answered_no_act_are_added_up_and_null_where_no_act_waits_for_one() {
        let mut rows = fixture::rows();
        assert_eq!(fixture::summarised(rows.clone()).0.telegram.unmatched, None);
        let intervals = rows.iter_mut().filter_map(|row| if let Row::Interval(its) = row { Some(its) } else { None });
        intervals.for_each(|interval| interval.unmatched = Some(2));
        assert_eq!(fixture::summarised(rows).0.telegram.unmatched, Some(20));
    }

    #[test]
    fn a_recording_without_a_seal_is_partial_and_its_other_acts_were_abandoned() {
        let (summary, _) = fixture::summarised(killed_after_three_seconds());
        assert!(summary.partial && is_whole(&summary));
        assert_eq!((summary.acts["open"].ok, summary.acts["open"].outcomes.abandoned), (30, 70));
    }

    #[test]
    fn a_run_that_was_interrupted_is_partial() {
        assert!(sealed(|seal| seal.partial = true).partial);
    }

    #[test]
    fn the_protocol_is_the_one_that_the_loads_connections_came_to() {
        let network = sealed(|seal| seal.spoken = Spoken { http1: 3, http2: 0 }).header.how.network.unwrap();
        assert_eq!(network.chosen, Some(Protocol::Http1));
    }

    #[test]
    fn a_sealed_run_that_lost_a_sample_has_failed() {
        let failed = sealed(|seal| seal.samples -= 1).failed.unwrap();
        assert!(failed.contains("300 acts were planned, 299 samples were taken"), "{failed}");
    }

    #[test]
    fn a_sealed_run_that_lost_an_interval_has_failed() {
        let mut rows = fixture::rows();
        rows.retain(|row| !matches!(row, Row::Interval(interval) if interval.from_us == fixture::LOAD_FROM_US));
        assert!(fixture::summarised(rows).0.failed.unwrap().contains("270 are in the recording"));
    }

    #[test]
    fn a_run_that_never_became_ready_lost_nothing() {
        let seal = Seal { not_ready: Some("exit 1".into()), ..Seal::default() };
        let rows = vec![fixture::header_row(), Row::Seal(seal)];
        let (summary, _) = fixture::summarised(rows);
        assert!(is_whole(&summary) && summary.failed.is_none());
        assert_eq!(summary.not_ready.as_deref(), Some("exit 1"));
    }

    #[test]
    fn connections_to_ports_that_were_not_counted_are_remarked_on() {
        let said = |uncounted_ports| {
            let mut rows = fixture::rows();
            if let Row::Header(header) = &mut rows[0] {
                "active".clone_into(&mut header.observations.outbound);
            }
            let sample = |uncounted_ports| Row::Outbound(recording::Outbound { uncounted_ports, ..Default::default() });
            rows.splice(1..1, [sample(0), sample(uncounted_ports)]);
            fixture::summarised(rows).0.observations.outbound
        };
        assert_eq!(said(0), "active");
        assert_eq!(said(1), "active, but for 1 remote port of the system, beyond those shown");
    }

    #[test]
    fn deliveries_that_were_not_watched_are_not_zero() {
        let mut rows = fixture::rows();
        if let Row::Header(header) = &mut rows[0] {
            header.observations.deliveries = "inactive: no act shows anything".to_owned();
        }
        assert_eq!(fixture::summarised(rows).0.deliveries, Deliveries::default());
    }

    #[test]
    fn a_recording_has_exactly_one_header_and_it_comes_first() {
        let refused = |rows: Vec<Row>| matches!(summarise(rows.into_iter().map(Ok)), Err(ReadError::Header));
        assert!(refused(vec![fixture::note("no header")]));
        assert!(refused(vec![fixture::header_row(), fixture::header_row()]));
    }

    #[test]
    fn a_recording_of_a_rig_that_was_killed_before_the_load_says_so() {
        assert!(matches!(summarise(std::iter::empty()), Err(ReadError::Empty)));
    }
}
