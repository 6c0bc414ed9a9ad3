//! What `floodrig run` is asked to do: every scenario and variant, read and checked before anything runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use floodrig_reports::recording::Shard;

use super::folder::{Folder, check_free};
use super::made::title;
use super::refused::Refused;
use super::run::Args;
use super::say;
use crate::scenario::{Complaint, Scenario, Source, is_scenario, parse, parse_each};
use crate::system::unmet;

/// One run to be made.
#[derive(Debug)]
pub(super) struct Errand {
    pub(super) scenario: Arc<Scenario>,
    /// The command that makes it again.
    pub(super) command: String,
    /// Of the folder, when it is not given: `rollover-before`.
    name: String,
    folder: Folder,
}

/// Every run to be made.
#[derive(Debug)]
pub(super) struct Errands {
    /// By scenario, its variants in file order.
    scenarios: Vec<Vec<Errand>>,
    /// Scenarios left out, and why.
    skipped: Vec<String>,
    /// Whether runs are held against their `expect`.
    held: bool,
}

impl Errands {
    /// Reads everything; all complaints of all files at once.
    pub(super) fn gather(args: &Args) -> Result<Self, Refused> {
        let mut files = Vec::new();
        for path in &args.paths {
            files.extend(expand(path)?);
        }
        let (mut scenarios, mut skipped, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for file in &files {
            match read(&file.path, args) {
                Ok(variants) => match lacks(&variants, args) {
                    None => scenarios.push(variants),
                    Some((_, says)) if file.found => skipped.push(format!("{}: skipped: {says}", file.path.display())),
                    Some((of, says)) => refused.push(Refused::at(of, &["needs"], says)),
                },
                Err(wrong) => refused.push(wrong),
            }
        }
        if !refused.is_empty() {
            return Err(Refused::all(refused));
        }
        let runs: usize = scenarios.iter().map(Vec::len).sum();
        args.place.check(&scenarios)?;
        let held = runs > 1 || files.iter().any(|file| file.found);
        if let Some(out) = &args.out {
            check_free(out)?;
        }
        let dress =
            |variants: Vec<Scenario>| variants.into_iter().map(|scenario| errand(scenario, args, runs)).collect();
        Ok(Self { scenarios: scenarios.into_iter().map(dress).collect(), skipped, held })
    }

    pub(super) fn by_scenario(&self) -> impl Iterator<Item = &[Errand]> {
        self.scenarios.iter().map(Vec::as_slice)
    }

    /// How many runs there are to be made.
    pub(super) fn count(&self) -> usize {
        self.scenarios.iter().map(Vec::len).sum()
    }

    pub(super) fn held(&self) -> bool {
        self.held
    }

    /// Says what was left out; a skip that nobody sees is a lie.
    pub(super) fn tell_skipped(&self) {
        self.skipped.iter().for_each(|text| say::talk(text));
    }
}

impl Errand {
    /// `rollover, before: what it is about`
    pub(super) fn headline(&self) -> String {
        let about = &self.scenario.about;
        let title = title(&self.scenario);
        if about.is_empty() { title } else { format!("{title}: {about}") }
    }

    /// Whether one build serves both.
    pub(super) fn is_built_like(&self, other: &Self) -> bool {
        let [mine, its] = [&self.scenario.system, &other.scenario.system];
        (&mine.dir, &mine.build) == (&its.dir, &its.build)
    }

    /// A folder that is not there yet.
    pub(super) fn dir(&self) -> PathBuf {
        self.folder.claim(&self.name)
    }
}

/// `rollover-before`
fn run_name(scenario: &Scenario) -> String {
    scenario.variant.as_ref().map_or_else(|| scenario.name.clone(), |variant| format!("{}-{variant}", scenario.name))
}

/// A scenario's file, and whether it was found in a folder rather than named.
struct File {
    path: PathBuf,
    found: bool,
}

/// A folder stands for its scenarios, in the order of their names.
fn expand(path: &Path) -> Result<Vec<File>, Refused> {
    if !path.is_dir() {
        return Ok(vec![File { path: path.to_owned(), found: false }]);
    }
    let folder = path.display();
    let unreadable =
        |cause| Refused::usage(format_args!("could not read {folder}: {cause}"), "name a folder that you may read");
    let entries = fs::read_dir(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|path| is_scenario(path)).collect();
    paths.sort();
    if paths.is_empty() {
        let help = "a scenario is a file that ends in .toml; name one, or a folder that holds some";
        return Err(Refused::usage(format_args!("{folder} holds no scenario"), help));
    }
    Ok(paths.into_iter().map(|path| File { path, found: true }).collect())
}

/// Every variant asked for of one file, or everything that is wrong with it.
fn read(path: &Path, args: &Args) -> Result<Vec<Scenario>, Refused> {
    let scenarios = match &args.variant {
        Some(variant) => vec![read_one(path, Some(variant))?],
        None => checked(&source(path)?, |source| parse_each(path, &source.text))?,
    };
    Ok(scenarios.into_iter().map(|scenario| args.draw.of(scenario)).collect())
}

/// One scenario with one of its variants, or as it stands.
pub(super) fn read_one(path: &Path, variant: Option<&str>) -> Result<Scenario, Refused> {
    checked(&source(path)?, |source| parse(path, &source.text, variant))
}

fn source(path: &Path) -> Result<Source, Refused> {
    Source::read(path).map_err(|cause| Refused::usage(&cause, cause.help()))
}

fn checked<T>(source: &Source, parse: impl FnOnce(&Source) -> Result<T, Vec<Complaint>>) -> Result<T, Refused> {
    parse(source).map_err(|complaints| Refused::drawn(source, &complaints))
}

/// The first variant that needs what this machine does not have, and what that is. A system that runs already has what it
/// needs, here or elsewhere.
fn lacks<'s>(variants: &'s [Scenario], args: &Args) -> Option<(&'s Scenario, String)> {
    let mut met = Vec::new();
    for scenario in variants.iter().filter(|scenario| !args.place.attaches(scenario)) {
        for need in &scenario.needs {
            let here = (need, &scenario.system.dir);
            if met.contains(&here) {
                continue;
            }
            if let Some(says) = unmet(need, &scenario.system.dir) {
                return Some((scenario, says));
            }
            met.push(here);
        }
    }
    None
}

fn errand(scenario: Scenario, args: &Args, runs: usize) -> Errand {
    let out = args.out.as_deref();
    let folder = if runs == 1 { Folder::of_one(out) } else { Folder::of_several(out) };
    let shard = args.place.shard.map(|Shard { number, of }| format!("-shard-{number}-of-{of}")).unwrap_or_default();
    let name = format!("{}{shard}", run_name(&scenario));
    Errand { command: command(&scenario, args), scenario: Arc::new(scenario), name, folder }
}

/// The command that makes this very run again, the program as it was typed.
fn command(scenario: &Scenario, args: &Args) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "floodrig".to_owned());
    let mut words = vec![program, "run".to_owned(), quoted(&scenario.source.path.display().to_string())];
    if let Some(variant) = &scenario.variant {
        words.extend(["--variant".to_owned(), quoted(variant)]);
    }
    words.extend(["--seed".to_owned(), scenario.seed.to_string()]);
    words.extend(args.draw.quick.then(|| "--quick".to_owned()));
    words.extend(args.isolate.then(|| "--isolate".to_owned()));
    words.extend(args.place.words().iter().map(|word| quoted(word)));
    words.join(" ")
}

/// As a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_that_is_not_there_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let says = read_one(&folder.path().join("nowhere.toml"), None).unwrap_err().into_text();
        assert!(says.contains("there is no scenario") && says.contains("\n  help: name a scenario's file"), "{says}");
    }
}
