//! The variants of one scenario side by side: a table on the terminal, and a plotted report of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use floodrig_reports::{Report, compare, comparison_text, html_comparison};

use super::folder::Folder;
use super::made::Made;
use super::refused::Refused;
use super::report::Rendered;
use super::run::Args;
use super::{Exit, say};

/// Compares every variant with the first, when there are several to compare. The rig has failed where what came of it
/// could not be written.
pub(super) fn show(args: &Args, made: &[Made]) -> Exit {
    let rendered: Vec<&Rendered> = made.iter().filter_map(|made| made.result.as_ref().ok()).collect();
    let Some((baseline, candidates)) = rendered.split_first() else { return Exit::Pass };
    for candidate in candidates {
        // Variants that plan differently are different questions; their reports stand beside one another.
        match compare(&baseline.summary, &candidate.summary) {
            Ok(comparison) => say::data(&comparison_text(&comparison)),
            Err(different) => {
                let names = [baseline, candidate].map(|rendered| rendered.summary.header.name());
                say::data(&format!("\n{}: {different}", names.join(" and ")));
            }
        }
    }
    if candidates.is_empty() {
        return Exit::Pass;
    }
    leave(args.out.as_deref(), &baseline.summary.header.scenario, &rendered)
}

fn leave(out: Option<&Path>, scenario: &str, rendered: &[&Rendered]) -> Exit {
    let dir = Folder::of_several(out).claim(&format!("{scenario}-comparison"));
    match write(&dir, rendered) {
        Ok(path) => {
            say::data(&format!("comparison: {}", path.display()));
            Exit::Pass
        }
        Err(cause) => Refused::could_not("write the comparison")(cause).tell(),
    }
}

fn write(dir: &Path, rendered: &[&Rendered]) -> io::Result<PathBuf> {
    let reports: Vec<Report<'_>> = rendered.iter().map(|rendered| rendered.report()).collect();
    fs::create_dir_all(dir)?;
    let path = dir.join("report.html");
    fs::write(&path, html_comparison(&reports))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_that_cannot_be_written_is_a_failure_of_the_rig() {
        let taken = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(leave(Some(taken.path()), "story", &[]), Exit::Failed);
    }
}
