//! A folder for what a command leaves on disk, which goes when its tree does, even when the rig is gone by then.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Others may pass through it to what is theirs, since a server that is started by root may run as another user.
const MODE: u32 = 0o711;

/// Removes its folder when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder.
    pub(super) fn make(path: &Path) -> io::Result<Self> {
        DirBuilder::new().mode(MODE).create(path)?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes a folder whose owner has ended.
pub(super) fn remove(path: &Path) {
    // What cannot be removed belongs to somebody else by now, or has been removed already.
    let _removed = fs::remove_dir_all(path);
}
