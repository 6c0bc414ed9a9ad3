//! The bot's side of a run: its users for whoever drives, and what is said when it does not answer them.

use std::sync::Arc;

use floodrig_reports::recording::EventKind;
use floodrig_stub::{Crowd, Stub};

use super::load::event;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::{Rig, turned};
use crate::drive::Driven;
use crate::plan::Plan;
use crate::scenario::{Does, Scenario};

/// What is heard for each planned act, its own end, that the bot has it in hand and the calls of a talkative bot, beside [`HEARD_AT_LEAST`]. The
/// driving thread empties the queue whenever it runs; room is taken only as it is needed.
const HEARD_PER_ACT: usize = 5;
const HEARD_AT_LEAST: usize = 4096;

/// The bot's users, if acts of the scenario are theirs.
pub(super) fn crowd(rig: &Rig<'_>, stub: Option<&Arc<Stub>>, plan: &Plan) -> Result<Option<Crowd>, Trouble> {
    let Some(stub) = stub.filter(|_| is_spoken_to(&rig.order.scenario)) else { return Ok(None) };
    // Everyone does one thing at a time.
    let orders = plan.players.len().max(1);
    let heard = plan.arrivals.len() * HEARD_PER_ACT + HEARD_AT_LEAST;
    let crowd = stub.crowd(rig.ground.bot_token, orders, heard);
    crowd.map(Some).map_err(Trouble::failed("play the bot's users"))
}

/// Whether any act is towards the bot.
pub fn is_spoken_to(scenario: &Scenario) -> bool {
    let mut steps = scenario.journeys.iter().flat_map(|journey| &journey.steps);
    steps.any(|step| matches!(step.does, Does::Bot(_)))
}

/// What the pre-flight has shown.
pub(super) fn passed(scenario: &Scenario) -> &'static str {
    let mut firsts = scenario.journeys.iter().filter_map(|journey| journey.steps.first());
    if firsts.all(|step| matches!(step.does, Does::Bot(_))) {
        "pre-flight: the bot answered"
    } else {
        "pre-flight: a signed player was accepted"
    }
}

/// Why the bot may not have answered.
pub(super) fn why_not(rig: &Rig<'_>, stub: &Stub, system: &UnderTest) -> String {
    let seen = stub.attendance();
    if seen.calls == 0 {
        return turned::advice(rig, stub, system);
    }
    let calls = seen.calls;
    if !seen.asked_for_updates {
        return format!(
            "{calls} calls reached the stub, and neither getUpdates nor setWebhook was among them: does the bot poll?"
        );
    }
    match stub.webhook_trouble(rig.ground.bot_token) {
        Some((says, waiting)) => format!("its webhook last failed with \"{says}\", and {waiting} updates wait for it"),
        None => format!("{calls} calls reached the stub, and none was a message, an edit or an answer to the act"),
    }
}

/// What a reader of the report should know of a bot that did not answer, or was not heard.
pub(super) fn note(rig: &Rig<'_>, stub: &Stub, system: &UnderTest, driven: &Driven) {
    if !is_spoken_to(&rig.order.scenario) {
        return;
    }
    let tell = |text: &str| event(rig, driven.ended, EventKind::Note, text);
    let seen = stub.attendance();
    let trouble = stub.webhook_trouble(rig.ground.bot_token);
    if seen.calls == 0 || !seen.asked_for_updates || trouble.is_some() {
        tell(&format!("the bot: {}", why_not(rig, stub, system)));
    }
    if driven.bot.unwanted > 0 {
        let text = format!(
            "the bot did not take {} updates: its allowed_updates leave them out, or its inbox is full",
            driven.bot.unwanted
        );
        tell(&text);
    }
    if driven.bot.dropped > 0 {
        let text = format!(
            "{} notices of what the bot did found their queue full, so acts without an answer are the rig's own faults",
            driven.bot.dropped
        );
        tell(&text);
    }
}
