//! A terminal of a test's own, which it can close.

use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Dropped, it is closed, and whoever sits at it hears SIGHUP.
#[derive(Debug)]
pub(crate) struct Terminal {
    _window: OwnedFd,
    seat: PathBuf,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&window).and_then(|()| unlockpt(&window)).expect("it may be used");
        let name = ptsname(&window, Vec::new()).expect("it has a name");
        Self { seat: PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes())), _window: window }
    }

    /// What it starts reads from it and writes to it.
    pub(crate) fn is_of(&self, command: &mut Command) {
        command.stdin(self.seat()).stdout(self.seat()).stderr(self.seat());
    }

    fn seat(&self) -> File {
        OpenOptions::new().read(true).write(true).open(&self.seat).expect("its other side")
    }
}
