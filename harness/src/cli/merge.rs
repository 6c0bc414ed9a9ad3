//! `floodrig merge`: the recordings of all shards become one, which is rendered and judged as any run is.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use floodrig_reports::merge::{Joint, Recorded};
use floodrig_reports::recording::{self, FILE_NAME, Header, Writer};

use super::Exit;
use super::folder::{Folder, check_free};
use super::refused::Refused;
use super::report::{Rendered, render, show};

/// Join the recordings of all shards of one plan.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folders that the shards left, in any order
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Leave the joint run in this folder instead of runs/<scenario>-<variant>-merged-<time>
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Exit {
    match merge(args) {
        Ok(rendered) => {
            show(&rendered);
            rendered.verdict.kind().into()
        }
        Err(refused) => refused.tell(),
    }
}

fn merge(args: &Args) -> Result<Rendered, Refused> {
    if let Some(out) = &args.out {
        check_free(out)?;
    }
    let recorded = args.runs.iter().map(|run| read(run)).collect::<Result<Vec<_>, _>>()?;
    let joint = Joint::of(&recorded)
        .map_err(|cause| Refused::usage(cause, "name the folders of all shards of one run, each once"))?;
    let dir = Folder::of_one(args.out.as_deref()).claim(&name(joint.header()));
    write(joint, &args.runs, &dir)?;
    render(&dir).map_err(Refused::failed)
}

/// `rollover-before-merged`
fn name(header: &Header) -> String {
    let variant = header.variant.as_ref().map(|variant| format!("-{variant}")).unwrap_or_default();
    format!("{}{variant}-merged", header.scenario)
}

fn read(run: &Path) -> Result<Recorded, Refused> {
    let name = run.display().to_string();
    let recorded = recording::open(run).and_then(|rows| Recorded::read(name.clone(), rows));
    recorded.map_err(|cause| {
        let help = "name the folder that a shard left, such as runs/<scenario>-shard-1-of-2-<time>";
        Refused::usage(format_args!("{name}: {cause}"), help)
    })
}

fn write(joint: Joint, runs: &[PathBuf], dir: &Path) -> Result<(), Refused> {
    let failed = |cause: &dyn std::fmt::Display| Refused::failed(format_args!("{}: {cause}", dir.display()));
    fs::create_dir_all(dir).map_err(|cause| failed(&cause))?;
    let mut to = BufWriter::new(File::create(dir.join(FILE_NAME)).map_err(|cause| failed(&cause))?);
    let mut writer = Writer::new(&mut to);
    let recordings = runs.iter().map(|run| recording::open(run)).collect::<Result<Vec<_>, _>>();
    for row in joint.rows(recordings.map_err(|cause| failed(&cause))?) {
        writer.write(&row.map_err(|cause| failed(&cause))?).map_err(|cause| failed(&cause))?;
    }
    to.flush().map_err(|cause| failed(&cause))
}
