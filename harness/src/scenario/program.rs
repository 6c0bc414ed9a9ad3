//! What the system and its services have in common: a command, an environment, a port, and when each is ready.
//!
//! Their tables repeat the keys of these: serde's `flatten`, which would share them, forgets where in the file a value
//! stands and what a misspelt key was near to.

use std::collections::BTreeMap;

use super::complaint::Complaint;
use super::spot::Spot;
use super::template::{Place, Template};

/// When a system or a service counts as ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// It accepts a connection.
    Accepts,
    /// A GET of this path is answered 2xx.
    Path(String),
    /// This command, in the same environment, exits with 0.
    Command(Vec<String>),
    /// The bot asks for its updates, by `getUpdates` or `setWebhook`. It need not listen anywhere.
    Bot,
}

pub(super) fn command(words: &[String], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        let help = "name a program and its arguments, such as [\"npm\", \"start\"]";
        complaints.push(spot.complain("there is nothing to run", help));
    }
    for (index, word) in words.iter().enumerate() {
        if word.contains('\0') {
            complaints.push(spot.item(index).complain("a zero byte", "no command line can hold one"));
        }
        if ["{system.port}", "{stub.url}", "{bot.token}", "{service."].iter().any(|slot| word.contains(slot)) {
            let help = "put it in `env`, where placeholders are filled, or read the variable PORT";
            complaints.push(spot.item(index).complain("a command has no placeholders", help));
        }
    }
}

pub(super) fn environment(
    file: &BTreeMap<String, String>,
    placeholders: &[String],
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> BTreeMap<String, Template> {
    let mut environment = BTreeMap::new();
    for (name, value) in file {
        let at = spot.key(name);
        if name.is_empty() || name.contains(['=', '\0']) {
            complaints.push(at.complain_of_key("this cannot name a variable", "use letters, digits and `_`"));
        }
        if value.contains('\0') {
            complaints.push(at.complain("a zero byte", "no environment can hold one"));
        }
        environment.insert(name.clone(), Template::parse(value, &at, Place::Environment(placeholders), complaints));
    }
    environment
}

/// Nobody listens on port 0: it asks for a free one.
pub(super) fn port(port: Option<u16>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if port == Some(0) {
        complaints.push(spot.complain("no one listens on port 0", "leave `port` out for a free one"));
    }
}
