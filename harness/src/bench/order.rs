//! What a bench is asked to do, as a scenario and a pace.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::drive::{Pace, Target};
use crate::scenario::{Complaint, Scenario, parse};

/// The only act of a bench.
const ACT: &str = "bench";

/// What to measure.
#[derive(Debug, Clone)]
pub struct Order {
    /// Where requests go.
    pub target: Target,
    /// Path and query.
    pub path: String,
    /// Whom to trust; nothing: no TLS.
    pub tls: Option<Trust>,
    /// Whether it is asked in HTTP/2.
    pub http2: bool,
    /// How they come.
    pub load: Load,
    /// For how long.
    pub length: Duration,
    /// How long an answer may take once connected; a handshake, half as long: the load ends when the last answer is
    /// overdue, and by then it must be known which of the two was.
    pub timeout: Duration,
}

/// Whom to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// A PEM file.
    pub ca: PathBuf,
    /// The name that a signed certificate bears.
    pub name: String,
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Closed loop: each of so many connections sends its next request as soon as it has its answer.
    Closed {
        /// How many.
        connections: u32,
    },
    /// Open loop: evenly spaced, whatever becomes of them, over connections that anybody uses.
    Open {
        /// Requests a second.
        rate: f64,
    },
}

impl Order {
    /// Whether the plan is done once, or again and again.
    pub(super) fn pace(&self) -> Pace {
        match self.load {
            Load::Closed { .. } => Pace::Again { until: self.length },
            Load::Open { .. } => Pace::Planned,
        }
    }

    /// The scenario that a user would have to write. Of a closed loop it is only the beginning: everybody once.
    pub(crate) fn scenario(&self) -> Result<Scenario, Complaint> {
        let length = humantime::format_duration(self.length);
        let (connections, arrive) = match self.load {
            Load::Closed { .. } => ("player", "burst.over = \"1ms\"".to_owned()),
            Load::Open { rate } => ("shared", format!("constant = {{ rate = {rate:?}, over = \"{length}\" }}")),
        };
        let text = format!(
            "name = \"{ACT}\"\n\
             about = {}\n\
             [system]\ncommand = [\"nothing: it runs already\"]\nhttp2 = {}\n{}\n\
             [crowd]\ngroups = 1\nplayers_per_group = {}\nconnections = \"{connections}\"\n\
             connect_timeout = \"{connect}\"\ntimeout = \"{timeout}\"\n\
             [[journey]]\nname = \"{ACT}\"\narrive.{arrive}\n\
             steps = [{{ act = \"{ACT}\", get = {} }}]\n",
            quoted(&self.in_words()),
            self.http2,
            self.tls.as_ref().map(Trust::in_toml).unwrap_or_default(),
            self.players(),
            quoted(&self.path.replace('{', "%7B").replace('}', "%7D")),
            timeout = humantime::format_duration(self.timeout),
            connect = humantime::format_duration(self.timeout / 2),
        );
        let first = |complaints: Vec<Complaint>| complaints.into_iter().next();
        let nothing = || Complaint { span: 0..0, says: "this is no load".to_owned(), help: None };
        parse(Path::new(ACT), &text, None).map_err(|complaints| first(complaints).unwrap_or_else(nothing))
    }

    /// A player of an open loop comes round only when the last request is answered or given up for certain, so that
    /// nobody is ever waited for.
    fn players(&self) -> u32 {
        match self.load {
            Load::Closed { connections } => connections,
            Load::Open { rate } => {
                let longest = (2 * self.timeout).min(self.length);
                (rate * longest.as_secs_f64()).ceil().clamp(1.0, f64::from(u32::MAX)) as u32
            }
        }
    }

    /// For the reader of a report.
    fn in_words(&self) -> String {
        let (path, length) = (&self.path, humantime::format_duration(self.length));
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = format!("{scheme}://{}", self.target.host);
        match self.load {
            Load::Closed { connections } => {
                format!("closed loop of {connections} connections for {length}: GET {host}{path}")
            }
            Load::Open { rate } => format!("open loop at {rate}/s for {length}: GET {host}{path}"),
        }
    }
}

impl Trust {
    fn in_toml(&self) -> String {
        format!("tls = {{ ca = {}, name = {} }}", quoted(&self.ca.to_string_lossy()), quoted(&self.name))
    }
}

/// A JSON string is a TOML basic string too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;
    use crate::scenario::Connections;

    fn order(load: Load) -> Order {
        Order {
            target: Target { address: "127.0.0.1:1".parse().unwrap(), host: "here:1".to_owned() },
            path: "/a?q=\"{x}\"".to_owned(),
            tls: None,
            http2: false,
            load,
            length: Duration::from_secs(2),
            timeout: Duration::from_millis(500),
        }
    }

    #[test]
    fn a_closed_loop_begins_with_every_connection_once() {
        let order = order(Load::Closed { connections: 64 });
        let scenario = order.scenario().unwrap();
        let plan = plan(&scenario);
        assert_eq!((plan.arrivals.len(), scenario.crowd.connections), (64, Connections::Player));
        assert!(plan.arrivals.last().unwrap().at <= Duration::from_millis(1));
        assert_eq!(order.pace(), Pace::Again { until: Duration::from_secs(2) });
        assert_eq!(scenario.about, "closed loop of 64 connections for 2s: GET http://here:1/a?q=\"{x}\"");
    }

    #[test]
    fn in_an_open_loop_nobody_comes_round_while_an_answer_may_still_come() {
        let order = order(Load::Open { rate: 100.0 });
        let scenario = order.scenario().unwrap();
        assert_eq!((plan(&scenario).arrivals.len(), scenario.crowd.connections), (200, Connections::Shared));
        assert_eq!(scenario.crowd.players_per_group, 100);
        assert_eq!(order.pace(), Pace::Planned);
    }

    #[test]
    fn what_is_no_load_is_said() {
        let order = Order { length: Duration::from_secs(3 * 24 * 60 * 60), ..order(Load::Open { rate: 1.0 }) };
        assert!(order.scenario().unwrap_err().says.contains("longer than a day"));
    }
}
