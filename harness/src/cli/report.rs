//! `floodrig report`: renders a recording. A run ends with the same, so what it printed can always be had again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use floodrig_reports::recording::{self, FILE_NAME, ReadError};
use floodrig_reports::{BudgetLine, Finding, Report, Summary, Timeline, Verdict};
use floodrig_reports::{budget_lines, findings, html, json, judge, markdown, png, summarise, text};

use super::refused::Refused;
use super::{Exit, say};

/// Render a recording again.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder that a run left, or the `run.jsonl` in it
    run: PathBuf,
}

/// All that a run leaves.
pub(super) const FILES: [&str; 5] = [FILE_NAME, SUMMARY, MARKDOWN, HTML, PNG];
const SUMMARY: &str = "summary.json";
const MARKDOWN: &str = "report.md";
const HTML: &str = "report.html";
const PNG: &str = "report.png";

const NAME_A_RUN: &str = "name the folder that a run left, such as runs/<scenario>-<time>";

/// A recording that was read, judged and rendered.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) dir: PathBuf,
    pub(super) summary: Summary,
    pub(super) timeline: Timeline,
    pub(super) verdict: Verdict,
    pub(super) findings: Vec<Finding>,
    budget_lines: Vec<BudgetLine>,
    /// What the terminal shows.
    pub(super) text: String,
}

/// Why a recording could not be rendered.
#[derive(Debug, thiserror::Error)]
pub(super) enum CannotRender {
    /// It could not be read.
    #[error("{}: {cause}", .run.display())]
    Read {
        /// The folder.
        run: PathBuf,
        /// What was wrong.
        cause: ReadError,
    },
    /// A file could not be written.
    #[error("could not write {}: {cause}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// Renders the recording that `args` name.
pub(super) fn run(args: &Args) -> Exit {
    let folder = match folder(&args.run) {
        Ok(folder) => folder,
        Err(refused) => return refused.tell(),
    };
    match render(folder) {
        Ok(rendered) => {
            show(&rendered);
            rendered.verdict.kind().into()
        }
        Err(cause @ CannotRender::Read { .. }) => Refused::usage(cause, NAME_A_RUN).tell(),
        Err(cause @ CannotRender::Write { .. }) => Refused::failed(cause).tell(),
    }
}

/// The folder that is meant, also where the recording in it is named. Beside any other file nothing is written.
fn folder(run: &Path) -> Result<&Path, Refused> {
    if !run.is_file() {
        return Ok(run);
    }
    if run.file_name().is_none_or(|name| name != FILE_NAME) {
        let says = format_args!("{} is neither a run's folder nor the {FILE_NAME} in it", run.display());
        return Err(Refused::usage(says, NAME_A_RUN));
    }
    let folder = run.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(folder.unwrap_or(Path::new(".")))
}

/// Prints the verdict and where the report is.
pub(super) fn show(rendered: &Rendered) {
    let report = rendered.dir.join(HTML);
    let exit = Exit::from(rendered.verdict.kind()).code();
    say::data(&format!("{}\nreport: {} (exit {exit})", rendered.text, report.display()));
}

/// Reads `dir`'s recording, judges it by its own budgets and writes every rendering beside it.
pub(super) fn render(dir: &Path) -> Result<Rendered, CannotRender> {
    let read = |cause| CannotRender::Read { run: dir.to_owned(), cause };
    let rows = recording::open(dir).map_err(read)?;
    let (summary, timeline) = summarise(rows).map_err(read)?;
    let verdict = judge(&summary, &summary.header.budgets);
    let (findings, budget_lines) = (findings(&summary, &timeline), budget_lines(&summary));
    let text = text(&summary, &verdict, &findings);
    let rendered = Rendered { dir: dir.to_owned(), summary, timeline, verdict, findings, budget_lines, text };
    rendered.write()?;
    Ok(rendered)
}

impl Rendered {
    /// For the pages that show it.
    pub(super) fn report(&self) -> Report<'_> {
        Report {
            summary: &self.summary,
            timeline: &self.timeline,
            verdict: &self.verdict,
            budget_lines: &self.budget_lines,
            findings: &self.findings,
        }
    }

    fn write(&self) -> Result<(), CannotRender> {
        let (summary, verdict, findings) = (&self.summary, &self.verdict, &self.findings);
        self.write_file(SUMMARY, json(summary, verdict, findings).as_bytes())?;
        self.write_file(MARKDOWN, markdown(summary, verdict, findings).as_bytes())?;
        self.write_file(HTML, html(&self.report()).as_bytes())?;
        self.write_file(PNG, &png(&self.report()))
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), CannotRender> {
        let path = self.dir.join(name);
        fs::write(&path, bytes).map_err(|cause| CannotRender::Write { path, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_its_folder_or_the_recording_in_it_and_no_other_file() {
        let run = tempfile::tempdir().unwrap();
        let recording = run.path().join(FILE_NAME);
        fs::write(&recording, "").unwrap();
        fs::write(run.path().join("report.md"), "").unwrap();
        assert_eq!([run.path(), &recording].map(|named| folder(named).unwrap()), [run.path(); 2]);
        let refused = folder(&run.path().join("report.md")).unwrap_err();
        assert_eq!(refused.exit(), Exit::Usage);
        assert!(refused.into_text().contains("report.md is neither a run's folder"));
    }
}
