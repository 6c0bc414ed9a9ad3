//! What the kernel says of one process ten times a second, from two files that stay open: opening them anew, and reading
//! all that they hold, costs more than the kernel takes to write them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::keeper::Identity;

/// Both files are shorter; `status` has some 1.5 KB.
const BYTES: usize = 16 * 1024;

/// The files of one process.
#[derive(Debug)]
pub(super) struct Files {
    stat: Source,
    status: Source,
}

/// What they say at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) parent: u32,
    pub(super) start: u64,
    /// User and system time together.
    pub(super) cpu_ticks: u64,
    pub(super) major_faults: u64,
    pub(super) threads: u64,
    /// Nothing: it has ended and nobody has collected it yet.
    pub(super) rss_kib: Option<u64>,
    pub(super) hwm_kib: Option<u64>,
    /// In the kernel's own words, such as `0-3,7`.
    pub(super) cores: String,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    /// Nothing: opened for every look, since handles are not without end.
    open: Option<File>,
}

impl Files {
    /// Of this process, and whether they stay open.
    pub(super) fn of(process: Identity, stay_open: bool) -> Self {
        let source = |name: &str| {
            let path = PathBuf::from(format!("/proc/{}/{name}", process.pid));
            Source { open: stay_open.then(|| File::open(&path).ok()).flatten(), path }
        };
        Self { stat: source("stat"), status: source("status") }
    }

    /// Nothing: the process has ended.
    pub(super) fn read(&self) -> Option<Said> {
        let mut bytes = [0; BYTES];
        let mut said = Said::default();
        stat(&self.stat.read(&mut bytes).ok()?, &mut said)?;
        status(&self.status.read(&mut bytes).ok()?, &mut said)?;
        Some(said)
    }
}

impl Source {
    fn read<'b>(&self, bytes: &'b mut [u8]) -> io::Result<std::borrow::Cow<'b, str>> {
        let read = match &self.open {
            Some(file) => file.read_at(bytes, 0)?,
            None => File::open(&self.path)?.read(bytes)?,
        };
        Ok(String::from_utf8_lossy(&bytes[..read]))
    }
}

/// `proc_pid_stat(5)`. The name stands in brackets and may hold any sign; the third field follows the last bracket.
fn stat(text: &str, to: &mut Said) -> Option<()> {
    let mut fields = text.get(text.rfind(')')? + 2..)?.split(' ');
    let mut number = |skip: usize| fields.nth(skip)?.parse::<u64>().ok();
    to.parent = number(1)? as u32;
    to.major_faults = number(7)?;
    to.cpu_ticks = number(1)? + number(0)?;
    to.start = number(6)?;
    Some(())
}

/// `proc_pid_status(5)`.
fn status(text: &str, to: &mut Said) -> Option<()> {
    for line in text.lines() {
        let Some((name, value)) = line.split_once(":\t") else { continue };
        let number = || value.split_whitespace().next()?.parse::<u64>().ok();
        match name {
            "Name" => value.clone_into(&mut to.name),
            "VmHWM" => to.hwm_kib = number(),
            "VmRSS" => to.rss_kib = number(),
            "Threads" => to.threads = number()?,
            "Cpus_allowed_list" => {
                value.clone_into(&mut to.cores);
                return Some(());
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_counted_from_the_last_bracket_of_the_name() {
        let text =
            "7 (a) b (c) S 5 7 7 0 -1 4194560 100 0 12 0 30 4 0 0 20 0 11 0 98765 1000 25 18446744073709551615\n";
        let mut said = Said::default();
        stat(text, &mut said).unwrap();
        assert_eq!((said.parent, said.major_faults, said.cpu_ticks, said.start), (5, 12, 34, 98_765));
        assert_eq!(stat("7 (a) S 5\n", &mut said), None);
    }

    #[test]
    fn a_process_that_has_ended_has_no_memory_left_to_tell_of() {
        let mut said = Said::default();
        let zombie = "Name:\tnode\nState:\tZ (zombie)\nThreads:\t1\nCpus_allowed_list:\t0-1,3\n";
        status(zombie, &mut said).unwrap();
        assert_eq!((said.name.as_str(), said.rss_kib, said.threads, said.cores.as_str()), ("node", None, 1, "0-1,3"));
        status(&zombie.replace("Threads", "VmHWM:\t  90 kB\nVmRSS:\t  80 kB\nThreads"), &mut said).unwrap();
        assert_eq!((said.hwm_kib, said.rss_kib), (Some(90), Some(80)));
        assert_eq!(status("Name:\tnode\n", &mut said), None, "cut off");
    }

    #[test]
    fn files_that_stay_open_say_the_same_and_nothing_after_the_end() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Identity::of(child.id()).unwrap();
        let [open, anew] = [true, false].map(|stay_open| Files::of(process, stay_open));
        let said = open.read().unwrap();
        assert_eq!((said.start, said.parent, said.threads), (process.start, std::process::id(), 1));
        assert_eq!(anew.read().unwrap().start, process.start);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((open.read(), anew.read()), (None, None));
    }
}
