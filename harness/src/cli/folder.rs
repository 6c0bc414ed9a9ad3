//! The folders that runs are left in: a new one for each, and never one that holds a run already.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use floodrig_reports::recording::FILE_NAME;

use super::refused::Refused;
use super::report::FILES;

/// Where runs are left when nobody says where.
const RUNS: &str = "runs";

/// Where a run leaves what it leaves.
#[derive(Debug)]
pub(super) enum Folder {
    /// Exactly here.
    Given(PathBuf),
    /// Below here, by name and time.
    Below(PathBuf),
}

impl Folder {
    /// For the only run of a command: where `--out` says.
    pub(super) fn of_one(out: Option<&Path>) -> Self {
        out.map_or_else(|| Self::of_several(None), |out| Self::Given(out.to_owned()))
    }

    /// For one of several: each has a folder of its own below what `--out` says.
    pub(super) fn of_several(out: Option<&Path>) -> Self {
        Self::Below(out.unwrap_or(Path::new(RUNS)).to_owned())
    }

    /// A folder that is not there yet, for a run of this name.
    pub(super) fn claim(&self, name: &str) -> PathBuf {
        match self {
            Self::Given(dir) => dir.clone(),
            Self::Below(dir) => new_below(dir, name),
        }
    }
}

/// Moves what a run has left into a folder inside its own, which the run that counts then has to itself; gives the new
/// one. Whatever else lies there stays.
pub(super) fn set_aside(dir: &Path) -> io::Result<PathBuf> {
    let aside = claim(&dir.join("discarded"));
    fs::read_dir(&aside)?;
    for name in FILES {
        match fs::rename(dir.join(name), aside.join(name)) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(aside)
}

/// A folder that holds a run is not written over.
pub(super) fn check_free(out: &Path) -> Result<(), Refused> {
    let dir = out.display();
    if out.exists() && !out.is_dir() {
        return Err(Refused::usage(format_args!("{dir} is not a folder"), "name another with --out"));
    }
    if out.join(FILE_NAME).exists() {
        return Err(Refused::usage(format_args!("{dir} holds a run already"), "name another folder with --out"));
    }
    Ok(())
}

/// A new folder below `dir`: the name and the time in UTC, and a number when two begin in one second.
fn new_below(dir: &Path, name: &str) -> PathBuf {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_claimed_once_and_the_next_of_its_name_has_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        assert_eq!([claim(&run), claim(&run)], ["run", "run-2"].map(|name| folder.path().join(name)));
        let given = folder.path().join("given");
        assert_eq!(Folder::Given(given.clone()).claim("any"), given);
        assert!(!given.exists(), "the one that was named is made by who fills it");
    }

    #[test]
    fn a_discarded_run_leaves_its_folder_to_the_next_and_takes_nothing_else_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path();
        fs::write(run.join("notes.txt"), "").unwrap();
        for aside in ["discarded", "discarded-2"] {
            fs::write(run.join("report.html"), aside).unwrap();
            assert_eq!(set_aside(run).unwrap(), run.join(aside));
            assert_eq!(fs::read_to_string(run.join(aside).join("report.html")).unwrap(), aside);
            assert!(run.join("notes.txt").exists() && !run.join("report.html").exists());
        }
        assert!(set_aside(&run.join("nowhere")).is_err(), "no folder can be made there");
    }

    #[test]
    fn a_run_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_free(folder.path()).is_ok());
        let recording = folder.path().join(FILE_NAME);
        fs::write(&recording, "").unwrap();
        assert!(check_free(folder.path()).unwrap_err().into_text().contains("holds a run already\n  help: "));
        assert!(check_free(&recording).unwrap_err().into_text().contains("is not a folder\n  help: "));
    }
}
