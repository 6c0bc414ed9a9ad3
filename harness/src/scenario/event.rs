//! `[[event]]`: what happens to the system in the middle of the load, by the scenario's own order.

use std::time::Duration;

use floodrig_reports::Budgets;
use schemars::JsonSchema;
use serde::Deserialize;

use super::check::bounded;
use super::complaint::Complaint;
use super::file::DURATION;
use super::spot::Spot;
use super::{Journey, System, step};

/// Something that the rig does to the system at an instant of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, since the start of the load.
    pub at: Duration,
    /// What.
    pub deed: Deed,
}

/// What the rig does to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`terminate`")]
pub enum Deed {
    /// SIGTERM to its whole process tree, SIGKILL to what is left after `stop_within`. It is not started again.
    Terminate,
}

/// Something that the rig does to the system in the middle of the load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Event")]
pub(super) struct EventTable {
    /// When, since the start of the load.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    at: Duration,
    /// What.
    #[serde(rename = "do")]
    deed: Deed,
}

/// How long the system is left alone where the scenario does not say it: time for a queue to empty and for a garbage
/// collection, and what a player who comes back a little later would meet.
pub(super) const IDLE: Duration = Duration::from_secs(10);

/// Checks the events against the system that they happen to.
pub(super) fn checked(
    file: &[EventTable],
    system: &System,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Vec<Event> {
    for (nth, event) in file.iter().enumerate() {
        let at = spot.item(nth);
        bounded(event.at, &at.key("at"), complaints);
        if system.attach.is_some() {
            let help = "drop it, or let `command` start the system in place of `url`";
            complaints.push(at.key("do").complain("the rig does not end what it has not started", help));
        }
        if file[..nth].iter().any(|earlier| earlier.deed == event.deed) {
            complaints.push(at.key("do").complain("the system is stopped twice", "keep one of them: it ends for good"));
        }
    }
    file.iter().map(|event| Event { at: event.at, deed: event.deed }).collect()
}

/// Complains of budgets on what cannot be measured with these events.
pub(super) fn budgets(
    budgets: &Budgets,
    (events, idle): (&[Event], Option<Duration>),
    journeys: &[Journey],
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) {
    let stops = events.iter().any(|event| event.deed == Deed::Terminate);
    let mut complain = |spot: &Spot<'_>, says: &str, help: &str| complaints.push(spot.complain_of_key(says, help));
    for (_, at) in spot.key("recovery").entries() {
        if stops {
            complain(&at, "the system cannot recover: an event stops it", "drop it, or the event");
        } else if idle == Some(Duration::ZERO) {
            complain(&at, "the system is not left alone", "leave it some time, as in `[crowd] idle = \"10s\"`");
        }
    }
    for (_, at) in spot.key("shutdown").entries().iter().filter(|_| !stops) {
        let help = "add an event: `[[event]]` with `at = \"20s\"` and `do = \"terminate\"`";
        complain(at, "nothing stops the system in the middle of the load", help);
    }
    let mut steps = journeys.iter().flat_map(|journey| &journey.steps);
    if stops && budgets.shutdown.unacted.is_some() && !steps.any(step::is_to_bot) {
        let at = spot.key("shutdown").key("unacted");
        complain(&at, "no act is towards the bot", "drop it, or let users say or tap something");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::{Complaint, parse};

    /// The complaints about a small scenario with this at its end.
    fn complaints(more: &str) -> Vec<String> {
        let text = format!(
            "name = \"s\"\n[system]\ncommand = [\"true\"]\n[crowd]\ngroups = 1\nplayers_per_group = 1\n{more}\n\
             [[journey]]\nname = \"j\"\narrive.burst.over = \"1s\"\nsteps = [{{ act = \"a\", get = \"/\" }}]\n"
        );
        let says = |complaint: Complaint| complaint.says;
        parse(Path::new("s.toml"), &text, None).err().unwrap_or_default().into_iter().map(says).collect()
    }

    const STOP: &str = "[[event]]\nat = \"1s\"\ndo = \"terminate\"\n";

    #[test]
    fn a_stop_and_budgets_on_it_go_together() {
        assert!(complaints(STOP).is_empty());
        assert!(complaints(&format!("{STOP}[budgets.shutdown]\nwithin = \"1s\"\n")).is_empty());
        let alone = complaints("[budgets.shutdown]\nwithin = \"1s\"\n");
        assert_eq!(alone, ["nothing stops the system in the middle of the load"]);
    }

    #[test]
    fn a_system_is_stopped_once() {
        assert_eq!(complaints(&STOP.repeat(2)), ["the system is stopped twice"]);
    }

    #[test]
    fn what_is_stopped_or_not_left_alone_cannot_recover() {
        let budget = "[budgets.recovery]\nmemory = \"10MiB\"\n";
        assert!(complaints(budget).is_empty());
        assert_eq!(complaints(&format!("{STOP}{budget}")), ["the system cannot recover: an event stops it"]);
        assert_eq!(complaints(&format!("idle = \"0s\"\n{budget}")), ["the system is not left alone"]);
    }

    #[test]
    fn updates_that_are_not_acted_on_need_a_bot() {
        let unacted = format!("{STOP}[budgets.shutdown]\nunacted = 0\n");
        assert_eq!(complaints(&unacted), ["no act is towards the bot"]);
    }

    #[test]
    fn a_deed_that_the_rig_does_not_know_is_complained_of() {
        let unknown = complaints("[[event]]\nat = \"1s\"\ndo = \"explode\"\n");
        assert_eq!(unknown.len(), 1, "{unknown:?}");
    }
}
