//! `[[service]]`, checked.

use std::collections::BTreeSet;

use super::check::{bad_name, bounded, positive};
use super::complaint::Complaint;
use super::file::{ReadyTable, ServiceTable};
use super::spot::Spot;
use super::system::{command, environment};
use super::{Attach, Ready, Service, step};

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
    complaints.extend(bad_name(&file.name, spot.key("name").span()));
    command(&file.start, &spot.key("start"), complaints);
    if let Some(stop) = &file.stop {
        command(stop, &spot.key("stop"), complaints);
    }
    if file.port == Some(0) {
        complaints.push(spot.key("port").complain("no one listens on port 0", "leave `port` out for a free one"));
    }
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
