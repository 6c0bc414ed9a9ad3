//! What the kernel says of one process, from files that stay open, since opening one costs as much as reading it:
//! `stat` and `statm` ten times a second, and `status`, which takes the kernel as long again and adds little, once.
//!
//! What is resident stands in `stat` too, but only about: kernels since 6.2 count it for each CPU apart and add that up
//! for the other two alone (since 6.17).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::keeper::Identity;

/// Numbers and one name: some 350 bytes, and 20 for each number at the very most.
const STAT_BYTES: usize = 1536;
/// Some 1.5 KB, and more for a user of many groups.
const STATUS_BYTES: usize = 16 * 1024;

/// The files of one process.
#[derive(Debug)]
pub(super) struct Files {
    stat: Source,
    statm: Source,
    status: Source,
}

/// What `stat` and `statm` say at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) parent: u32,
    pub(super) start: u64,
    /// User and system time together.
    pub(super) cpu_ticks: u64,
    /// That of its children that have ended and that it has waited for.
    pub(super) children_ticks: u64,
    pub(super) major_faults: u64,
    pub(super) threads: u64,
    pub(super) rss_pages: u64,
}

/// What `status` says beyond it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) hwm_bytes: u64,
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
        Self { stat: source("stat"), statm: source("statm"), status: source("status") }
    }

    /// Nothing: the process has ended.
    pub(super) fn stat(&self) -> Option<Said> {
        let said = stat(&self.stat.read(&mut [0; STAT_BYTES]).ok()?)?;
        Some(Said { rss_pages: resident(&self.statm.read(&mut [0; STAT_BYTES]).ok()?)?, ..said })
    }

    /// Nothing: the process has ended.
    pub(super) fn status(&self) -> Option<Status> {
        Some(status(&self.status.read(&mut [0; STATUS_BYTES]).ok()?))
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

/// `proc_pid_stat(5)`. The name stands in brackets and may hold any sign; the third field follows the last bracket, and
/// is `Z` or `X` for one that has ended and that nobody has collected yet.
fn stat(text: &str) -> Option<Said> {
    let (head, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let mut number = |skip: usize| fields.nth(skip)?.parse::<u64>().ok();
    Some(Said {
        name: head.split_once('(')?.1.to_owned(),
        parent: number(0)? as u32,
        major_faults: number(7)?,
        cpu_ticks: number(1)? + number(0)?,
        children_ticks: number(0)? + number(0)?,
        threads: number(2)?,
        start: number(1)?,
        rss_pages: 0,
    })
}

/// `proc_pid_statm(5)`: the second field.
fn resident(text: &str) -> Option<u64> {
    text.split(' ').nth(1)?.parse().ok()
}

/// `proc_pid_status(5)`.
fn status(text: &str) -> Status {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    let kib = |value: &str| value.split_whitespace().next()?.parse::<u64>().ok();
    Status {
        hwm_bytes: value("VmHWM").and_then(kib).unwrap_or(0) * 1024,
        cores: value("Cpus_allowed_list").unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_counted_from_the_last_bracket_of_the_name() {
        let text =
            "7 (a) b (c) S 5 7 7 0 -1 4194560 100 0 12 0 30 4 5 6 20 0 11 0 98765 1000 25 18446744073709551615\n";
        let said = stat(text).unwrap();
        assert_eq!(said.name, "a) b (c");
        assert_eq!((said.parent, said.major_faults, said.threads), (5, 12, 11));
        assert_eq!((said.cpu_ticks, said.children_ticks), (34, 11));
        assert_eq!((said.start, resident("1600 25 12 8 0 104 0\n")), (98_765, Some(25)));
        assert_eq!(stat("7 (a) S 5\n"), None, "cut off");
        assert_eq!(stat(&text.replace(" S ", " Z ")), None, "a zombie has no memory left to tell of");
    }

    #[test]
    fn the_peak_and_the_cores_are_found_among_the_lines() {
        let text = "Name:\tnode\nVmHWM:\t   90 kB\nVmRSS:\t   80 kB\nCpus_allowed:\t1\nCpus_allowed_list:\t0-1,3\n";
        assert_eq!(status(text), Status { hwm_bytes: 90 * 1024, cores: "0-1,3".to_owned() });
        assert_eq!(status("Name:\tnode\n"), Status::default());
    }

    #[test]
    fn files_that_stay_open_say_the_same_and_nothing_after_the_end() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Identity::of(child.id()).unwrap();
        let [open, anew] = [true, false].map(|stay_open| Files::of(process, stay_open));
        let said = open.stat().unwrap();
        assert_eq!((said.start, said.parent, said.threads), (process.start, std::process::id(), 1));
        assert!(said.rss_pages > 0 && open.status().unwrap().hwm_bytes > 0, "{said:?}");
        assert_eq!(anew.stat().unwrap().start, process.start);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((open.stat(), anew.stat(), open.status()), (None, None, None));
    }
}
