//! What the first line of every recording says, whatever else was there beside the plan that was driven.

use floodrig_reports::recording::{FORMAT, Header, How, Observations, Versions};

use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::{exchange, vitals};

/// The header of a plan that nothing is known of yet but the scenario.
pub fn of_plan(scenario: &Scenario, plan: &Plan) -> Header {
    let crowd = &scenario.crowd;
    let acts: Vec<String> = plan.acts.iter().map(|act| act.name.clone()).collect();
    Header {
        format: FORMAT,
        scenario: scenario.name.clone(),
        about: scenario.about.clone(),
        scenario_text: scenario.source.text.clone(),
        seed: scenario.seed,
        plan_digest: hex::encode(plan.digest),
        planned: acts.iter().map(|act| (act.clone(), 0)).collect(),
        acts,
        machine: vitals::machine(),
        versions: Versions { floodrig: env!("CARGO_PKG_VERSION").to_owned() },
        how: How {
            connect_timeout_ms: crowd.connect_timeout.as_millis() as u64,
            timeout_ms: crowd.timeout.as_millis() as u64,
            connections: crowd.connections.in_words().to_owned(),
            network: Some(scenario.network()),
            ..How::default()
        },
        ..Header::default()
    }
}

/// Where nothing is watched, for this reason, but the connections themselves.
pub fn nothing_watched(because: &str) -> Observations {
    let inactive = || format!("inactive: {because}");
    Observations {
        heartbeat: inactive(),
        black_box: inactive(),
        bare_connects: inactive(),
        proc: inactive(),
        listen_queue: inactive(),
        tcp_info: exchange::tcp_info(),
        cgroup: inactive(),
        outbound: inactive(),
        deliveries: inactive(),
        redirect: inactive(),
        lookout: inactive(),
        isolate: inactive(),
        calls: inactive(),
    }
}
