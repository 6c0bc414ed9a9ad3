//! What to look at for processes that are new in the system's tree: walking it costs more than all else that is read of
//! a process, and while the machine has no new process or thread nothing of it is new either.
//!
//! An id is given a moment before `/proc` shows its process, and the kernel's lists of children can miss one while
//! another ends: so whatever was seen of a birth, the tree is walked afterwards as well, when there is time for it.

use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

use rustix::fs::{PROC_SUPER_MAGIC, fstatfs};

/// Births that are looked at one by one. A walk of a small tree is some 80 system calls, and a look at one id is five.
const FEW: u32 = 16;
/// The first may come too early for what was born right before it.
const WALKS_AFTER_A_BIRTH: u32 = 2;

/// Watches for births.
#[derive(Debug, Default)]
pub(super) struct Births {
    file: Option<File>,
    last: Option<u32>,
    walks_due: u32,
}

/// Where something new may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Look {
    /// Nowhere.
    Nowhere,
    /// Among the processes and threads of these ids.
    Among(RangeInclusive<u32>),
    /// Anywhere: the tree is to be walked.
    Anywhere,
}

impl Births {
    /// Where something may be that was not there the last time; `at_leisure`, now and then, is the time to walk.
    pub(super) fn look(&mut self, at_leisure: bool) -> Look {
        let (before, newest) = (self.last, self.newest());
        self.last = newest;
        let born = before.zip(newest).map_or(Look::Anywhere, |(before, newest)| between(before, newest));
        self.decide(born, at_leisure)
    }

    fn decide(&mut self, born: Look, at_leisure: bool) -> Look {
        if born != Look::Nowhere {
            self.walks_due = WALKS_AFTER_A_BIRTH;
        }
        if at_leisure && self.walks_due > 0 {
            self.walks_due -= 1;
            return Look::Anywhere;
        }
        born
    }

    /// `proc_loadavg(5)`: the last field is the id that was given most recently. A container may have a file of its own
    /// in that place (lxcfs), whose ids are the host's or are refreshed every few seconds; such a one is not asked.
    fn newest(&mut self) -> Option<u32> {
        if self.file.is_none() {
            let file = File::open("/proc/loadavg").ok()?;
            self.file = (fstatfs(&file).ok()?.f_type == PROC_SUPER_MAGIC).then_some(file);
        }
        let mut bytes = [0; 128];
        let read = self.file.as_ref()?.read_at(&mut bytes, 0).ok()?;
        let newest = std::str::from_utf8(&bytes[..read]).ok()?.split_whitespace().next_back()?.parse().ok()?;
        (newest > 0).then_some(newest)
    }
}

/// Ids are given in order, and from the start again at their end.
fn between(before: u32, newest: u32) -> Look {
    match newest.checked_sub(before) {
        Some(0) => Look::Nowhere,
        Some(1..=FEW) => Look::Among(before + 1..=newest),
        Some(_) | None => Look::Anywhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_birth_is_between_the_newest_before_and_after_it() {
        let mut births = Births::default();
        // Where ids start again meanwhile.
        let seen = (0..3).any(|_| {
            let before = births.newest().unwrap();
            let mut child = std::process::Command::new("true").spawn().unwrap();
            let after = births.newest().unwrap();
            child.wait().unwrap();
            before < child.id() && child.id() <= after
        });
        assert!(seen);
    }

    #[test]
    fn a_few_births_are_among_their_ids() {
        assert_eq!(between(7, 7), Look::Nowhere);
        assert_eq!(between(7, 9), Look::Among(8..=9));
        assert_eq!(between(7, 7 + FEW), Look::Among(8..=7 + FEW));
    }

    #[test]
    fn many_births_and_ids_that_start_again_may_be_anything() {
        assert_eq!([between(7, 8 + FEW), between(32_000, 310)], [Look::Anywhere, Look::Anywhere]);
    }

    #[test]
    fn the_tree_is_walked_twice_at_leisure_after_a_birth_and_then_no_more() {
        let mut births = Births::default();
        let among = Look::Among(8..=9);
        assert_eq!(births.decide(Look::Nowhere, true), Look::Nowhere, "nothing was born yet");
        assert_eq!(births.decide(among.clone(), false), among);
        assert_eq!(births.decide(Look::Nowhere, false), Look::Nowhere);
        for expected in [Look::Anywhere, Look::Anywhere, Look::Nowhere] {
            assert_eq!(births.decide(Look::Nowhere, true), expected);
        }
    }

    #[test]
    fn where_nobody_knows_of_births_every_look_is_a_walk() {
        let mut births = Births::default();
        assert_eq!([true, false, true].map(|all| births.decide(Look::Anywhere, all)), [const { Look::Anywhere }; 3]);
    }
}
