//! The world that a stub starts from, read from its file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use floodrig_stub::described::Described;

use super::super::refused::Refused;
use crate::scenario::{self, Source};

/// A hundred thousand chats and more; what is longer was meant for something else.
const LONGEST: u64 = 64 << 20;

/// Reads and checks it.
pub(super) fn read(path: &Path) -> Result<Described, Refused> {
    let cannot = |cause: &dyn std::fmt::Display| {
        let says = format_args!("the world `{}` cannot be read: {cause}", path.display());
        Refused::usage(says, "name a file as stub/README.md describes it with --world")
    };
    let file = File::open(path).map_err(|cause| cannot(&cause))?;
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|cause| cannot(&cause))?;
    if text.len() as u64 > LONGEST {
        return Err(cannot(&"it is longer than 64 MiB"));
    }
    scenario::world(&text).map_err(|wrong| {
        let source = Source { path: path.to_owned(), text };
        Refused::drawn(&source, &wrong)
    })
}
