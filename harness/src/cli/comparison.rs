//! The variants of one scenario side by side: a table on the terminal, and a plotted report of its own.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use floodrig_reports::{Report, compare, comparison_text, html_comparison};

use super::errands::new_below;
use super::made::Made;
use super::report::Rendered;
use super::run::Args;

/// Compares every variant with the first, when there are several to compare.
pub(super) fn show(args: &Args, made: &[Made]) {
    let rendered: Vec<&Rendered> = made.iter().filter_map(|made| made.result.as_ref().ok()).collect();
    let Some((baseline, candidates)) = rendered.split_first() else { return };
    for candidate in candidates {
        // Variants that plan differently are different questions; their reports stand beside one another.
        match compare(&baseline.summary, &candidate.summary) {
            Ok(comparison) => say(&comparison_text(&comparison)),
            Err(different) => {
                let names = [baseline, candidate].map(|rendered| rendered.summary.header.name());
                say(&format!("\n{}: {different}", names.join(" and ")));
            }
        }
    }
    if !candidates.is_empty() {
        let scenario = &baseline.summary.header.scenario;
        let below = args.out.clone().unwrap_or_else(|| PathBuf::from("runs"));
        match write(&new_below(&below, &format!("{scenario}-comparison")), &rendered) {
            Ok(path) => say(&format!("comparison: {}", path.display())),
            Err(cause) => say(&format!("the comparison could not be written: {cause}")),
        }
    }
}

fn write(dir: &Path, rendered: &[&Rendered]) -> io::Result<PathBuf> {
    let reports: Vec<Report<'_>> = rendered.iter().map(|rendered| rendered.report()).collect();
    fs::create_dir_all(dir)?;
    let path = dir.join("report.html");
    fs::write(&path, html_comparison(&reports))?;
    Ok(path)
}

fn say(text: &str) {
    // A closed standard output takes the text with it; the files are there.
    drop(writeln!(io::stdout(), "{text}"));
}
