//! The folder of the hooks: the files that Node and Python load, which anyone may read, and the marks that they leave.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::system::preload;

const NODE: &str = include_str!("../../probes/redirect.cjs");
const PYTHON: &str = concat!(include_str!("../../probes/redirect.py"), include_str!("../../probes/next.py"));
/// Where the hooks find the stub; without it they do nothing.
const STUB_VARIABLE: &str = "FLOODRIG_REDIRECT";
/// Where they leave their marks.
const MARKS_VARIABLE: &str = "FLOODRIG_REDIRECT_MARKS";

/// What a process's hook says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// It was loaded.
    Loaded,
    /// And has sent a connection to the stub.
    Redirected,
}

/// The folder; dropped, it is removed.
#[derive(Debug)]
pub(super) struct Hooks {
    folder: TempDir,
}

impl Hooks {
    /// Makes it and writes the hooks.
    pub(super) fn write() -> io::Result<Self> {
        let hooks = Self { folder: tempfile::Builder::new().prefix("floodrig-redirect-").tempdir()? };
        // A system may start its server as another user, and a program whose preload is not to be read does not start.
        open(hooks.root(), 0o755)?;
        fs::create_dir(hooks.python())?;
        open(&hooks.python(), 0o755)?;
        fs::create_dir(hooks.marks_folder())?;
        open(&hooks.marks_folder(), 0o1777)?;
        for (path, text) in [(hooks.node(), NODE), (hooks.python().join("sitecustomize.py"), PYTHON)] {
            fs::write(&path, text)?;
            open(&path, 0o644)?;
        }
        Ok(hooks)
    }

    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    fn node(&self) -> PathBuf {
        self.root().join("redirect.cjs")
    }

    fn python(&self) -> PathBuf {
        self.root().join("python")
    }

    fn marks_folder(&self) -> PathBuf {
        self.root().join("marks")
    }

    /// Adds the hooks to the system's variables, behind the user's own.
    pub(super) fn put_into(&self, env: &mut BTreeMap<String, String>, stub_url: &str) {
        preload::node(env, &self.node());
        preload::python(env, &self.python());
        env.insert(STUB_VARIABLE.to_owned(), stub_url.to_owned());
        env.insert(MARKS_VARIABLE.to_owned(), self.marks_folder().display().to_string());
    }

    /// The marks so far, by process.
    pub(super) fn marks(&self) -> BTreeMap<u32, Mark> {
        // A folder that the keeper has removed by now holds no mark.
        let entries = fs::read_dir(self.marks_folder()).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                let word = fs::read(entry.path()).ok()?;
                Some((pid, if word == b"redirected" { Mark::Redirected } else { Mark::Loaded }))
            })
            .collect()
    }
}

/// Whatever the user's mask takes away is given back.
fn open(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}
