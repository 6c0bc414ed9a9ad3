//! `[[journey]]`, checked: arrivals, the place of initData, and that acts are told apart.

use std::collections::BTreeSet;
use std::time::Duration;

use super::check::{LONGEST_RUN, bad_name, positive};
use super::complaint::Complaint;
use super::file::{ArriveTable, JourneyTable, PlaceTable};
use super::spot::Spot;
use super::template::Captures;
use super::{Arrive, Does, Journey, Place, Step, step, to_bot};

/// Checks the journeys.
pub(super) fn checked(files: Vec<JourneyTable>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Vec<Journey> {
    if files.is_empty() {
        complaints.push(spot.complain("nobody does anything", "add a `[[journey]]`"));
    }
    let mut acts = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut journeys = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        let spot = spot.item(index);
        if !names.insert(file.name.clone()) {
            complaints.push(spot.key("name").complain("another journey has this name", "give it one of its own"));
        }
        for (index, step) in file.steps.iter().enumerate() {
            let at = spot.key("steps").item(index).key("act");
            act_name(&step.act, acts.insert(step.act.clone()), &at, complaints);
        }
        journeys.push(journey(file, &spot, complaints));
    }
    journeys
}

fn act_name(name: &str, is_new: bool, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !is_new {
        complaints.push(spot.complain(format!("another act is named `{name}`"), "give it a name of its own"));
    }
    complaints.extend(bad_name(name, spot.span()));
}

fn journey(file: JourneyTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Journey {
    if file.steps.is_empty() {
        complaints.push(spot.key("steps").complain("nobody does anything", "add a step"));
    }
    let init_data = file.init_data.map(|place| place_of_init_data(place, &spot.key("init_data"), complaints));
    let mut captures = Captures::default();
    captures.ever.extend(file.steps.iter().flat_map(|step| step.capture.keys().cloned()));
    let mut steps = Vec::new();
    for (index, step) in file.steps.into_iter().enumerate() {
        let at = spot.key("steps").item(index);
        let step = step::checked(step, &at, &mut captures, complaints);
        step::room_for_init_data(&step, init_data.as_ref(), &at, complaints);
        to_bot::possible(&step, index == 0, &at, complaints);
        steps.push(step);
    }
    one_websocket(&steps, &spot.key("steps"), complaints);
    let arrive = arrive(&file.arrive, &spot.key("arrive"), complaints);
    if arrive.over().saturating_add(thinking(&steps)) > LONGEST_RUN {
        complaints.push(spot.key("steps").complain_of_key("this takes longer than a day", "a run lasts a day at most"));
    }
    Journey { name: file.name, arrive, init_data, steps }
}

/// A visit has one WebSocket, so all steps name the same.
fn one_websocket(steps: &[Step], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let mut first = None;
    for (index, step) in steps.iter().enumerate() {
        let Does::Converse(conversation) = &step.does else { continue };
        if *first.get_or_insert(&conversation.path) != &conversation.path {
            let help = "write the same path in every step, or make it another journey";
            complaints.push(spot.item(index).key("websocket").complain("a visit has one WebSocket", help));
        }
    }
}

/// How long the slowest player thinks in all.
fn thinking(steps: &[Step]) -> Duration {
    let of_step = |step: &Step| step.think.end().saturating_mul(u32::from(step.repeat));
    steps.iter().map(of_step).fold(Duration::ZERO, Duration::saturating_add)
}

fn arrive(file: &ArriveTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Arrive {
    match file {
        ArriveTable::Burst(burst) => {
            positive(burst.over, &spot.key("burst").key("over"), complaints);
            Arrive::Burst { over: burst.over }
        }
        ArriveTable::Constant(steady) => {
            let spot = spot.key("constant");
            rates(&[("rate", steady.rate)], steady.over, &spot, complaints);
            Arrive::Constant { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Poisson(steady) => {
            let spot = spot.key("poisson");
            rates(&[("rate", steady.rate)], steady.over, &spot, complaints);
            Arrive::Poisson { rate: steady.rate, over: steady.over }
        }
        ArriveTable::Ramp(ramp) => {
            let spot = spot.key("ramp");
            rates(&[("from", ramp.from), ("to", ramp.to)], ramp.over, &spot, complaints);
            Arrive::Ramp { from: ramp.from, to: ramp.to, over: ramp.over }
        }
    }
}

/// A single rate must be above zero; of the two ends of a ramp, one may be zero.
fn rates(rates: &[(&str, f64)], over: Duration, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    positive(over, &spot.key("over"), complaints);
    for (key, rate) in rates {
        if !rate.is_finite() || *rate < 0.0 {
            let help = "write how many arrive in a second, such as 50";
            complaints.push(spot.key(key).complain(format!("{rate} is no rate"), help));
            return;
        }
    }
    let arrivals = rates.iter().map(|(_, rate)| rate).sum::<f64>() / rates.len() as f64 * over.as_secs_f64();
    if arrivals < 1.0 {
        let at = spot.key(rates[0].0);
        complaints.push(at.complain("nobody would come", "raise the rate, or let it last longer"));
    }
}

fn place_of_init_data(file: PlaceTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Place {
    match file {
        PlaceTable::Authorization => Place::Authorization,
        PlaceTable::Header(name) => {
            step::header_name(&name, &spot.key("header"), complaints);
            Place::Header(name)
        }
        PlaceTable::Query(name) => {
            not_empty(&name, &spot.key("query"), complaints);
            Place::Query(name)
        }
        PlaceTable::Field(name) => {
            not_empty(&name, &spot.key("field"), complaints);
            Place::Field(name)
        }
    }
}

fn not_empty(name: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if name.is_empty() {
        complaints.push(spot.complain("it needs a name", "write the name that the system reads initData from"));
    }
}
