//! The file a scenario was read from, and why it could not be read.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::complaint::nearest;

/// The file a scenario was read from.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Why a scenario file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Nothing is there.
    #[error("there is no scenario `{}`{}", path.display(), hint(near.as_deref()))]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// A scenario, or a folder of some, beside it with nearly this name.
        near: Option<PathBuf>,
    },
    /// It is there and cannot be read.
    #[error("the scenario `{}` cannot be read: {cause}", path.display())]
    Denied {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is no text.
    #[error("`{}` is not a scenario: line {line} holds bytes that are not UTF-8 text", path.display())]
    NotText {
        /// Where it is.
        path: PathBuf,
        /// Where the first such byte is, counted from 1.
        line: usize,
    },
    /// It is too long for something a person wrote.
    #[error("`{}` is not a scenario: it is longer than 1 MiB", path.display())]
    TooLong {
        /// Where it is.
        path: PathBuf,
    },
}

impl Unreadable {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing { .. } | Self::TooLong { .. } => "name a scenario's file, or a folder that holds some",
            Self::Denied { .. } => "name a file that the user who runs the rig may read",
            Self::NotText { .. } => "save it as UTF-8, or name a scenario's file",
        }
    }
}

/// A scenario is some forty lines by hand; the header of a recording holds it whole.
const LONGEST: u64 = 1 << 20;

impl Source {
    /// Reads a scenario file, for [`super::parse`].
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|cause| unreadable(path, cause))?;
        file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|cause| unreadable(path, cause))?;
        let path = path.to_owned();
        if bytes.len() as u64 > LONGEST {
            return Err(Unreadable::TooLong { path });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path, text }),
            Err(error) => {
                let fine = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = fine.split(|byte| *byte == b'\n').count();
                Err(Unreadable::NotText { path, line })
            }
        }
    }
}

fn unreadable(path: &Path, cause: io::Error) -> Unreadable {
    let path = path.to_owned();
    if cause.kind() == io::ErrorKind::NotFound {
        let near = nearly_named(&path);
        return Unreadable::Missing { path, near };
    }
    Unreadable::Denied { path, cause }
}

/// A scenario, or a folder that holds some, beside where `path` would be that has nearly its name. A folder that cannot
/// be listed has none.
pub fn nearly_named(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_stem()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = listed(folder).filter(|path| is_scenario(path) || listed(path).any(|inside| is_scenario(&inside)));
    // A file comes after a folder of the same stem, and so in its place.
    let mut known: Vec<(String, PathBuf)> =
        beside.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path))).collect();
    known.sort_by_key(|(_, path)| path.is_file());
    let mut known: BTreeMap<String, PathBuf> = known.into_iter().collect();
    let near = nearest(wanted, &known.keys().map(String::as_str).collect::<Vec<_>>())?.to_owned();
    Some(path.with_file_name(known.remove(&near)?.file_name()?))
}

fn listed(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
}

/// Whether a file of a folder is taken for a scenario.
pub fn is_scenario(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "toml")
}

fn hint(near: Option<&Path>) -> String {
    near.map(|near| format!("; did you mean `{}`?", near.display())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_scenario_names_one_that_is_nearly_named_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("rollover.toml"), "").unwrap();
        let said = Source::read(&folder.path().join("rolover.toml")).unwrap_err().to_string();
        let folder = folder.path().display();
        assert_eq!(
            said,
            format!("there is no scenario `{folder}/rolover.toml`; did you mean `{folder}/rollover.toml`?")
        );
    }

    #[test]
    fn a_folder_of_scenarios_may_be_meant_and_another_may_not() {
        let folder = tempfile::tempdir().unwrap();
        let near = || nearly_named(&folder.path().join("scenarois"));
        fs::create_dir(folder.path().join("scenarios")).unwrap();
        assert_eq!(near(), None);
        fs::write(folder.path().join("scenarios/a.toml"), "").unwrap();
        assert_eq!(near(), Some(folder.path().join("scenarios")));
        fs::write(folder.path().join("scenarios.toml"), "").unwrap();
        assert_eq!(near(), Some(folder.path().join("scenarios.toml")));
    }

    #[test]
    fn a_missing_scenario_far_from_any_other_name_is_just_missing() {
        let folder = tempfile::tempdir().unwrap();
        let said = Source::read(&folder.path().join("x.toml")).unwrap_err().to_string();
        assert_eq!(said, format!("there is no scenario `{}/x.toml`", folder.path().display()));
    }

    #[test]
    fn a_folder_cannot_be_read_as_a_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let said = Source::read(folder.path()).unwrap_err().to_string();
        assert!(said.contains("cannot be read: "), "{said}");
    }

    #[test]
    fn a_picture_is_not_a_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        fs::write(&file, [0x89, b'P', b'N', b'G']).unwrap();
        assert!(matches!(Source::read(&file), Err(Unreadable::NotText { line: 1, .. })));
        fs::write(&file, b"name = 's'\n# caf\xe9\n").unwrap();
        assert!(matches!(Source::read(&file), Err(Unreadable::NotText { line: 2, .. })));
    }

    #[test]
    fn a_mebibyte_is_read_and_one_byte_more_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.toml");
        fs::write(&file, vec![b'#'; 1 << 20]).unwrap();
        assert_eq!(Source::read(&file).unwrap().text.len(), 1 << 20);
        fs::write(&file, vec![b'#'; (1 << 20) + 1]).unwrap();
        assert!(matches!(Source::read(&file), Err(Unreadable::TooLong { .. })));
    }
}
