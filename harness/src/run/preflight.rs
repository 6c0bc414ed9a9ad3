//! The pre-flight: before the load, the first act of every journey is done once, as the load will do it, and must be
//! accepted. It is the load in small, a plan of a few acts, so what passes here is what will be sent.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use floodrig_reports::recording::{Outcome, Protocol, RigFault, Row, Sample};

use super::telegram::Telegram;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::{Rig, bot, detected};
use crate::drive::{Job, Pace, Seat, Unfit, drive};
use crate::init_data::Signed;
use crate::plan::{Arrival, Plan, Visit};
use crate::record::{Intervals, Progress};

/// A bound against a hang: a journey's first act takes some 30 us to sign.
const SIGNED_WITHIN: Duration = Duration::from_secs(10);
/// How far ahead the pre-flight's acts are planned, so that their driver is up by then.
const LEAD: Duration = Duration::from_millis(50);
/// Longer than any pre-flight: it ends with the crowd's timeout, which is a day at most.
const INTERVAL: Duration = Duration::from_hours(48);

/// What the first acts came to.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// Their names, in the order of the journeys.
    pub(super) acts: Vec<String>,
    /// How long those took that succeeded, from the send.
    pub(super) took_us: BTreeMap<String, u64>,
    /// Those that did not, by name.
    pub(super) refused: Vec<(String, Sample)>,
    /// The last answer to each act that could not use it, by act.
    said: BTreeMap<u16, Vec<u8>>,
    /// What the system chose to speak, where it was left to choose.
    pub(super) chosen: Option<Protocol>,
}

/// Does the first act of every journey once, and all must be accepted.
pub(super) fn check(rig: &Rig<'_>, telegram: &Telegram, system: &UnderTest) -> Result<Visits, Trouble> {
    let visits = visit(rig, telegram)?;
    if rig.stop.asked() {
        return Err(Trouble::Interrupted);
    }
    let first = visits.refused.iter().map(|(_, sample)| sample).min_by_key(|sample| sample.act);
    match first {
        Some(sample) => {
            let answer = visits.said.get(&sample.act).map(|body| quoted(body)).unwrap_or_default();
            Err(explain(rig, telegram, system, sample, &answer))
        }
        None => Ok(visits),
    }
}

/// Does the first act of every journey once.
pub(super) fn visit(rig: &Rig<'_>, telegram: &Telegram) -> Result<Visits, Trouble> {
    let ground = rig.ground;
    let plan = Arc::new(first_acts(&ground.plan));
    let signed = Signed::start(&rig.order.scenario, &plan, ground.bot_token, ground.epoch_unix + ground.clock.now())?;
    // One player alone is in no hurry, and a rig that has not signed yet says nothing of the system.
    signed.wait(Duration::MAX, SIGNED_WITHIN);
    let load_from = ground.clock.now() + LEAD;
    let names: Vec<String> = plan.acts.iter().map(|act| act.name.clone()).collect();
    let acts: Vec<String> = plan.arrivals.iter().map(|arrival| names[usize::from(arrival.act)].clone()).collect();
    let (sink, told) = sink(names, acts.len(), load_from);
    let unfit = Unfit::default();
    let crowd = bot::crowd(rig, telegram.stub(), &plan)?;
    let driven = drive(Job {
        scenario: Arc::clone(&rig.order.scenario),
        plan,
        pace: Pace::Planned,
        // It is one player alone, and this thread goes on with other things.
        seat: Seat::default(),
        target: ground.target.clone(),
        bot_token: ground.bot_token.to_owned(),
        signed: Arc::new(signed),
        epoch: ground.epoch,
        load_from,
        stop: rig.stop.clone(),
        crowd,
        expected: None,
        unfit: Some(Arc::clone(&unfit)),
        sink,
    })?;
    let said = std::mem::take(&mut *unfit.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Visits { chosen: driven.spoken.alike(), said, ..visits(acts, told.try_iter(), &ground.plan) })
}

/// Where so many acts leave their samples: each whole, and all in one interval. There is room for all of that, because
/// nobody takes anything out before the last act has ended.
fn sink(names: Vec<String>, acts: usize, load_from: Duration) -> (Intervals, Receiver<Row>) {
    let (rows, told) = sync_channel(acts + 1);
    let progress = Arc::new(Progress::default());
    (Intervals::new(names, load_from, INTERVAL, rows, progress).keeping(acts), told)
}

fn visits(acts: Vec<String>, rows: impl Iterator<Item = Row>, plan: &Plan) -> Visits {
    let mut visits = Visits { acts, ..Visits::default() };
    for row in rows {
        if let Row::Interval(interval) = &row {
            let took = interval.acts.iter().filter_map(|(name, act)| Some((name.clone(), act.service.max_us()?)));
            visits.took_us.extend(took);
        }
        if let Row::Exemplar(sample) = row
            && !matches!(sample.outcome, Outcome::Ok)
        {
            visits.refused.push((plan.acts[usize::from(sample.act)].name.clone(), sample));
        }
    }
    visits
}

/// A plan of the first act of each journey, all due at once, each by a player of its own.
fn first_acts(plan: &Plan) -> Plan {
    let firsts = (0..).zip(&plan.acts).filter(|(_, act)| act.step == 0 && act.fault.is_none());
    let (mut visits, mut arrivals) = (Vec::new(), Vec::new());
    for (act, spec) in firsts {
        let visit = visits.len() as u32;
        let player = visit % plan.players.len().max(1) as u32;
        visits.push(Visit { at: Duration::ZERO, player, journey: spec.journey as u16, fault: None });
        arrivals.push(Arrival { at: Duration::ZERO, player, visit, act, nth: 0 });
    }
    Plan { acts: plan.acts.clone(), players: plan.players.clone(), visits, arrivals, digest: plan.digest }
}

/// As much of an answer as tells a person what it says; a character is four bytes at most.
const QUOTED: usize = 300;

/// An answer in one line; nothing where it is no text.
fn quoted(body: &[u8]) -> String {
    let cut = &body[..body.len().min(4 * QUOTED)];
    let text = match std::str::from_utf8(cut) {
        Ok(text) => text,
        // Cut in the middle of a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&cut[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "",
    };
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(QUOTED).collect();
    let more = if short.len() < line.len() || cut.len() < body.len() { " .." } else { "" };
    if short.is_empty() { String::new() } else { format!(" (`{short}{more}`)") }
}

/// What to do about a status that is not what the step expects.
fn meant_by(status: u16) -> String {
    match status {
        404 | 405 => "give the step a path and a method that the system has".to_owned(),
        300..=399 => format!(
            "redirects are not followed: give the step the path that it leads to, or write `expect_status = {status}`"
        ),
        500.. => "what the system wrote may say why".to_owned(),
        _ => format!("see to what the step sends, or write `expect_status = {status}` if that is right"),
    }
}

fn explain(rig: &Rig<'_>, telegram: &Telegram, system: &UnderTest, sample: &Sample, answer: &str) -> Trouble {
    let act = &rig.ground.plan.acts[usize::from(sample.act)].name;
    let why = match sample.outcome {
        Outcome::Status(status @ (401 | 403))
            if !rig.order.scenario.journeys.iter().any(|one| one.init_data.is_some()) =>
        {
            format!(
                "was answered {status}{answer}, and no journey sends initData: write `init_data = \"authorization\"` in it"
            )
        }
        Outcome::Status(status @ (401 | 403)) => format!(
            "was answered {status}{answer}, and so would every player be: a matter of the signature check, not of load. Is the \
             initData checked with the BOT_TOKEN of its environment, over every field but `hash`, decoded once?"
        ),
        Outcome::Status(status) => format!("was answered {status}{answer}: {}", meant_by(status)),
        Outcome::CheckFailed => format!("was answered{answer}, but not with what the step captures, checks or shows"),
        Outcome::Timeout => "was not answered in time".to_owned(),
        Outcome::TlsFailed => of_speech(rig, "connected, but could not agree on TLS").unwrap_or_else(|| {
            "connected, but could not agree on TLS: does `system.tls` name the certificate, or who signed it, and the \
             name it bears?"
                .to_owned()
        }),
        Outcome::Malformed => spoken(rig, "was answered with something that is not HTTP as `[system]` has it"),
        Outcome::Closed => spoken(rig, "was not answered: the connection was closed"),
        Outcome::Reset => spoken(rig, "was not answered: the connection was reset"),
        Outcome::Refused => "found nobody listening".to_owned(),
        Outcome::ConnectTimeout => "could not connect in time".to_owned(),
        Outcome::RigFault(fault @ RigFault::AnswerTooLong) => {
            return Trouble::Failed(format!("what `{act}` was answered could not be read: {}", fault.in_words()));
        }
        Outcome::RigFault(fault) => {
            return Trouble::Failed(format!("the pre-flight could not be sent: {}", fault.in_words()));
        }
        Outcome::Unanswered => {
            let why = telegram.stub().map(|stub| bot::why_not(rig, stub, system)).unwrap_or_default();
            format!("was not answered by any call of the bot in time: {why}")
        }
        Outcome::Ok | Outcome::Abandoned | Outcome::Stopped | Outcome::Skipped { .. } => "was not sent".to_owned(),
    };
    let tail = system.stderr_tail();
    let said =
        if tail.is_empty() { String::new() } else { format!("; the system's last lines:\n  {}", tail.join("\n  ")) };
    Trouble::NotReady(format!("pre-flight: `{act}` of one signed player {why}{said}"))
}

/// What happened, and what the system speaks where that is something else than it was asked in.
fn spoken(rig: &Rig<'_>, what: &str) -> String {
    of_speech(rig, what).unwrap_or_else(|| what.to_owned())
}

fn of_speech(rig: &Rig<'_>, what: &str) -> Option<String> {
    detected::advice(rig).map(|advice| format!("{what}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::by_hand::{SECOND, journey, scenario, step};
    use crate::plan::plan;
    use crate::scenario::{Arrive, Journey};

    #[test]
    fn a_status_that_was_not_expected_says_what_to_do_about_it() {
        for (status, word) in [(404, "path"), (405, "method"), (500, "wrote"), (302, "not followed"), (429, "429")] {
            assert!(meant_by(status).contains(word), "{status}: {}", meant_by(status));
        }
    }

    #[test]
    fn an_answer_is_quoted_in_one_line_of_a_bounded_length_where_it_is_text() {
        assert_eq!(quoted(b"{\n  \"error\": \"bad hash\"\n}\x1b[2J"), " (`{ \"error\": \"bad hash\" } [2J`)");
        assert_eq!(
            (quoted(b" \r\n"), quoted(b"\x89PNG\r\n"), quoted(b"")),
            (String::new(), String::new(), String::new())
        );
        let long = quoted(&"\u{20ac}".repeat(100_000).into_bytes());
        assert_eq!(long, format!(" (`{} ..`)", "\u{20ac}".repeat(QUOTED)));
    }

    /// As many journeys of one act each.
    fn journeys(count: usize) -> Vec<Journey> {
        let act = |nth| vec![step(&format!("act {nth}"), 1, Duration::ZERO..=Duration::ZERO)];
        (0..count).map(|nth| journey(Arrive::Burst { over: SECOND }, act(nth))).collect()
    }

    /// What is known of the first acts when each ended so and took so long.
    fn told(ends: &[(Outcome, Duration)]) -> Visits {
        let plan = plan(&scenario(journeys(ends.len())));
        let names: Vec<String> = plan.acts.iter().map(|act| act.name.clone()).collect();
        let (mut sink, told) = sink(names.clone(), ends.len(), Duration::ZERO);
        let zero = Duration::ZERO;
        for (act, (outcome, ended)) in (0..).zip(ends) {
            let (outcome, ended) = (*outcome, *ended);
            sink.record(&Sample {
                act,
                player: 0,
                scheduled: zero,
                free: zero,
                started: zero,
                ended,
                outcome,
                tries: 1,
                late_connect: false,
            });
        }
        sink.finish(ends.iter().map(|(_, ended)| *ended).max().unwrap_or_default());
        visits(names, told.try_iter(), &plan)
    }

    #[test]
    fn a_refusal_that_is_quicker_than_many_answers_is_seen() {
        let mut ends = vec![(Outcome::Ok, 2 * SECOND); 9];
        ends.push((Outcome::Status(401), SECOND));
        let visits = told(&ends);
        let refused: Vec<&str> = visits.refused.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((refused, visits.took_us.len()), (vec!["act 9"], 9));
    }

    #[test]
    fn a_pre_flight_of_a_day_ends_though_nobody_has_taken_its_rows() {
        let visits = told(&[(Outcome::Timeout, 86_400 * SECOND)]);
        assert_eq!(visits.refused.len(), 1);
    }
}
