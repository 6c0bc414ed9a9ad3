//! `[[journey]]`, checked: arrivals, the place of initData, and that acts are told apart.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::act::{Does, Step, StepTable};
use super::arrive::{Arrivals, Arrive, ArriveTable};
use super::check::{LONGEST_RUN, bad_name};
use super::complaint::Complaint;
use super::faults::{Faults, FaultsTable};
use super::lists::Lists;
use super::spot::Spot;
use super::template::Captures;
use super::{answer, arrive, faults, impatience, step, to_bot};

/// What some of the crowd do.
#[derive(Debug, Clone)]
pub struct Journey {
    /// Names it in messages.
    pub name: String,
    /// Whose arrivals its visits are.
    pub arrive: Arrivals,
    /// Where the signed initData goes; nothing: it is not sent.
    pub init_data: Option<Place>,
    /// Visits with faulty initData.
    pub faults: Option<Faults>,
    /// The acts, in order.
    pub steps: Vec<Step>,
}

/// Where the signed initData goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `Authorization: tma <initData>`.
    Authorization,
    /// A header of this name.
    Header(String),
    /// A query parameter of this name.
    Query(String),
    /// A top-level field of the JSON body of this name.
    Field(String),
}

/// What players do from opening the app on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Journey")]
pub(super) struct JourneyTable {
    /// Names it in messages.
    pub(super) name: String,
    /// How players arrive; without it, the journey shares the crowd's arrivals.
    pub(super) arrive: Option<ArriveTable>,
    /// Its weight among the journeys that share the crowd's arrivals: of two with 3 and 1, three in four arrivals are
    /// for the first. 1 when it is not said.
    #[schemars(range(min = 1))]
    pub(super) weight: Option<u32>,
    /// Where the signed initData goes; without it, it is not sent.
    pub(super) init_data: Option<PlaceTable>,
    /// Shares of visits with stale, tampered or reused initData.
    pub(super) init_data_faults: Option<FaultsTable>,
    /// What players do when an act fails, for the steps that do not say it themselves.
    pub(super) on_failure: Option<String>,
    /// The acts, in order.
    pub(super) steps: Vec<StepTable>,
}

/// Where the signed initData goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "a place for initData")]
#[schemars(rename = "Place")]
pub(super) enum PlaceTable {
    /// `Authorization: tma <initData>`.
    Authorization,
    /// A header of this name.
    Header(String),
    /// A query parameter of this name.
    Query(String),
    /// A top-level field of the JSON body of this name.
    Field(String),
}

/// What all journeys have in common.
pub(super) struct World<'a> {
    /// The scenario's file.
    pub(super) scenario: &'a Path,
    /// The crowd's own arrivals.
    pub(super) arrive: Option<&'a Arrive>,
    /// The scenario's own words.
    pub(super) lists: &'a Lists,
}

/// Checks the journeys.
pub(super) fn checked(
    files: Vec<JourneyTable>,
    world: &World<'_>,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Vec<Journey> {
    if files.is_empty() {
        complaints.push(spot.complain("nobody does anything", "add a `[[journey]]`"));
    }
    let mut acts = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut journeys = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        let spot = spot.item(index);
        not_empty(&file.name, "write what its players do", &spot.key("name"), complaints);
        if !names.insert(file.name.clone()) {
            complaints.push(spot.key("name").complain("another journey has this name", "give it one of its own"));
        }
        for (index, step) in file.steps.iter().enumerate() {
            let at = spot.key("steps").item(index).key("act");
            act_name(&step.act, acts.insert(step.act.clone()), &at, complaints);
        }
        journeys.push(journey(file, world, &spot, complaints));
    }
    journeys
}

fn act_name(name: &str, is_new: bool, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if !is_new {
        complaints.push(spot.complain(format!("another act is named `{name}`"), "give it a name of its own"));
    }
    complaints.extend(bad_name(name, "budgets and reports name it so", spot.span()));
}

fn journey(file: JourneyTable, world: &World<'_>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Journey {
    if file.steps.is_empty() {
        complaints.push(spot.key("steps").complain("nobody does anything", "add a step"));
    }
    let init_data = file.init_data.map(|place| place_of_init_data(place, &spot.key("init_data"), complaints));
    let on_failure = file.on_failure.map(|text| impatience::checked(&text, &spot.key("on_failure"), complaints));
    let mut captures = Captures { lists: world.lists.clone(), ..Captures::default() };
    captures.ever.extend(file.steps.iter().flat_map(|step| step.capture.keys().cloned()));
    let mut steps = Vec::new();
    for (index, mut step) in file.steps.into_iter().enumerate() {
        let at = spot.key("steps").item(index);
        let when = step.when.take();
        let mut step = step::checked(step, on_failure.unwrap_or_default(), &at, &mut captures, complaints);
        step.when = when.and_then(|when| answer::when(&when, &at.key("when"), &steps, complaints));
        step::room_for_init_data(&step, init_data.as_ref(), &at, complaints);
        to_bot::possible(&step, index == 0, &at, complaints);
        steps.push(step);
    }
    one_websocket(&steps, &spot.key("steps"), complaints);
    let own = file.arrive.map(|own| arrive::checked(&own, world.scenario, &spot.key("arrive"), complaints));
    let over = own.as_ref().or(world.arrive).map_or(Duration::ZERO, Arrive::over);
    if over.saturating_add(thinking(&steps)) > LONGEST_RUN {
        complaints.push(spot.key("steps").complain_of_key("this takes longer than a day", "a run lasts a day at most"));
    }
    let arrive = arrivals(own, file.weight, world, spot, complaints);
    let at = spot.key("init_data_faults");
    let faults = file.init_data_faults.map(|faults| faults::checked(faults, &arrive, &at, complaints));
    if faults.is_some() && init_data.is_none() {
        let help = "add `init_data = \"authorization\"`, or wherever the system reads it from";
        complaints.push(at.complain_of_key("this journey sends no initData", help));
    }
    Journey { name: file.name, arrive, init_data, faults, steps }
}

/// A journey has arrivals of its own, or shares the crowd's.
fn arrivals(
    own: Option<Arrive>,
    weight: Option<u32>,
    world: &World<'_>,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Arrivals {
    if weight == Some(0) {
        complaints.push(spot.key("weight").complain("never drawn", "write at least 1, or drop the journey"));
    }
    if own.is_some() && weight.is_some() {
        let says = "a weight is a share of the crowd's arrivals, and this journey has its own";
        complaints.push(spot.key("weight").complain_of_key(says, "drop `weight`, or the journey's `arrive`"));
    }
    match own {
        Some(own) => Arrivals::Own(own),
        None if world.arrive.is_some() => Arrivals::Shared { weight: weight.unwrap_or(1).max(1) },
        None => {
            let help = "add `arrive.burst.over = \"60s\"`, or give the crowd an `arrive` that its journeys share";
            complaints.push(spot.complain("nobody arrives for this journey", help));
            Arrivals::Shared { weight: 1 }
        }
    }
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
    let of_step = |step: &Step| step.think.longest().saturating_mul(u32::from(step.repeat));
    steps.iter().map(of_step).fold(Duration::ZERO, Duration::saturating_add)
}

fn place_of_init_data(file: PlaceTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Place {
    match file {
        PlaceTable::Authorization => Place::Authorization,
        PlaceTable::Header(name) => {
            step::header_name(&name, &spot.key("header"), complaints);
            Place::Header(name)
        }
        PlaceTable::Query(name) => {
            not_empty(&name, READ_BY, &spot.key("query"), complaints);
            Place::Query(name)
        }
        PlaceTable::Field(name) => {
            not_empty(&name, READ_BY, &spot.key("field"), complaints);
            Place::Field(name)
        }
    }
}

const READ_BY: &str = "write the name that the system reads initData from";

fn not_empty(name: &str, help: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if name.is_empty() {
        complaints.push(spot.complain("it needs a name", help));
    }
}
