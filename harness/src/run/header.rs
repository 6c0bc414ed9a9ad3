//! The first line of the recording: what is run, on what, and how the numbers are taken.

use std::collections::BTreeMap;

use floodrig_reports::recording::{Cores, Header, How, InitDataFault, Observations};

use super::ground::Ground;
use super::telegram::Telegram;
use super::{Order, bot};
use crate::plan::Plan;
use crate::record::{interval_length, nothing_watched, of_plan};
use crate::scenario::{Fault, Scenario};

/// The header as far as it is known before the system is up.
pub(super) fn of_run(order: &Order, ground: &Ground, telegram: &Telegram) -> Header {
    let scenario = &order.scenario;
    let plan = of_plan(scenario, &ground.plan);
    let mut planned = plan.planned.clone();
    for arrival in &ground.plan.arrivals {
        *planned.entry(ground.plan.acts[usize::from(arrival.act)].name.clone()).or_default() += 1;
    }
    let shared = ground.cores.shared();
    Header {
        scenario_path: scenario.source.path.display().to_string(),
        variant: scenario.variant.clone(),
        planned,
        must_refuse: must_refuse(scenario, &ground.plan),
        epoch_unix_us: ground.epoch_unix.as_micros() as u64,
        interval_us: interval_length(ground.load_length).as_micros() as u64,
        cores: Cores {
            system: ground.cores.system.clone(),
            rig: ground.cores.rig.clone(),
            shared,
            note: ground.cores.note.clone(),
        },
        how: how(order, telegram.ceilings(), plan.how.clone()),
        observations: observations(order, telegram),
        budgets: scenario.budgets.clone(),
        judge_latency: !shared && !order.quick,
        not_judged: not_judged(shared, order.quick),
        repeat_with: order.repeat_with.clone(),
        shard: order.places.shard,
        ..plan
    }
}

/// The acts that succeed when they are refused.
fn must_refuse(scenario: &Scenario, plan: &Plan) -> BTreeMap<String, InitDataFault> {
    let fault = |fault| match fault {
        Fault::Stale => InitDataFault::Stale,
        Fault::Tampered => InitDataFault::Tampered,
        Fault::Reused => InitDataFault::Reused,
    };
    let refused = plan.acts.iter().filter(|act| act.refusal(scenario).is_some());
    refused.filter_map(|act| Some((act.name.clone(), fault(act.fault?)))).collect()
}

/// The cores as they are. A system that was not started here may be on the rig's own, and nothing is then known of
/// what the two cost each other.
pub(super) fn cores_seen(header: &mut Header, cores: Cores, order: &Order) {
    if order.places.attach.is_some() && cores.shared {
        header.judge_latency = false;
        header.not_judged = not_judged(true, order.quick);
    }
    header.cores = cores;
}

fn how(order: &Order, ceilings: Vec<String>, of_plan: How) -> How {
    How {
        settle_ms: order.scenario.crowd.settle.as_millis() as u64,
        connections: ways(of_plan.connections, &order.scenario),
        ceilings,
        quick: order.quick,
        ..of_plan
    }
}

/// How acts go to the system and when they end.
fn ways(wire: String, scenario: &Scenario) -> String {
    if bot::is_spoken_to(scenario) {
        format!(
            "{wire}; an act towards the bot ends when the stub accepts the send, edit or answerCallbackQuery that answers it"
        )
    } else {
        wire
    }
}

fn not_judged(shared: bool, quick: bool) -> Option<String> {
    match (shared, quick) {
        (true, _) => Some("the rig and the system share a core".to_owned()),
        (false, true) => Some("a quick run on a machine that may be shared".to_owned()),
        (false, false) => None,
    }
}

/// Whether deliveries are watched, once there is a load.
pub(super) fn deliveries(scenario: &Scenario, telegram: &Telegram) -> String {
    let shows = scenario.journeys.iter().flat_map(|journey| &journey.steps).any(|step| step.shows.is_some());
    if shows && telegram.stub().is_none() {
        return telegram.calls();
    }
    if shows { "active" } else { "inactive: no act of the scenario shows anything" }.to_owned()
}

/// What is watched in every run; the load says the rest once it begins.
fn observations(order: &Order, telegram: &Telegram) -> Observations {
    Observations {
        cgroup: "inactive: no limit of memory or CPU is set".to_owned(),
        outbound: "inactive: the system's own connections are not watched".to_owned(),
        isolate: if order.isolated {
            "active: a network of the run's own, from which nothing outside can be reached"
        } else {
            "inactive: not asked for (--isolate)"
        }
        .to_owned(),
        calls: telegram.calls(),
        ..nothing_watched("the run did not come that far")
    }
}
