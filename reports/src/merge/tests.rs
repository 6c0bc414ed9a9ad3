//! Shards that are joined are one run.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::fixture::{self, LOAD_FROM_US};
use crate::recording::{Event, EventKind, Interval, Network, Outcome, Protocol, Sample, Seal, Shard, Spoken};
use crate::{VerdictKind, judge};

const SECONDS: u64 = 10;

/// What a rig records that has these acts to drive and whose epoch is `early_us` before the first one's.
fn recording(shard: Option<Shard>, samples: &[Sample], early_us: u64) -> Vec<Row> {
    let mut header = fixture::header();
    header.shard = shard;
    header.epoch_unix_us -= early_us;
    header.load_us = (header.load_us.0 + early_us, header.load_us.1 + early_us);
    header.planned = BTreeMap::from([("open".to_owned(), 0), ("guess".to_owned(), samples.len() as u64)]);
    let observes = shard.is_none_or(Shard::is_owner);
    if !observes {
        header.observations.calls = "inactive: the first shard's stub counts them".to_owned();
    }
    let mut rows = vec![Row::Header(Box::new(header))];
    if observes {
        rows.extend(fixture::rows().into_iter().filter(|row| matches!(row, Row::Vital(_) | Row::Calls(_))));
    }
    rows.extend((0..=SECONDS).map(|second| Row::Interval(interval(second, samples, early_us))));
    let samples = samples.len() as u64;
    rows.push(Row::Seal(Seal { samples, ..Seal::default() }));
    rows
}

fn interval(second: u64, samples: &[Sample], early_us: u64) -> Interval {
    let from_us = LOAD_FROM_US + second * 1_000_000;
    let mut acts = BTreeMap::new();
    for sample in samples {
        let ended = sample.ended.as_micros() as u64;
        if (from_us..from_us + 1_000_000).contains(&ended) {
            let act: &mut crate::recording::ActInterval = acts.entry("guess".to_owned()).or_default();
            act.count(sample);
        }
    }
    Interval { from_us: from_us + early_us, len_us: 1_000_000, acts, in_flight: 1, unmatched: None }
}

fn sample(player: u32, at_us: u64, lag_us: u64, took_us: u64, ok: bool) -> Sample {
    let scheduled = Duration::from_micros(LOAD_FROM_US + at_us);
    let started = scheduled + Duration::from_micros(lag_us);
    let ended = started + Duration::from_micros(took_us);
    let outcome = if ok { Outcome::Ok } else { Outcome::Status(503) };
    let free = Duration::ZERO;
    Sample { act: 1, player, scheduled, free, started, ended, outcome, tries: 1, late_connect: false }
}

/// The shards' recordings of these acts, each by an epoch of its own.
fn shards(of: u32, samples: &[Sample]) -> Vec<Vec<Row>> {
    let shard = |number: u32| {
        let shard = Shard { number, of };
        let its: Vec<Sample> = samples.iter().filter(|sample| shard.holds(sample.player)).cloned().collect();
        recording(Some(shard), &its, u64::from(number - 1) * 123_457)
    };
    (1..=of).map(shard).collect()
}

fn read(recordings: &[Vec<Row>]) -> Vec<Recorded> {
    let read =
        |(nth, rows): (usize, &Vec<Row>)| Recorded::read(format!("run {nth}"), rows.iter().cloned().map(Ok)).unwrap();
    recordings.iter().enumerate().map(read).collect()
}

fn merged(recordings: &[Vec<Row>]) -> Result<Vec<Row>, CannotMerge> {
    let rows = recordings.iter().map(|rows| rows.clone().into_iter().map(Ok)).collect();
    Ok(Joint::of(&read(recordings))?.rows(rows).map(Result::unwrap).collect())
}

fn refusal(recordings: &[Vec<Row>]) -> String {
    merged(recordings).unwrap_err().to_string()
}

fn acts(rows: &[Row]) -> Vec<(u64, BTreeMap<String, crate::recording::ActInterval>)> {
    let intervals = rows.iter().filter_map(|row| if let Row::Interval(it) = row { Some(it) } else { None });
    intervals.map(|interval| (interval.from_us, interval.acts.clone())).collect()
}

fn some_samples() -> Vec<Sample> {
    (0..80).map(|nth| sample(nth, u64::from(nth) * 100_000, 50, 1_000 + u64::from(nth), true)).collect()
}

proptest! {
    // Each case writes, reads and joins nine recordings.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn eight_shards_joined_hold_the_histograms_of_one_run_of_the_same_samples(
        drawn in prop::collection::vec((0..200_u32, 0..9_000_000_u64, 0..200_000_u64, 0..900_000_u64, any::<bool>()), 1..200)
    ) {
        let samples: Vec<Sample> =
            drawn.into_iter().map(|(player, at, lag, took, ok)| sample(player, at, lag, took, ok)).collect();
        let mut recordings = shards(8, &samples);
        recordings.reverse();
        let (joint, whole) = (merged(&recordings).unwrap(), recording(None, &samples, 0));
        prop_assert_eq!(acts(&joint), acts(&whole));
        let (joint, whole) = (fixture::summarised(joint).0, fixture::summarised(whole).0);
        prop_assert_eq!(joint.acts, whole.acts);
        prop_assert_eq!((joint.failed, joint.rig.lag_us), (None, whole.rig.lag_us));
        prop_assert_eq!(joint.system, whole.system);
        prop_assert_eq!(joint.telegram, whole.telegram);
    }
}

#[test]
fn other_plans_other_counts_and_runs_that_are_whole_are_refused() {
    let mut recordings = shards(2, &some_samples());
    let whole = recording(None, &some_samples(), 0);
    assert!(refusal(&[recordings[0].clone(), whole]).contains("run 1 is no shard"));
    assert!(refusal(&[recordings[0].clone(), shards(3, &[])[1].clone()]).contains("divide the plan differently"));
    assert_eq!(refusal(&[]), "there is no recording to join");
    if let Row::Header(header) = &mut recordings[1][0] {
        header.plan_digest = "another".to_owned();
    }
    assert!(refusal(&recordings).starts_with("run 0 and run 1 are of different plans"));
}

#[test]
fn shards_that_came_to_different_protocols_are_refused_and_one_that_saw_none_is_not() {
    let mut recordings = shards(2, &some_samples());
    let mut chose = |choices: [Option<Protocol>; 2]| {
        for (rows, chosen) in recordings.iter_mut().zip(choices) {
            if let Row::Header(header) = &mut rows[0] {
                header.how.network = Some(Network { tls: true, http2: true, chosen, ..Network::default() });
            }
        }
        merged(&recordings).map(drop)
    };
    let refused = chose([Some(Protocol::Http2), Some(Protocol::Http1)]).unwrap_err().to_string();
    assert!(
        refused.starts_with("run 0 reached the system by HTTPS (HTTP/2, the system's choice) and run 1 by"),
        "{refused}"
    );
    assert_eq!(chose([Some(Protocol::Http2), None]), Ok(()));
}

#[test]
fn missing_and_double_shards_are_named() {
    let recordings = shards(4, &some_samples());
    let pick = |which: &[usize]| which.iter().map(|nth| recordings[*nth].clone()).collect::<Vec<_>>();
    assert!(refusal(&pick(&[0, 2, 3])).starts_with("shard 2 of 4 missing"));
    assert!(refusal(&pick(&[3])).starts_with("shards 1, 2, 3 of 4 missing"));
    assert!(refusal(&pick(&[0, 1, 2, 1, 3])).starts_with("run 1 and run 3 are both shard 2"));
}

#[test]
fn shards_that_did_not_begin_together_are_refused() {
    let mut recordings = shards(2, &some_samples());
    let mut shift = |us| {
        if let Row::Header(header) = &mut recordings[1][0] {
            header.epoch_unix_us += us;
        }
        merged(&recordings).map(drop)
    };
    assert_eq!(shift(1_000), Ok(()));
    assert!(shift(2_999_000).unwrap_err().to_string().contains("did not begin together (3000 ms apart)"));
}

#[test]
fn a_joint_run_is_invalid_if_any_of_its_rigs_was_the_limit() {
    let mut samples = some_samples();
    // One act of the third shard leaves two seconds late.
    samples[2] = sample(2, 0, 2_000_000, 1_000, true);
    let (summary, _) = fixture::summarised(merged(&shards(4, &samples)).unwrap());
    let verdict = judge(&summary, &summary.header.budgets);
    assert_eq!(verdict.kind(), VerdictKind::Invalid);
    let said = crate::headline(&summary, &verdict);
    assert!(said.starts_with("invalid: shard 3/4: the rig stood still"), "{said}");
}

#[test]
fn a_shard_that_was_killed_makes_the_whole_partial_and_one_that_failed_says_which() {
    let mut recordings = shards(2, &some_samples());
    let seal = recordings[1].pop();
    assert!(fixture::summarised(merged(&recordings).unwrap()).0.partial);
    let Some(Row::Seal(seal)) = seal else { panic!("the last row is the seal") };
    recordings[1].push(Row::Seal(Seal { failed: Some("no timer".to_owned()), ..seal }));
    let (summary, _) = fixture::summarised(merged(&recordings).unwrap());
    assert_eq!(summary.failed.as_deref(), Some("shard 2/2: no timer"));
}

#[test]
fn the_connections_of_all_rigs_tell_what_was_spoken() {
    let mut recordings = shards(2, &some_samples());
    for (rows, (http1, http2)) in recordings.iter_mut().zip([(2, 3), (4, 1)]) {
        if let Some(Row::Seal(seal)) = rows.last_mut() {
            seal.spoken = Spoken { http1, http2 };
        }
    }
    let (summary, _) = fixture::summarised(merged(&recordings).unwrap());
    assert_eq!(summary.header.how.network.unwrap().spoken, Some(Spoken { http1: 6, http2: 4 }));
}

#[test]
fn a_note_of_another_rig_is_told_under_its_name_and_at_the_joint_time() {
    let mut recordings = shards(2, &some_samples());
    let note = Event { at_us: 3_123_457, kind: EventKind::Note, text: "out of files".to_owned() };
    recordings[1].insert(1, Row::Event(note));
    let joint = merged(&recordings).unwrap();
    let expected = Event { at_us: 3_000_000, kind: EventKind::Note, text: "shard 2/2: out of files".to_owned() };
    assert!(joint.contains(&Row::Event(expected)));
}

#[test]
fn one_shard_by_itself_is_not_judged_by_the_budgets_of_the_whole() {
    let mut recordings = shards(2, &some_samples());
    if let Row::Header(header) = &mut recordings[1][0] {
        header.budgets.memory = Some(bytesize::ByteSize::b(1));
    }
    let (summary, _) = fixture::summarised(recordings[1].clone());
    let verdict = judge(&summary, &summary.header.budgets);
    assert_eq!(
        crate::headline(&summary, &verdict),
        "pass: shard 2/2 was driven; `floodrig merge` joins all 2 and judges the budgets"
    );
    assert_eq!(crate::json_line(&summary, &verdict, &[]).matches("\"throttled\":null").count(), 1);
}

#[test]
fn what_nobody_counted_cannot_keep_a_budget() {
    let mut rows = fixture::rows();
    if let Row::Header(header) = &mut rows[0] {
        header.observations.calls = "inactive: the stub is another rig's".to_owned();
    }
    let (summary, _) = fixture::summarised(rows);
    assert_eq!(judge(&summary, &summary.header.budgets).kind(), VerdictKind::Invalid);
}
