//! A system that runs already: `system.url` in place of a command, checked.

use super::complaint::Complaint;
use super::spot::Spot;
use super::system::SystemTable;
use crate::url::Url;

/// `PID_MAX_LIMIT` of `linux/threads.h`.
pub(super) const HIGHEST_PID: u64 = 1 << 22;

/// A system that runs already and that the rig neither starts nor stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// Where it listens; checked to be a URL of a host alone.
    pub url: String,
    /// Its process, when that is known.
    pub pid: Option<u32>,
}

/// A system is started or found running, and what is only of use for the one contradicts the other.
pub(super) fn checked(file: &SystemTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Option<Attach> {
    let Some(url) = &file.url else {
        if file.command.is_none() {
            let help = "add `command`, such as [\"npm\", \"start\"], or `url` for a system that runs already";
            complaints.push(spot.complain("there is no system", help));
        }
        if file.pid.is_some() {
            let help = "add `url`; the rig knows the processes of a system that it starts itself";
            complaints.push(spot.key("pid").complain_of_key("a process to attach to, and no address", help));
        }
        return None;
    };
    for (key, at) in spot.entries() {
        complaints.extend(contradiction(key).map(|(why, help)| {
            at.complain_of_key(format!("both `{key}` and `url`: a system that runs already {why}"), help)
        }));
    }
    host_alone(url, file.tls.is_some(), &spot.key("url"), complaints);
    if let Some(pid) = file.pid.filter(|pid| !(1..=HIGHEST_PID).contains(&u64::from(*pid))) {
        complaints
            .push(spot.key("pid").complain(format!("there is no process {pid}"), "`pgrep -f` finds the system's"));
    }
    Some(Attach { url: url.clone(), pid: file.pid })
}

/// Why a key cannot stand beside `url`, and what to do.
fn contradiction(key: &str) -> Option<(&'static str, String)> {
    match key {
        "command" | "build" | "env" | "port" | "dir" => {
            let help = format!("keep one of them; without `url` the rig starts the system, and `{key}` counts");
            Some(("is not started", help))
        }
        "memory" | "cpu" | "open_files" => {
            let help = "leave the limit out, and set it where the system is started".to_owned();
            Some(("cannot be held to a limit", help))
        }
        _ => None,
    }
}

fn host_alone(url: &str, has_tls: bool, at: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    match Url::parse(url) {
        Err(says) => complaints.push(at.complain(says, "write it as in \"http://127.0.0.1:8080\"")),
        Ok(url) if url.path != "/" => {
            complaints.push(at.complain("a system is a host and a port", "leave the path out: each step has its own"));
        }
        Ok(url) if url.is_secure != has_tls => {
            let help = "write https in `url` and whom to trust in `tls`, or neither";
            complaints.push(at.complain("`url` and `tls` do not agree on how the system is spoken to", help));
        }
        Ok(_) => {}
    }
}
