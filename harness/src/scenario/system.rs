//! `[system]`, checked.

use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};

use super::check::{bounded, positive};
use super::complaint::Complaint;
use super::file::SystemTable;
use super::number_or_list::NumberOrList;
use super::spot::Spot;
use super::template::{Place, Template};
use super::{Attach, Cores, Ready, System, step};
use crate::url::Url;

/// What says that a folder is where a program is built and run from.
const MANIFESTS: [&str; 12] = [
    ".git",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
    "deno.json",
    "composer.json",
    "Gemfile",
    "mix.exs",
    "pom.xml",
    "build.gradle",
];

/// The word for a system that is ready once it asks for updates; a path begins with a slash.
const BOT: &str = "bot";

/// Checks the `[system]` of the scenario at this path.
pub(super) fn checked(file: SystemTable, spot: &Spot<'_>, scenario: &Path, complaints: &mut Vec<Complaint>) -> System {
    let attach = attach(&file, spot, complaints);
    if let Some(words) = &file.command {
        command(words, &spot.key("command"), complaints);
    }
    if let Some(build) = &file.build {
        command(build, &spot.key("build"), complaints);
    }
    if file.port == Some(0) {
        complaints.push(spot.key("port").complain("no one listens on port 0", "leave `port` out for a free one"));
    }
    if let Some(path) = file.ready.as_deref().filter(|ready| *ready != BOT) {
        step::path_stands(path, &spot.key("ready"), complaints);
    }
    positive(file.ready_within, &spot.key("ready_within"), complaints);
    bounded(file.stop_within, &spot.key("stop_within"), complaints);
    System {
        dir: dir(file.dir.as_deref(), scenario, &spot.key("dir"), complaints),
        build: file.build,
        command: file.command.unwrap_or_default(),
        attach,
        cores: cores(file.cores, &spot.key("cores"), complaints),
        env: environment(&file.env, &spot.key("env"), complaints),
        port: file.port,
        ready: file.ready.map_or(Ready::Accepts, ready),
        heartbeat: file.heartbeat,
        ready_within: file.ready_within,
        stop_within: file.stop_within,
    }
}

/// A system is started or found running, and what is only of use for the one contradicts the other.
fn attach(file: &SystemTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Option<Attach> {
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
    for (key, at) in spot.entries().iter().filter(|(key, _)| ["command", "build", "env", "port", "dir"].contains(key)) {
        let says = format!("both `{key}` and `url`: a system that runs already is not started");
        complaints.push(at.complain_of_key(
            says,
            format!("keep one of them; without `url` the rig starts the system, and `{key}` counts"),
        ));
    }
    let at = spot.key("url");
    match Url::parse(url) {
        Err(says) => complaints.push(at.complain(says, "write it as in \"http://127.0.0.1:8080\"")),
        Ok(url) if url.path != "/" => {
            complaints.push(at.complain("a system is a host and a port", "leave the path out: each step has its own"));
        }
        Ok(_) => {}
    }
    if file.pid == Some(0) {
        complaints.push(spot.key("pid").complain("there is no process 0", "`pgrep -f` finds the system's"));
    }
    Some(Attach { url: url.clone(), pid: file.pid })
}

fn ready(word: String) -> Ready {
    if word == BOT { Ready::Bot } else { Ready::Path(word) }
}

fn command(words: &[String], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        let help = "name a program and its arguments, such as [\"npm\", \"start\"]";
        complaints.push(spot.complain("there is nothing to run", help));
    }
    for (index, word) in words.iter().enumerate() {
        if word.contains('\0') {
            complaints.push(spot.item(index).complain("a zero byte", "no command line can hold one"));
        }
        if ["{system.port}", "{stub.url}", "{bot.token}"].iter().any(|slot| word.contains(slot)) {
            let help = "put it in `env`, where placeholders are filled, or read the variable PORT";
            complaints.push(spot.item(index).complain("a command has no placeholders", help));
        }
    }
}

fn cores(file: NumberOrList, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Cores {
    match file {
        NumberOrList::Number(count) => {
            if count == 0 {
                complaints.push(spot.complain("nothing runs on no core", "give the system at least 1"));
            }
            Cores::Count(count)
        }
        NumberOrList::List(list) => {
            if list.is_empty() {
                complaints.push(spot.complain("nothing runs on no core", "name at least one, such as [1]"));
            }
            for (index, core) in list.iter().enumerate() {
                if list[..index].contains(core) {
                    complaints.push(spot.item(index).complain(format!("core {core} is named twice"), "keep one"));
                }
            }
            Cores::List(list)
        }
    }
}

fn environment(
    file: &BTreeMap<String, String>,
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
        environment.insert(name.clone(), Template::parse(value, &at, Place::Environment, complaints));
    }
    environment
}

/// The named folder, from the scenario's own; else the nearest above the scenario that looks like a project's
/// root; else the scenario's own.
fn dir(named: Option<&str>, scenario: &Path, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> PathBuf {
    let own = folder_of(scenario);
    let Some(named) = named else {
        let is_root = |folder: &&Path| MANIFESTS.iter().any(|manifest| folder.join(manifest).exists());
        return own.ancestors().find(is_root).unwrap_or(&own).to_owned();
    };
    let dir = own.join(named);
    if !dir.is_dir() {
        let help = "`dir` is looked for from the scenario's own folder";
        complaints.push(spot.complain(format!("there is no folder `{}`", dir.display()), help));
    }
    dir
}

/// The folder of a file, without `..` and links, so that its ancestors are what they seem. A folder that is not
/// there is named as it was written.
fn folder_of(file: &Path) -> PathBuf {
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("/"));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
