//! The run's private folder in memory: the probes, which anyone may read, and the pages, which only the user may.
//!
//! The probes stand outside the private part, because a system may start its server as another user: a program whose
//! preload is not to be read does not start. The keeper removes the folder when the system's last process has ended.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::system::preload;

/// Where the folder is made: in memory, so that no disk is waited for.
const MEMORY: &str = "/dev/shm";
/// Where the probes find the pages' folder; without it they do nothing.
const PAGES_VARIABLE: &str = "FLOODRIG_HEARTBEAT";
/// Set where stacks are asked for.
const STACKS_VARIABLE: &str = "FLOODRIG_STACKS";
const NODE_STACKS: &str = include_str!("../../../probes/node-stacks.cjs");
const NODE_PROBE: &str = include_str!("../../../probes/node.cjs");
const PYTHON_PROBE: &str =
    concat!(include_str!("../../../probes/sitecustomize.py"), include_str!("../../../probes/next.py"));

/// The folder; dropped, it is removed.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    stacks: bool,
}

impl Folder {
    /// Makes it and writes the probes.
    pub fn create() -> io::Result<Self> {
        let folder = Self { root: unused()?, stacks: false };
        make(&folder.pages(), 0o700)?;
        make(&folder.python(), 0o755)?;
        write(&folder.node(), NODE_PROBE)?;
        write(&folder.root.join("node-stacks.cjs"), NODE_STACKS)?;
        write(&folder.python().join("sitecustomize.py"), PYTHON_PROBE)?;
        Ok(folder)
    }

    /// The same, whose probes also say where in the code a stall was.
    #[must_use]
    pub fn with_stacks(mut self) -> Self {
        self.stacks = true;
        self
    }

    /// All of it, for the keeper to remove.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the pages are.
    pub fn pages(&self) -> PathBuf {
        self.root.join("pages")
    }

    pub(super) fn node(&self) -> PathBuf {
        self.root.join("node.cjs")
    }

    pub(super) fn python(&self) -> PathBuf {
        self.root.join("python")
    }

    /// Adds the probes to the system's variables, behind the user's own: those given, or else those inherited.
    pub fn put_into(&self, env: &mut BTreeMap<String, String>) {
        preload::node(env, &self.node());
        preload::python(env, &self.python());
        if self.stacks {
            env.insert(STACKS_VARIABLE.to_owned(), "1".to_owned());
        }
        env.insert(PAGES_VARIABLE.to_owned(), self.pages().display().to_string());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The keeper was there first, unless it was killed.
        drop(fs::remove_dir_all(&self.root));
    }
}

/// Folders made by this process so far. No name is used twice: who still removes an old one must not meet a new one.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A new folder; a name that an older process of the same number has left behind is passed over.
fn unused() -> io::Result<PathBuf> {
    loop {
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let root = Path::new(MEMORY).join(format!("floodrig-{}-{nth}", std::process::id()));
        match make(&root, 0o755) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| root),
        }
    }
}

/// Whatever the user's mask takes away is given back: a probe that cannot be read would keep a program from starting.
fn make(folder: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().mode(mode).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(mode))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_pages_are_private_and_the_probes_can_be_read_by_a_system_that_changes_its_user() {
        let folder = Folder::create().unwrap();
        assert_eq!((mode(&folder.pages()), mode(folder.root())), (0o700, 0o755));
        assert_eq!(mode(&folder.node()), 0o644);
    }

    #[test]
    fn two_runs_of_one_process_have_two_folders_and_leave_neither() {
        let (one, other) = (Folder::create().unwrap(), Folder::create().unwrap());
        let roots = [one.root().to_owned(), other.root().to_owned()];
        assert_ne!(roots[0], roots[1]);
        drop((one, other));
        assert!(roots.iter().all(|root| !root.exists()));
    }

    #[test]
    fn a_name_is_not_used_again_after_its_folder_has_gone() {
        let one = Folder::create().unwrap();
        fs::remove_dir_all(one.root()).unwrap();
        let other = Folder::create().unwrap();
        drop(one);
        assert!(other.pages().exists(), "the end of one folder is not that of another");
    }
}
