//! Whether the server's own loop is seen, decided before the load: it is the loop that serves which counts, in
//! whichever thread it runs. One that serves and is not seen leaves its stalls to the measurement from outside.

use std::fmt;
use std::time::Duration;

use floodrig_reports::recording::IN_PART;

use super::Folder;
use super::process::Pulse;
use super::servers::{pulses_of_callers, pulses_of_servers};
use crate::keeper::Tree;
use crate::system::Clock;

/// How long a loop may take to beat once the system is ready: a tick, on a core that is busy.
const BEATS_WITHIN: Duration = Duration::from_millis(500);
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Whether the loop is seen, and whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::vitals) enum Standing {
    /// These beat, and nothing else serves.
    Active(String),
    /// Some beat; the words name those that do not.
    InPart(String),
    /// None does, and why.
    Inactive(String),
}

/// What a loop does that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vitals) enum Door {
    /// It listens on this port.
    Listens(u16),
    /// It need not listen; it calls the stub, whose port this is where there is one.
    Calls(Option<u16>),
}

impl fmt::Display for Standing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active(whose) => write!(to, "active: {whose}"),
            Self::InPart(whose) => write!(to, "{IN_PART}: {whose}"),
            Self::Inactive(why) => write!(to, "inactive: {why}"),
        }
    }
}

impl Standing {
    /// Of the loops of this tree that serve; where none need listen and no caller is known, of all its processes.
    pub(in crate::vitals) fn of(folder: &Folder, tree: Tree, door: Door, clock: Clock) -> Self {
        Self::from(&settled(folder, tree, door, clock))
    }

    /// Whether that is enough to go by: loops that are seen in part say little where nothing is seen from outside.
    pub(in crate::vitals) fn beside(self, black_box: bool) -> Self {
        match self {
            Self::InPart(whose) if !black_box => Self::Inactive(format!("nothing else sees the rest of it: {whose}")),
            Self::Active(_) | Self::InPart(_) | Self::Inactive(_) => self,
        }
    }

    fn from(pulses: &[Pulse]) -> Self {
        let beating: Vec<&str> = pulses.iter().filter_map(Pulse::beats).collect();
        let silent: Vec<&str> = pulses.iter().filter_map(Pulse::why_silent).collect();
        match (beating.is_empty(), silent.is_empty()) {
            (true, true) => Self::Inactive("no process of the system is seen to listen".to_owned()),
            (true, false) => Self::Inactive(silent.join("; ")),
            (false, true) => Self::Active(beating.join(", ")),
            (false, false) => Self::InPart(format!("{}; not seen: {}", beating.join(", "), silent.join("; "))),
        }
    }

    /// Whether every loop that serves is seen from inside.
    pub(in crate::vitals) fn is_active(&self) -> bool {
        match self {
            Self::Active(_) => true,
            Self::InPart(_) | Self::Inactive(_) => false,
        }
    }
}

/// The loops that serve this port now and are not seen, in words; nothing: all are, or none is left.
pub(in crate::vitals) fn unseen(folder: &Folder, tree: Tree, port: u16, clock: Clock) -> Option<String> {
    let pulses = settled(folder, tree, Door::Listens(port), clock);
    let silent: Vec<&str> = pulses.iter().filter_map(Pulse::why_silent).collect();
    (!silent.is_empty()).then(|| silent.join("; "))
}

/// What is known of each once none of them may still come to beat.
fn settled(folder: &Folder, tree: Tree, door: Door, clock: Clock) -> Vec<Pulse> {
    let until = clock.now() + BEATS_WITHIN;
    loop {
        let over = clock.now() >= until;
        let pulses = pulses(folder, tree, door, over);
        if over || !pulses.iter().any(|pulse| matches!(pulse, Pulse::NotYet { .. })) {
            return pulses;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn pulses(folder: &Folder, tree: Tree, door: Door, over: bool) -> Vec<Pulse> {
    let pids: Vec<u32> = tree.processes().iter().map(|process| process.pid).collect();
    match door {
        Door::Listens(port) => pulses_of_servers(folder, &pids, port, over),
        Door::Calls(stub) => {
            let unseen = stub.and_then(|stub| pulses_of_callers(folder, &pids, stub, over));
            // A shell around a bot is silent by its nature, and no reason to say so beside the bot.
            unseen.unwrap_or_else(|| beating_first(pids.into_iter().map(|pid| Pulse::of(pid, folder)).collect()))
        }
    }
}

/// Those that beat, if any does.
fn beating_first(pulses: Vec<Pulse>) -> Vec<Pulse> {
    let (beating, silent): (Vec<_>, Vec<_>) = pulses.into_iter().partition(|pulse| pulse.beats().is_some());
    if beating.is_empty() { silent } else { beating }
}

impl Pulse {
    /// Whose loop, if it beats.
    pub(super) fn beats(&self) -> Option<&str> {
        match self {
            Self::Beating { who } => Some(who),
            Self::NotYet { .. } | Self::Silent { .. } => None,
        }
    }

    fn why_silent(&self) -> Option<&str> {
        match self {
            Self::Beating { .. } => None,
            Self::NotYet { why } | Self::Silent { why } => Some(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beating() -> Pulse {
        Pulse::Beating { who: "pid 1 (node)".to_owned() }
    }

    fn silent() -> Pulse {
        Pulse::Silent { why: "pid 2 (go) is not".to_owned() }
    }

    #[test]
    fn only_where_every_loop_that_serves_is_seen_is_it_active_and_else_the_others_are_named() {
        assert_eq!(Standing::from(&[beating()]).to_string(), "active: pid 1 (node)");
        let both = Standing::from(&[beating(), silent()]).to_string();
        assert_eq!(both, "active in part: pid 1 (node); not seen: pid 2 (go) is not");
    }

    #[test]
    fn a_shell_around_a_bot_that_beats_is_not_named() {
        assert_eq!(beating_first(vec![silent(), beating()]), [beating()]);
        assert_eq!(beating_first(vec![silent()]), [silent()]);
    }

    #[test]
    fn nothing_seen_is_inactive_with_the_reason() {
        assert_eq!(Standing::from(&[silent()]).to_string(), "inactive: pid 2 (go) is not");
        assert_eq!(Standing::from(&[]).to_string(), "inactive: no process of the system is seen to listen");
    }
}
