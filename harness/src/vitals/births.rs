//! Whether the machine has had new processes or threads, so that the tree may have grown: walking it costs more than all
//! else that is read of a process.

use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

/// Births that are looked at one by one; more of them cost as much as a walk of the tree.
const FEW: u64 = 16;

/// Watches for births.
#[derive(Debug, Default)]
pub(super) struct Births {
    file: Option<File>,
    last: Option<u32>,
}

/// What was born since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Born {
    Nothing,
    /// Processes and threads of no other ids.
    Among(RangeInclusive<u32>),
    /// Too many to look at, or nobody knows.
    Anything,
}

impl Births {
    /// Since the last time.
    pub(super) fn look(&mut self) -> Born {
        let (before, newest) = (self.last, self.newest());
        self.last = newest;
        before.zip(newest).map_or(Born::Anything, |(before, last)| born(before, last))
    }

    /// `proc_loadavg(5)`: the last field is the id that was given most recently.
    fn newest(&mut self) -> Option<u32> {
        if self.file.is_none() {
            self.file = File::open("/proc/loadavg").ok();
        }
        let mut bytes = [0; 128];
        let read = self.file.as_ref()?.read_at(&mut bytes, 0).ok()?;
        let newest = std::str::from_utf8(&bytes[..read]).ok()?.split_whitespace().next_back()?.parse().ok()?;
        (newest > 0).then_some(newest)
    }
}

/// Ids are given in order, and from the start again at their end.
fn born(before: u32, last: u32) -> Born {
    match u64::from(last).checked_sub(u64::from(before)) {
        Some(0) => Born::Nothing,
        Some(count) if count <= FEW => Born::Among(before + 1..=last),
        Some(_) | None => Born::Anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birth_is_seen() {
        let mut births = Births::default();
        assert_eq!(births.look(), Born::Anything, "nothing is known at first");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        match births.look() {
            Born::Among(ids) => assert!(ids.contains(&child.id()), "{ids:?}"),
            // The tests beside this one have children too.
            Born::Anything => {}
            Born::Nothing => panic!("{} was born", child.id()),
        }
        child.wait().unwrap();
    }

    #[test]
    fn ids_that_start_again_may_be_anything() {
        assert_eq!(born(7, 7), Born::Nothing);
        assert_eq!(born(7, 9), Born::Among(8..=9));
        assert_eq!(born(7, 7 + FEW as u32 + 1), Born::Anything);
        assert_eq!(born(32_000, 310), Born::Anything);
    }
}
