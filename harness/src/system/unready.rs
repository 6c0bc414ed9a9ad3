//! Why a system is not running, in words that say what to do.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use floodrig_reports::recording::{Confined, Ending, Logs};

use super::death::{Cause, Death};
use super::port::PortError;
use crate::keeper::{Exit, KeepError};
use crate::redirect::Stray;

/// Why a system is not running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its port is held by somebody else. Nothing was run.
    #[error(transparent)]
    Port(#[from] PortError),
    /// It could not be started.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// It did not become ready.
    #[error("the system never became ready: {0}")]
    NotReady(Box<NotReady>),
    /// Ctrl-C.
    #[error("interrupted while waiting for the system")]
    Interrupted,
}

/// A system that did not become ready. It is gone by now.
#[derive(Debug, Clone)]
pub struct NotReady {
    /// Why.
    pub why: Unready,
    /// How it ended, with its last lines on stderr (or on stdout, when it said nothing there).
    pub ending: Ending,
    /// What it had logged.
    pub logs: Logs,
    /// The limits in force, in words, and what the kernel counted of them.
    pub limits: (String, Option<Confined>),
}

/// Why a system did not become ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unready {
    /// It ended first.
    Died(Death),
    /// It took too long.
    TimedOut {
        /// What was waited for, and what came instead.
        waited_for: String,
        /// How long.
        within: Duration,
        /// The system's process.
        pid: u32,
        /// What is left of it where that has ended with 0.
        left: Vec<u32>,
        /// Where it is reached.
        target: SocketAddr,
        /// Where it does listen.
        listening: Vec<SocketAddr>,
    },
    /// It called the real Telegram.
    Strayed(Stray),
    /// It never asked for its updates.
    NoBot {
        /// What was waited for, and how many calls came instead.
        waited_for: String,
        /// How long.
        within: Duration,
        /// The system's process.
        pid: u32,
        /// What to do.
        advice: String,
    },
}

impl fmt::Display for NotReady {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(to)?;
        if matches!(self.why, Unready::Strayed(_)) {
            return Ok(());
        }
        if let (Unready::Died(_), Some(note)) = (&self.why, &self.ending.note) {
            write!(to, "; {note}")?;
        }
        if self.ending.oom == Some(true) {
            let (limits, _) = &self.limits;
            write!(to, " for want of memory, by the kernel's out-of-memory killer (limits: {limits}): allow it more")?;
        }
        match self.ending.stderr_tail.as_slice() {
            [] => to.write_str("; it printed nothing"),
            lines => write!(to, "; its last lines:\n  {}", lines.join("\n  ")),
        }
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Died(Death { cause: cause @ Cause(Exit::Signal(_)), .. }) => write!(to, "it was {cause} before that"),
            Self::Died(death) => write!(to, "it {} before that", death.cause),
            Self::Strayed(stray) => stray.fmt(to),
            Self::NoBot { waited_for, within, pid, advice } => {
                write!(to, "waited {} s for {waited_for} from pid {pid}. {advice}", within.as_secs_f64())
            }
            Self::TimedOut { waited_for, within, pid, left, target, listening } => {
                write!(to, "waited {} s for {waited_for}; pid {pid} ", within.as_secs_f64())?;
                if !left.is_empty() {
                    let left: Vec<String> = left.iter().map(u32::to_string).collect();
                    write!(to, "ended with 0, and what it left behind (pid {}) ", left.join(", "))?;
                }
                to.write_str(&listens(listening, *target))
            }
        }
    }
}

/// Where a system listens, and what to ask of one that is not reached there.
fn listens(listening: &[SocketAddr], target: SocketAddr) -> String {
    let places: Vec<String> = listening.iter().map(SocketAddr::to_string).collect();
    let places = places.join(", ");
    let ours: Vec<IpAddr> =
        listening.iter().filter(|place| place.port() == target.port()).map(SocketAddr::ip).collect();
    let is_reached = ours.iter().any(|address| *address == target.ip() || address.is_unspecified());
    match (listening.is_empty(), ours.is_empty()) {
        (true, _) => "listens nowhere".to_owned(),
        (false, true) => {
            let port = listening[0].port();
            format!("listens on {places}: let it read PORT, or write `port = {port}` under [system]")
        }
        (false, false) if is_reached => format!("listens on {places}, as it should"),
        (false, false) => format!("listens on {places}: let it listen on {} too", target.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_listens_on_another_port_than_the_rigs_is_asked_whether_it_reads_it() {
        let target = SocketAddr::from(([127, 0, 0, 1], 8080));
        let said = |places: &[&str]| {
            let places: Vec<SocketAddr> = places.iter().map(|place| place.parse().unwrap()).collect();
            listens(&places, target)
        };
        assert_eq!(said(&[]), "listens nowhere");
        assert_eq!(
            said(&["0.0.0.0:3000"]),
            "listens on 0.0.0.0:3000: let it read PORT, or write `port = 3000` under [system]"
        );
        assert_eq!(said(&["[::1]:8080"]), "listens on [::1]:8080: let it listen on 127.0.0.1 too");
        for place in ["127.0.0.1:8080", "0.0.0.0:8080", "[::]:8080"] {
            let both = format!("listens on 0.0.0.0:3000, {place}, as it should");
            assert_eq!(said(&["0.0.0.0:3000", place]), both);
        }
    }
}
