//! [`File`] -> [`Scenario`]: whether the values make sense, each by itself and all together.
//!
//! A value at fault is complained of and replaced by a harmless one, so that the rest is checked as well; with
//! a single complaint the scenario is thrown away.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use floodrig_reports::Budgets;
use floodrig_stub::Limits;
use toml::de::{DeTable, DeValue};

use super::complaint::{Complaint, did_you_mean, settle};
use super::file::{ExpectTable, File};
use super::spot::Spot;
use super::{
    Arrivals, Crowd, Expect, Heartbeat, Journey, Ready, Scenario, Source, System, Unseen, crowd, event, journey, lists,
    needs, service, step, system, words,
};

/// The name of a run's folder holds those of the scenario and the variant and a time of 17 bytes; Linux allows
/// it 255 (`NAME_MAX`).
const LONGEST_NAME: usize = 100;

const LETTERS: &str = "letters, digits, `-` and `_`";

/// What becomes of the name of a scenario and of a variant.
pub(super) const A_FOLDER: &str = "it becomes part of the name of a folder";

/// What a soak takes; and every planned instant stays far inside the 64-bit nanoseconds of a plan.
pub(super) const LONGEST_RUN: Duration = Duration::from_secs(24 * 60 * 60);

/// Checks a file, whose values stand in this table.
pub(super) fn scenario(
    file: File,
    table: &DeTable<'_>,
    source: Source,
    variant: Option<&str>,
) -> Result<Scenario, Vec<Complaint>> {
    let mut complaints = Vec::new();
    let top = |name: &str| Spot::top(table, name);
    complaints.extend(bad_name(&file.name, A_FOLDER, top("name").span()));
    let needs = needs::checked(&file.needs, &top("needs"), &mut complaints);
    let waits_by_default = file.system.ready.is_none();
    let placeholders = service::placeholders(&file.service);
    let mut system = system::checked(file.system, &placeholders, &top("system"), &source.path, &mut complaints);
    service::beside(system.attach.as_ref(), &file.service, &top("service"), &mut complaints);
    let services = service::checked(file.service, &placeholders, &top("service"), &mut complaints);
    let crowd = crowd::checked(&file.crowd, &source.path, &top("crowd"), &mut complaints);
    let lists = lists::checked(file.words, &source.path, &top("words"), &mut complaints);
    let world = journey::World { scenario: &source.path, arrive: crowd.arrive.as_ref(), lists: &lists };
    let journeys = journey::checked(file.journey, &world, &top("journey"), &mut complaints);
    shared(&crowd, &journeys, &top("crowd").key("arrive"), &mut complaints);
    if waits_by_default && journeys.iter().all(|journey| journey.steps.iter().all(step::is_to_bot)) {
        // Nothing of the scenario asks that the system listen anywhere.
        system.ready = Ready::Bot;
    }
    stalls(&system, &top("budgets"), &mut complaints);
    enough_indices(&crowd, &journeys, &top("crowd"), &mut complaints);
    budgets(&file.budgets, &journeys, &top("budgets"), &mut complaints);
    let events = event::checked(&file.event, &system, &top("event"), &mut complaints);
    event::budgets(&file.budgets, (&events, crowd.idle), &journeys, &top("budgets"), &mut complaints);
    units(&top("budgets").key("memory"), &mut complaints);
    units(&top("budgets").key("recovery").key("memory"), &mut complaints);
    units(&top("system").key("memory"), &mut complaints);
    for rate in ["upload_bytes_per_second", "upload_bytes_per_second_in_all"] {
        units(&top("telegram").key(rate), &mut complaints);
    }
    waits(&file.telegram, &top("telegram"), &mut complaints);
    rules(&file.telegram, &top("telegram").key("rules"), &mut complaints);
    let scenario = Scenario {
        name: file.name,
        about: file.about,
        seed: file.seed,
        needs,
        system,
        services,
        telegram: file.telegram,
        crowd,
        journeys,
        events,
        budgets: file.budgets,
        variant: variant.map(str::to_owned),
        expect: file.expect.map(|ExpectTable { verdict, findings }| Expect { verdict, findings }),
        source,
    };
    settle(scenario, complaints)
}

/// What is wrong with a name of letters, digits, `-` and `_`: `because` something becomes of it.
pub(super) fn bad_name(name: &str, because: &str, span: Range<usize>) -> Option<Complaint> {
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    if name.is_empty() {
        return Some(Complaint::new(span, "there is no name", format!("use {LETTERS}")));
    }
    if !name.chars().all(fits) {
        let help = format!("use {LETTERS}: {because}");
        return Some(Complaint::new(span, format!("`{name}` cannot be a name"), help));
    }
    let long = name.len() > LONGEST_NAME;
    let says = format!("a name of {} bytes is too long", name.len());
    long.then(|| Complaint::new(span, says, format!("use at most {LONGEST_NAME}")))
}

/// Complains of a duration that is zero, or longer than the longest run.
pub(super) fn positive(value: Duration, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if value.is_zero() {
        complaints.push(spot.complain("no time at all", "write a longer one, such as \"10s\""));
    }
    bounded(value, spot, complaints);
}

/// Complains of a duration that is longer than the longest run.
pub(super) fn bounded(value: Duration, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if value > LONGEST_RUN {
        complaints.push(spot.complain("longer than a day", "a run lasts a day at most"));
    }
}

/// Arrivals that no journey shares are nobody's.
fn shared(crowd: &Crowd, journeys: &[Journey], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let sharing = journeys.iter().any(|journey| matches!(journey.arrive, Arrivals::Shared { .. }));
    if crowd.arrive.is_some() && !sharing {
        let help = "drop it, or the `arrive` of a journey that is to share it";
        complaints.push(spot.complain_of_key("every journey has arrivals of its own", help));
    }
}

/// A plan is held in memory, at least 72 bytes for a visit of one act: this many take as much as a small server has, 4 GB.
pub(super) const MOST_VISITS: u64 = 50_000_000;

fn enough_indices(crowd: &Crowd, journeys: &[Journey], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let players = u64::from(crowd.groups) * u64::from(crowd.players_per_group);
    let own = journeys.iter().filter_map(|journey| match &journey.arrive {
        Arrivals::Own(arrive) => Some(arrive),
        Arrivals::Shared { .. } => None,
    });
    let visits: f64 = own.chain(&crowd.arrive).map(|arrive| arrive.visits(players)).sum();
    if players > MOST_VISITS || visits > MOST_VISITS as f64 {
        let says = format!("{visits:.0} visits of {players} players are more than a plan holds");
        let help = format!("{MOST_VISITS} of each are the most: fewer groups, a lower rate or a shorter time");
        let at = if players > MOST_VISITS { spot.key("groups") } else { spot.clone() };
        complaints.push(at.complain_of_key(says, help));
    }
}

fn budgets(budgets: &Budgets, journeys: &[Journey], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if budgets.stall.is_some_and(|stall| stall < Budgets::SHORTEST_STALL) {
        let shortest = humantime::format_duration(Budgets::SHORTEST_STALL);
        let says = format!("a stall shorter than {shortest} is not told from an ordinary delay");
        complaints.push(spot.key("stall").complain(says, format!("allow at least \"{shortest}\"")));
    }
    let steps = || journeys.iter().flat_map(|journey| &journey.steps);
    let acts: BTreeSet<&str> = steps().map(|step| step.act.as_str()).filter(|act| !act.is_empty()).collect();
    for (act, at) in spot.key("latency").entries() {
        if !acts.contains(act) {
            let known: Vec<&str> = acts.iter().copied().collect();
            complaints.push(at.complain_of_key(format!("there is no act `{act}`"), did_you_mean(act, &known)));
        }
    }
    if budgets.late.is_some() && budgets.staleness.is_none() {
        let help = "add `staleness`: an effect is late when it is older than that";
        complaints.push(spot.key("late").complain_of_key("late by what?", help));
    }
    if steps().all(|step| step.shows.is_none()) {
        for (key, at) in spot.entries().iter().filter(|(key, _)| matches!(*key, "lost" | "late" | "staleness")) {
            let says = format!("`{key}` cannot be measured: no step shows anything");
            complaints.push(at.complain_of_key(says, "add `shows = { chat = \"{chat.id}\" }` to a step"));
        }
    }
}

/// A budget on what neither a loop's own word nor a look from outside can tell would make every run invalid.
fn stalls(system: &System, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let is_started_here = system.attach.is_none();
    if is_started_here && system.heartbeat != Heartbeat::Off {
        return;
    }
    let Some(Unseen { why, help }) = system.unseen_outside() else { return };
    for (_, at) in spot.entries().iter().filter(|(key, _)| *key == "stall") {
        let says = format!("`stall` cannot be measured: there is no heartbeat of its loop, and {why}");
        let help = if is_started_here { format!("leave `heartbeat` on, or {help}") } else { help.to_owned() };
        complaints.push(at.complain_of_key(says, help));
    }
}

/// A ceiling's times are none that outlast the longest run.
fn waits(limits: &Limits, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let waits = [
        ("slow_mode", limits.slow_mode),
        ("penalty_growth", limits.penalty_growth),
        ("answer_time", *limits.answer_time.end()),
        ("poll_batch", limits.poll_batch),
        ("upload_time", *limits.upload_time.end()),
        ("upload_retry_after", *limits.upload_retry_after.end()),
    ];
    for (key, longest) in waits {
        bounded(longest, &spot.key(key), complaints);
    }
}

/// A rule without a span would refuse nothing or everything.
fn rules(limits: &Limits, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    for (nth, rule) in limits.rules.iter().enumerate() {
        let at = spot.item(nth);
        positive(rule.window, &at.key("window"), complaints);
        if rule.families.is_empty() {
            complaints
                .push(at.key("families").complain("this rule counts nothing", "name a family, such as \"sends\""));
        }
    }
}

/// A size without its unit is read as bytes by its type; a person who wrote 400 meant something else.
fn units(spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let number = match spot.value() {
        Some(DeValue::Integer(number)) => number.to_string(),
        Some(DeValue::Float(number)) => number.to_string(),
        Some(DeValue::String(text)) if words::is_number(text) => text.to_string(),
        Some(_) | None => return,
    };
    complaints.push(words::without_unit(spot.span(), &format!("{number}MiB"), &format!("{number}KiB")));
}
