//! `[[service]]`, checked.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::attach::Attach;
use super::check::{bad_name, bounded, positive};
use super::complaint::Complaint;
use super::file::{DURATION, ten_seconds, thirty_seconds};
use super::program::{Ready, command, environment, port};
use super::spot::Spot;
use super::step;
use super::template::Template;

/// Something that runs beside the system, such as a database.
#[derive(Debug, Clone)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The command that starts it.
    pub start: Vec<String>,
    /// A command that asks it to stop.
    pub stop: Option<Vec<String>>,
    /// When it counts as ready.
    pub ready: Ready,
    /// Its environment beyond the rig's own.
    pub env: BTreeMap<String, Template>,
    /// The port it listens on; nothing: a free one.
    pub port: Option<u16>,
    /// How long it may take to become ready.
    pub ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    pub stop_within: Duration,
}

/// Something that runs beside the system, on the rig's cores, such as a database.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Service")]
pub(super) struct ServiceTable {
    /// Its name, which `{service.NAME.port}` names it by.
    pub(super) name: String,
    /// The command that starts it, and its arguments; it runs where the system does, for as long as it does.
    pub(super) start: Vec<String>,
    /// A command that asks it to stop, before SIGTERM does.
    pub(super) stop: Option<Vec<String>>,
    /// What says that it is ready; by default it is ready once it accepts a connection.
    pub(super) ready: Option<ReadyTable>,
    /// Its environment beyond `PORT` and a `TMPDIR` that is removed with it; placeholders as in the system's.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The port it listens on; by default a free one.
    #[schemars(range(min = 1))]
    pub(super) port: Option<u16>,
    /// How long it may take to become ready.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    #[serde(default = "ten_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) stop_within: Duration,
}

/// What says that a service is ready.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "a sign of readiness")]
#[schemars(rename = "Ready")]
pub(super) enum ReadyTable {
    /// A path that is answered 2xx.
    Path(String),
    /// A command that exits with 0, in the service's own environment.
    Command(Vec<String>),
}

/// The placeholders of all services, as they stand between the braces.
pub(super) fn placeholders(files: &[ServiceTable]) -> Vec<String> {
    files.iter().map(|file| format!("service.{}.port", file.name)).collect()
}

/// A system that runs already was started with whatever it needs, and could not be told of a service's port.
pub(super) fn beside(
    attach: Option<&Attach>,
    files: &[ServiceTable],
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) {
    if attach.is_some() && !files.is_empty() {
        let says = "a service beside a system that runs already: it would not be used";
        let help = "leave it out, and start what the system needs with the system; or give `command` in place of `url`";
        complaints.push(spot.complain_of_key(says, help));
    }
}

/// Checks the services, in whose environments these placeholders may stand.
pub(super) fn checked(
    files: Vec<ServiceTable>,
    placeholders: &[String],
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Vec<Service> {
    let mut names = BTreeSet::new();
    let mut services = Vec::new();
    for (index, file) in files.into_iter().enumerate() {
        let spot = spot.item(index);
        if !names.insert(file.name.clone()) {
            complaints.push(spot.key("name").complain("another service has this name", "give it one of its own"));
        }
        services.push(service(file, placeholders, &spot, complaints));
    }
    services
}

fn service(file: ServiceTable, placeholders: &[String], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Service {
    let in_values = "`{service.NAME.port}` stands for its port in values";
    complaints.extend(bad_name(&file.name, in_values, spot.key("name").span()));
    command(&file.start, &spot.key("start"), complaints);
    if let Some(stop) = &file.stop {
        command(stop, &spot.key("stop"), complaints);
    }
    port(file.port, &spot.key("port"), complaints);
    positive(file.ready_within, &spot.key("ready_within"), complaints);
    bounded(file.stop_within, &spot.key("stop_within"), complaints);
    Service {
        ready: file.ready.map_or(Ready::Accepts, |sign| ready(sign, &spot.key("ready"), complaints)),
        env: environment(&file.env, placeholders, &spot.key("env"), complaints),
        name: file.name,
        start: file.start,
        stop: file.stop,
        port: file.port,
        ready_within: file.ready_within,
        stop_within: file.stop_within,
    }
}

fn ready(sign: ReadyTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Ready {
    match sign {
        ReadyTable::Path(path) => {
            step::path_stands(&path, &spot.key("path"), complaints);
            Ready::Path(path)
        }
        ReadyTable::Command(words) => {
            command(&words, &spot.key("command"), complaints);
            Ready::Command(words)
        }
    }
}
