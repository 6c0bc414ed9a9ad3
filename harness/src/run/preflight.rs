//! The pre-flight: before the load, the first act of every journey is done once, as the load will do it, and must be
//! accepted. It is the load in small, a plan of a few acts, so what passes here is what will be sent.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use floodrig_reports::recording::{Outcome, Row, Sample};

use super::telegram::Telegram;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::{Rig, bot};
use crate::drive::{Job, Pace, drive};
use crate::init_data::Signed;
use crate::plan::{Arrival, Plan, Visit};
use crate::record::{Intervals, Progress};

/// How far ahead the pre-flight's acts are planned, so that they are signed by then.
const LEAD: Duration = Duration::from_millis(50);

/// Does the first act of every journey once.
pub(super) fn check(rig: &Rig<'_>, telegram: &Telegram, system: &UnderTest) -> Result<(), Trouble> {
    let ground = rig.ground;
    let plan = Arc::new(first_acts(&ground.plan));
    let load_from = ground.clock.now() + LEAD;
    let signed = Signed::start(&rig.order.scenario, &plan, ground.bot_token, ground.epoch_unix + load_from)?;
    // Room for every interval of the longest pre-flight, and its exemplars.
    let (rows, told) = sync_channel(4096);
    let names = plan.acts.iter().map(|act| act.name.clone()).collect();
    let length = Duration::from_millis(100);
    let crowd = bot::crowd(rig, telegram.stub(), &plan)?;
    drive(Job {
        scenario: Arc::clone(&rig.order.scenario),
        plan,
        pace: Pace::Planned,
        target: ground.target.clone(),
        bot_token: ground.bot_token.to_owned(),
        signed: Arc::new(signed),
        epoch: ground.epoch,
        load_from,
        stop: rig.stop.flag(),
        crowd,
        expected: None,
        sink: Intervals::new(names, load_from, length, rows, Arc::new(Progress::default())),
    })?;
    if rig.stop.asked() {
        return Err(Trouble::Interrupted);
    }
    let samples = told.try_iter().filter_map(|row| if let Row::Exemplar(sample) = row { Some(sample) } else { None });
    let refused = samples.filter(|sample| !matches!(sample.outcome, Outcome::Ok { .. }));
    refused.min_by_key(|sample| sample.act).map_or(Ok(()), |sample| Err(explain(rig, telegram, system, &sample)))
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

fn explain(rig: &Rig<'_>, telegram: &Telegram, system: &UnderTest, sample: &Sample) -> Trouble {
    let act = &rig.ground.plan.acts[usize::from(sample.act)].name;
    let why = match sample.outcome {
        Outcome::Status(status @ (401 | 403)) => format!(
            "was answered {status}, and so would every player be: a matter of the signature check, not of load. Is the \
             initData checked with the BOT_TOKEN of its environment, over every field but `hash`, decoded once?"
        ),
        Outcome::Status(status) => format!("was answered {status}"),
        Outcome::CheckFailed => "was answered, but not with what the step captures, checks or shows".to_owned(),
        Outcome::Timeout => "was not answered in time".to_owned(),
        Outcome::Closed => "was not answered: the connection was closed".to_owned(),
        Outcome::Reset => "was not answered: the connection was reset".to_owned(),
        Outcome::Refused => "found nobody listening".to_owned(),
        Outcome::ConnectTimeout => "could not connect in time".to_owned(),
        Outcome::RigFault(fault) => return Trouble::Failed(format!("the pre-flight could not be sent: {fault:?}")),
        Outcome::Unanswered => {
            let why = telegram.stub().map(|stub| bot::why_not(rig, stub, system)).unwrap_or_default();
            format!("was not answered by any call of the bot in time: {why}")
        }
        Outcome::Ok { .. } | Outcome::Abandoned | Outcome::Skipped { .. } => "was not sent".to_owned(),
    };
    let tail = system.stderr_tail();
    let said =
        if tail.is_empty() { String::new() } else { format!("; the system's last lines:\n  {}", tail.join("\n  ")) };
    Trouble::NotReady(format!("pre-flight: `{act}` of one signed player {why}{said}"))
}
