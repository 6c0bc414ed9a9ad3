//! What `floodrig run` is asked to do: every scenario and variant, read and checked before anything runs.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::complaints;
use super::made::Refused;
use super::run::Args;
use crate::scenario::{Complaint, Scenario, Source, parse, parse_each};
use crate::system::unmet;
use floodrig_reports::recording::Shard;

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

/// Where a run leaves what it leaves.
#[derive(Debug)]
enum Folder {
    /// Exactly here.
    Given(PathBuf),
    /// Below here, by name and time.
    Below(PathBuf),
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
        let (mut scenarios, mut skipped, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
        for file in &files {
            match read(&file.path, args) {
                Ok(variants) => match lacks(&variants, args) {
                    None => scenarios.push(variants),
                    Some((_, says)) if file.found => skipped.push(format!("{}: skipped: {says}", file.path.display())),
                    Some((of, says)) => complaints.push(Refused::at(of, &["needs"], says).into_text()),
                },
                Err(refused) => complaints.push(refused.into_text()),
            }
        }
        if !complaints.is_empty() {
            return Err(Refused::usage(complaints.join("\n")));
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
        for text in &self.skipped {
            drop(writeln!(io::stderr(), "{text}"));
        }
    }
}

impl Errand {
    /// `rollover, before`
    pub(super) fn title(&self) -> String {
        let Scenario { name, variant, .. } = &*self.scenario;
        variant.as_ref().map_or_else(|| name.clone(), |variant| format!("{name}, {variant}"))
    }

    /// `rollover, before: what it is about`
    pub(super) fn headline(&self) -> String {
        let about = &self.scenario.about;
        if about.is_empty() { self.title() } else { format!("{}: {about}", self.title()) }
    }

    /// Whether one build serves both.
    pub(super) fn is_built_like(&self, other: &Self) -> bool {
        let [mine, its] = [&self.scenario.system, &other.scenario.system];
        (&mine.dir, &mine.build) == (&its.dir, &its.build)
    }

    /// A folder that is not there yet.
    pub(super) fn dir(&self, suffix: &str) -> PathBuf {
        match &self.folder {
            Folder::Given(dir) if suffix.is_empty() => dir.clone(),
            Folder::Given(dir) => claim(&beside(dir, suffix)),
            Folder::Below(dir) => new_below(dir, &format!("{}{suffix}", self.name)),
        }
    }
}

/// A new folder below `dir`: the name and the time in UTC, and a number when two begin in one second.
pub(super) fn new_below(dir: &Path, name: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    // A folder that cannot be made is told of when something is to be put below it.
    drop(fs::create_dir_all(dir));
    claim(&dir.join(format!("{name}-{time}")))
}

/// The folder of this name with an end to it, wherever it was written with a slash at its own.
fn beside(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or("run".as_ref()).to_owned();
    name.push(suffix);
    dir.with_file_name(name)
}

/// A folder that was not there, made here and now, so that of two rigs each gets its own: this one, or else the first
/// with a number that is free. One that cannot be made at all tells why when it is written to.
fn claim(dir: &Path) -> PathBuf {
    let numbered = (2..=u32::MAX).map(|nth| beside(dir, &format!("-{nth}")));
    let taken = |dir: &PathBuf| fs::create_dir(dir).is_err_and(|cause| cause.kind() == io::ErrorKind::AlreadyExists);
    std::iter::once(dir.to_owned()).chain(numbered).find(|dir| !taken(dir)).unwrap_or_else(|| dir.to_owned())
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
    let unreadable = |cause| Refused::usage(format!("error: could not read {}: {cause}", path.display()));
    let entries = fs::read_dir(path).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|path| is_scenario(path)).collect();
    paths.sort();
    if paths.is_empty() {
        return Err(Refused::usage(format!(
            "error: {} holds no scenario\n  help: a scenario is a file that ends in .toml; name one, or a folder that holds some",
            path.display()
        )));
    }
    Ok(paths.into_iter().map(|path| File { path, found: true }).collect())
}

fn is_scenario(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "toml")
}

/// Every variant asked for of one file, or everything that is wrong with it.
fn read(path: &Path, args: &Args) -> Result<Vec<Scenario>, Refused> {
    let scenarios = match &args.variant {
        Some(variant) => vec![read_one(path, Some(variant))?],
        None => checked(&source(path)?, |source| parse_each(path, &source.text))?,
    };
    let dress = |mut scenario: Scenario| {
        scenario.seed = args.seed.unwrap_or(scenario.seed);
        if args.quick { scenario.quick() } else { scenario }
    };
    Ok(scenarios.into_iter().map(dress).collect())
}

/// One scenario with one of its variants, or as it stands.
pub(super) fn read_one(path: &Path, variant: Option<&str>) -> Result<Scenario, Refused> {
    checked(&source(path)?, |source| parse(path, &source.text, variant))
}

fn source(path: &Path) -> Result<Source, Refused> {
    Source::read(path).map_err(|cause| Refused::usage(format!("error: {cause}")))
}

fn checked<T>(source: &Source, parse: impl FnOnce(&Source) -> Result<T, Vec<Complaint>>) -> Result<T, Refused> {
    parse(source).map_err(|complaints| Refused::usage(complaints::render(source, &complaints)))
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

/// A folder that holds a run is not written over.
pub(super) fn check_free(out: &Path) -> Result<(), Refused> {
    if out.exists() && !out.is_dir() {
        let text = format!("error: {} is not a folder\n  help: name another with --out", out.display());
        return Err(Refused::usage(text));
    }
    if out.join(floodrig_reports::recording::FILE_NAME).exists() {
        let text = format!("error: {} holds a run already\n  help: name another folder with --out", out.display());
        return Err(Refused::usage(text));
    }
    Ok(())
}

fn errand(scenario: Scenario, args: &Args, runs: usize) -> Errand {
    let folder = match &args.out {
        Some(out) if runs == 1 => Folder::Given(out.clone()),
        Some(out) => Folder::Below(out.clone()),
        None => Folder::Below(PathBuf::from("runs")),
    };
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
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.extend(args.isolate.then(|| "--isolate".to_owned()));
    words.extend(args.place.words().iter().map(|word| quoted(word)));
    words.join(" ")
}

/// As a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
