//! How long the quota of its cgroup has kept a process from running, as the kernel counts it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use procfs::process::Process;

/// Where a cgroup keeps its count.
#[derive(Debug)]
pub(super) struct Throttle {
    count: PathBuf,
}

impl Throttle {
    /// Of this process; nothing when its cgroup has no such count, as the outermost has none.
    pub(super) fn of(process: &Process) -> Option<Self> {
        let groups = process.cgroups().ok()?;
        let counts = groups.into_iter().flat_map(|group| {
            let folder = group.pathname.trim_start_matches('/').to_owned();
            let cpu = group.controllers.iter().any(|controller| controller == "cpu");
            // Version 1 is mounted by its controllers, version 2 (hierarchy 0) for all of them.
            let names = match (cpu, group.hierarchy) {
                (true, _) => vec!["cpu".to_owned(), group.controllers.join(",")],
                (false, 0) => vec![String::new(), "unified".to_owned()],
                (false, _) => Vec::new(),
            };
            names.into_iter().map(move |name| Path::new("/sys/fs/cgroup").join(name).join(&folder).join("cpu.stat"))
        });
        let mut there = counts.map(|count| Self { count }).filter(|throttle| throttle.so_far().is_some());
        there.next()
    }

    /// Since the cgroup was made.
    pub(super) fn so_far(&self) -> Option<Duration> {
        parse(&fs::read_to_string(&self.count).ok()?)
    }
}

/// `throttled_usec` of version 2, `throttled_time` (nanoseconds) of version 1.
fn parse(count: &str) -> Option<Duration> {
    count.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value = value.parse().ok()?;
        match name {
            "throttled_usec" => Some(Duration::from_micros(value)),
            "throttled_time" => Some(Duration::from_nanos(value)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_cgroups_are_read() {
        let two = "usage_usec 9\nnr_periods 2\nnr_throttled 1\nthrottled_usec 1500\n";
        assert_eq!(parse(two), Some(Duration::from_micros(1500)));
        assert_eq!(parse("nr_throttled 1\nthrottled_time 1500\n"), Some(Duration::from_nanos(1500)));
        assert_eq!(parse("usage_usec 9\n"), None);
    }
}
