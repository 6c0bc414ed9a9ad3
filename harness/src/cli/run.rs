//! `floodrig run`: scenarios, each variant in turn, each held against what is expected of it where several are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::draw::Draw;
use super::errands::{Errand, Errands};
use super::folder::set_aside;
use super::made::Made;
use super::progress::Teller;
use super::refused::Refused;
use super::report::{self, render};
use super::say::talk;
use super::{Exit, comparison, place, table};
use crate::isolate;
use crate::keeper::Program;
use crate::run::{News, Order, RunError, run as make};
use crate::scenario::Scenario;
use crate::stop::Stop;
use crate::system::{Build, BuildError, build, cores, raise_open_files};

/// How long a build may take: a cold one of a large workspace on a small VPS.
const BUILD_WITHIN: Duration = Duration::from_secs(3600);

/// Run scenarios.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Args {
    /// Scenario files, or folders of them
    #[arg(required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// Run this variant alone; the exit status is then that run's own
    #[arg(long)]
    pub(super) variant: Option<String>,
    /// Leave what a run leaves in this folder instead of runs/<scenario>-<variant>-<time>
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) draw: Draw,
    /// In a network of the run's own, in which `api.telegram.org` is the stub for every program and nothing else is reached
    #[arg(long, conflicts_with_all = ["shard", "target", "pid", "stub", "stub_listen"])]
    pub(super) isolate: bool,
    #[command(flatten)]
    pub(super) place: place::Args,
}

pub(super) fn run(args: &Args) -> Exit {
    let ready = Errands::gather(args).and_then(|errands| {
        if args.isolate {
            isolate(&errands)?;
        }
        let stop = Stop::on_signals().map_err(Refused::could_not("listen for Ctrl-C"))?;
        let machine = cores::machine().map_err(Refused::could_not("ask for the machine's cores"))?;
        let open_files = raise_open_files().map_err(Refused::could_not("raise the limit on open files"))?;
        Ok((errands, Runner { args, stop, machine, open_files }))
    });
    match ready {
        Ok((errands, runner)) => runner.run_all(&errands),
        Err(refused) => refused.tell(),
    }
}

/// Makes runs one after another.
struct Runner<'a> {
    args: &'a Args,
    stop: Stop,
    machine: Vec<u32>,
    open_files: Option<u64>,
}

impl Runner<'_> {
    fn run_all(&self, errands: &Errands) -> Exit {
        let (mut made, mut compared) = (Vec::new(), Vec::new());
        for scenario in errands.by_scenario() {
            let first = made.len();
            made.extend(self.run_scenario(scenario));
            compared.push(comparison::show(self.args, &made[first..]));
            if self.stop.asked() {
                break;
            }
        }
        errands.tell_skipped();
        if !errands.held() {
            return Exit::worst(made.iter().map(Made::own_exit).chain(compared));
        }
        table::show(&made);
        let left = self.left_undone(errands, &made);
        Exit::worst(made.iter().map(|made| made.held().0).chain(compared).chain(left))
    }

    /// Runs that Ctrl-C has kept from being made speak for nothing, so the others are no pass.
    fn left_undone(&self, errands: &Errands, made: &[Made]) -> Option<Exit> {
        let left = errands.count().saturating_sub(made.len());
        (self.stop.asked() && left > 0).then(|| {
            talk(&format!("interrupted: {left} of {} runs were not made", errands.count()));
            Exit::Interrupted
        })
    }

    /// Every variant of one scenario.
    fn run_scenario(&self, errands: &[Errand]) -> Vec<Made> {
        let mut made = Vec::new();
        for alike in errands.chunk_by(Errand::is_built_like) {
            made.extend(self.build_and_run(alike));
            if self.stop.asked() {
                break;
            }
        }
        made
    }

    /// Variants of one build, which is made once.
    fn build_and_run(&self, errands: &[Errand]) -> Vec<Made> {
        let Some(first) = errands.first() else { return Vec::new() };
        if let Err(refused) = self.build(&first.scenario) {
            refused.tell();
            return errands.iter().map(|errand| Made::new(&errand.scenario, Err(refused.clone()))).collect();
        }
        let mut made = Vec::new();
        for errand in errands {
            made.push(self.run_errand(errand));
            if self.stop.asked() {
                break;
            }
        }
        made
    }

    /// On a machine that may be shared, a run that is invalid by the rig's fault is tried once more.
    fn run_errand(&self, errand: &Errand) -> Made {
        let dir = errand.dir();
        let made = self.run_once(errand, &dir);
        let may_be_tried_again = self.args.draw.quick && !self.args.place.is_once() && !self.stop.asked();
        if !may_be_tried_again || !made.is_the_rigs_fault() {
            return made;
        }
        match set_aside(&dir) {
            Ok(aside) => {
                let aside = aside.display();
                talk(&format!("invalid: once more, since this machine may be shared; this one is left in {aside}"));
                self.run_once(errand, &dir)
            }
            Err(cause) => {
                talk(&format!("invalid, and not tried once more: {} cannot be emptied: {cause}", dir.display()));
                made
            }
        }
    }

    fn run_once(&self, errand: &Errand, dir: &Path) -> Made {
        let scenario = &errand.scenario;
        let places = match self.args.place.places(scenario) {
            Ok(places) => places,
            Err(refused) => return refused_in(dir, scenario, refused),
        };
        let order = Order {
            scenario: Arc::clone(scenario),
            dir: dir.to_owned(),
            machine: self.machine.clone(),
            open_files: self.open_files,
            quick: self.args.draw.quick,
            isolated: self.args.isolate,
            repeat_with: errand.command.clone(),
            places,
        };
        talk(&format!("\n{}", errand.headline()));
        let mut teller = Teller::new();
        let result = make(&order, &self.stop, &mut |news| teller.tell(news));
        teller.finish();
        let rendered = result
            .map_err(|cause| refused_run(scenario, cause))
            .and_then(|()| render(&order.dir).map_err(Refused::failed));
        match rendered {
            Ok(rendered) => {
                report::show(&rendered);
                Made::new(scenario, Ok(rendered))
            }
            Err(refused) => refused_in(dir, scenario, refused),
        }
    }

    fn build(&self, scenario: &Scenario) -> Result<(), Refused> {
        if self.args.place.attaches(scenario) {
            return Ok(());
        }
        let Some(command) = &scenario.system.build else { return Ok(()) };
        let order = Build {
            program: Program::default(),
            dir: scenario.system.dir.clone(),
            command: command.clone(),
            within: BUILD_WITHIN,
        };
        let mut teller = Teller::new();
        let title = format!("building {}: {}", scenario.name, command.join(" "));
        teller.tell(News::Fact(&title));
        let built = build(&order, &self.stop, &mut |line| teller.tell(News::Waiting(line)));
        teller.finish();
        built.map_err(|cause| match cause {
            BuildError::Keep(cause) => refused_run(scenario, RunError::of_build(cause)),
            BuildError::Failed { .. } | BuildError::TooLong { .. } => Refused::not_ready(cause),
            BuildError::KeeperLost(lost) => Refused::failed(lost),
            BuildError::Interrupted => Refused::interrupted(cause),
        })
    }
}

/// A run that was refused leaves no folder; one that left anything in it stays.
fn refused_in(dir: &Path, scenario: &Scenario, refused: Refused) -> Made {
    drop(fs::remove_dir(dir));
    refused.tell();
    Made::new(scenario, Err(refused))
}

/// Comes back once in a network of the run's own, or with why there can be none.
fn isolate(errands: &Errands) -> Result<(), Refused> {
    if errands.by_scenario().flatten().any(|errand| errand.scenario.system.attach.is_some()) {
        let says = "--isolate: the system at `system.url` runs outside";
        return Err(Refused::usage(says, "leave --isolate out, or give a `command`"));
    }
    let there = if isolate::is_inside() { isolate::furnish() } else { Err(isolate::enter()) };
    there.map_err(|cause| Refused::said(format_args!("--isolate: {cause}")))
}

/// What the machine does not have is shown where the scenario asks for it.
fn refused_run(scenario: &Scenario, cause: RunError) -> Refused {
    match cause {
        RunError::Impossible { key, says } => Refused::at(scenario, &["system", key], says),
        RunError::Service(says) => Refused::at(scenario, &["service"], says),
        RunError::Failed(says) => Refused::failed(says),
    }
}
