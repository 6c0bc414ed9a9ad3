//! Limits of memory and CPU through a control group of the kernel, version 2 or 1, where this user may make one.
//!
//! Nothing is assumed: each way is tried, and what cannot be had has its reason. The group is made by the rig, entered
//! by the launcher before it becomes the command, and removed by the rig, or by the keeper when the rig is gone.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use floodrig_reports::Value;
use floodrig_reports::recording::Confined;
use procfs::{Current as _, Meminfo};

/// The quota's period, the kernel's own default (`cpu.cfs_period_us`, `cpu.max`).
const PERIOD_US: u64 = 100_000;

/// What is to be limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Memory of the whole tree, in bytes.
    pub memory: Option<u64>,
    /// Cores' worth of CPU time.
    pub cpu: Option<f64>,
}

impl fmt::Display for Limits {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.memory.map(|bytes| format!("memory {}", Value::Size(bytes)));
        let cpu = self.cpu.map(|cpu| format!("{cpu} of CPU"));
        let both: Vec<String> = memory.into_iter().chain(cpu).collect();
        to.write_str(&both.join(" and "))
    }
}

/// One group in one hierarchy; removed when dropped, once nobody is in it.
#[derive(Debug)]
struct Group {
    dir: PathBuf,
    version: Version,
    limits: Limits,
    /// Whether it is neither below the rig's own group nor beside it, so that limits of those between do not hold.
    is_far: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The limits in force, and why those that are not are not.
#[derive(Debug, Default)]
pub struct Confinement {
    groups: Vec<Group>,
    wanted: Limits,
    refused: Vec<String>,
}

impl Confinement {
    /// Makes groups for these limits; `name` tells them from those of other rigs.
    pub fn make(wanted: Limits, name: &str) -> Self {
        let mut made = Self { wanted, ..Self::default() };
        if wanted == Limits::default() {
            return made;
        }
        let places = Places::read();
        match Group::make_unified(places.unified.as_ref(), wanted, name) {
            Ok(group) => made.groups.push(group),
            Err(cause) => {
                made.refused.push(format!("cgroup v2: {cause}"));
                made.make_old(&places, name);
            }
        }
        made
    }

    fn make_old(&mut self, places: &Places, name: &str) {
        let Limits { memory, cpu } = self.wanted;
        let each = [
            (places.memory.as_ref(), Limits { memory, cpu: None }),
            (places.cpu.as_ref(), Limits { memory: None, cpu }),
        ];
        for (place, limits) in each.into_iter().filter(|(_, limits)| *limits != Limits::default()) {
            match Group::make_legacy(place, limits, name) {
                Ok(group) => self.groups.push(group),
                Err(cause) => self.refused.push(format!("cgroup v1: {cause}")),
            }
        }
    }

    /// The folders of the groups, for the launcher to enter.
    pub fn dirs(&self) -> Vec<PathBuf> {
        self.groups.iter().map(|group| group.dir.clone()).collect()
    }

    /// The limit of memory that no group holds, for the rig to hold as well as it can.
    pub fn unheld_memory(&self) -> Option<u64> {
        self.unheld().memory
    }

    /// For the observations: `active: ..` where any limit is held, else `inactive: ..`; what is held and what is not,
    /// each by its name.
    pub fn in_words(&self) -> String {
        if self.wanted == Limits::default() {
            return "inactive: no limit of memory or CPU is set".to_owned();
        }
        let held = self.groups.first().map(|group| {
            let far = if group.is_far { ", far above the rig's own, whose limits do not count" } else { "" };
            format!("{}, by cgroup v{}{far}", self.held(), group.version as u8 + 1)
        });
        let unheld = self.unheld();
        let refused = (unheld != Limits::default()).then(|| self.refusal(unheld));
        let standing = if held.is_some() { "active" } else { "inactive" };
        let beyond = self.groups.iter().find_map(|group| beyond_machine(group.limits.memory));
        let parts: Vec<String> = held.into_iter().chain(refused).chain(beyond).collect();
        format!("{standing}: {}", parts.join("; "))
    }

    fn refusal(&self, unheld: Limits) -> String {
        let why = self.refused.join("; ");
        let emulated = unheld.memory.map_or(
            "",
            |_| "; the rig itself kills what grows beyond the memory (an emulated cap: it may be overshot)",
        );
        let unlimited = unheld.cpu.map_or("", |_| "; CPU time is not limited");
        format!("{unheld} could not be had ({why}){emulated}{unlimited}")
    }

    /// The limits that a group holds.
    fn held(&self) -> Limits {
        let each = || self.groups.iter().map(|group| group.limits);
        Limits { memory: each().find_map(|limits| limits.memory), cpu: each().find_map(|limits| limits.cpu) }
    }

    fn unheld(&self) -> Limits {
        let (Limits { memory, cpu }, held) = (self.wanted, self.held());
        Limits { memory: memory.filter(|_| held.memory.is_none()), cpu: cpu.filter(|_| held.cpu.is_none()) }
    }

    /// What the kernel has counted; nothing where there is no group.
    pub fn counted(&self) -> Option<Confined> {
        let mut all = Confined::default();
        for group in &self.groups {
            group.count(&mut all);
        }
        (!self.groups.is_empty()).then_some(all)
    }
}

/// Where this process is in each hierarchy.
#[derive(Debug, Default)]
struct Places {
    unified: Option<Place>,
    memory: Option<Place>,
    cpu: Option<Place>,
}

/// A group, as a folder.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    dir: PathBuf,
    /// The topmost group that is to be seen here.
    top: PathBuf,
}

impl Places {
    fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self::parse(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"))
    }

    /// `proc_pid_cgroup(5)`: hierarchy, controllers, path. `proc_pid_mountinfo(5)`: the root of the mount within its
    /// filesystem is the fourth field, the mount point the fifth; the type stands after the dash.
    fn parse(cgroups: &str, mounts: &str) -> Self {
        let find = |controller: Option<&str>| {
            let path = cgroups.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let (controllers, path) = (fields.next()?, fields.next()?);
                let is_it =
                    controller.map_or(controllers.is_empty(), |name| controllers.split(',').any(|one| one == name));
                is_it.then_some(path)
            })?;
            mounts.lines().find_map(|line| {
                let (before, after) = line.split_once(" - ")?;
                let mut fields = before.split(' ').skip(3);
                let (root, point) = (fields.next()?, fields.next()?);
                let mut after = after.split(' ');
                let (kind, options) = (after.next()?, after.nth(1)?);
                let is_it = match controller {
                    None => kind == "cgroup2",
                    Some(name) => kind == "cgroup" && options.split(',').any(|option| option == name),
                };
                let below = path.strip_prefix(root.trim_end_matches('/'))?.trim_start_matches('/');
                is_it.then(|| Place { dir: Path::new(point).join(below), top: PathBuf::from(point) })
            })
        };
        Self { unified: find(None), memory: find(Some("memory")), cpu: find(Some("cpu")) }
    }
}

/// Where the kernel counts its kills for want of memory in this process's own group, those below it left out; nothing:
/// it is not mounted here.
pub(super) fn own_kills() -> Option<PathBuf> {
    let Places { unified, memory, cpu: _ } = Places::read();
    let file = |place: Option<Place>, name: &str| place.map(|place| place.dir.join(name));
    let files = [file(memory, "memory.oom_control"), file(unified, "memory.events.local")];
    files.into_iter().flatten().find(|file| file.exists())
}

impl Group {
    /// A group that holds processes hands no controllers on, and not every one has them all (systemd gives sessions no
    /// `cpu`), so that each above it is tried as well, up to the machine's own root, which may always.
    fn make_unified(place: Option<&Place>, limits: Limits, name: &str) -> io::Result<Self> {
        let Place { dir, top } = place.ok_or_else(not_mounted)?;
        let mut refused: Vec<String> = Vec::new();
        for (above, parent) in dir.ancestors().take_while(|parent| parent.starts_with(top)).enumerate() {
            let made = hand_on(parent, limits).and_then(|()| Self::new(parent.join(name), Version::Two, limits));
            match made {
                // Beside the rig's own group is where one below it would be, if that held nobody.
                Ok(mut group) => {
                    group.is_far = above > 1;
                    return Ok(group);
                }
                Err(cause) => refused.push(cause.to_string()),
            }
        }
        Err(io::Error::other(refused.join("; ")))
    }

    fn make_legacy(place: Option<&Place>, limits: Limits, name: &str) -> io::Result<Self> {
        Self::new(place.ok_or_else(not_mounted)?.dir.join(name), Version::One, limits)
    }

    fn new(dir: PathBuf, version: Version, limits: Limits) -> io::Result<Self> {
        fs::create_dir(&dir).map_err(|cause| of_file(&dir, &cause))?;
        let group = Self { dir, version, limits, is_far: false };
        group.set().map(|()| group)
    }

    fn set(&self) -> io::Result<()> {
        match self.version {
            Version::Two => {
                self.limit("memory.max", self.limits.memory)?;
                // Without swap accounting there is nothing to forbid.
                self.try_limit("memory.swap.max", self.limits.memory.map(|_| 0));
                let quota = self.quota_us().map(|quota| format!("{quota} {PERIOD_US}"));
                self.limit("cpu.max", quota)
            }
            Version::One => {
                self.limit("memory.limit_in_bytes", self.limits.memory)?;
                self.try_limit("memory.memsw.limit_in_bytes", self.limits.memory);
                self.limit("cpu.cfs_period_us", self.limits.cpu.map(|_| PERIOD_US))?;
                self.limit("cpu.cfs_quota_us", self.quota_us())
            }
        }
    }

    fn quota_us(&self) -> Option<u64> {
        self.limits.cpu.map(|cpu| (cpu * PERIOD_US as f64).round() as u64)
    }

    fn limit(&self, file: &str, value: Option<impl ToString>) -> io::Result<()> {
        value.map_or(Ok(()), |value| write(&self.dir.join(file), &value.to_string()))
    }

    fn try_limit(&self, file: &str, value: Option<u64>) {
        // Said where it is called.
        let _set = self.limit(file, value);
    }

    fn count(&self, to: &mut Confined) {
        let read = |file: &str| fs::read_to_string(self.dir.join(file)).unwrap_or_default();
        let number = |file: &str| read(file).trim().parse().ok();
        let (events, peak) = match self.version {
            Version::Two => ("memory.events", "memory.peak"),
            Version::One => ("memory.oom_control", "memory.max_usage_in_bytes"),
        };
        if self.limits.memory.is_some() {
            to.memory_limit_bytes = self.limits.memory;
            to.memory_peak_bytes = number(peak);
            to.oom_kills = field(&read(events), "oom_kill");
        }
        if self.limits.cpu.is_some() {
            let stat = read("cpu.stat");
            to.cpu_limit = self.limits.cpu;
            to.throttled_periods = field(&stat, "nr_throttled");
            to.throttled_us = match self.version {
                Version::Two => field(&stat, "throttled_usec"),
                Version::One => field(&stat, "throttled_time").map(|ns| ns / 1000),
            };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        leave_nothing(&self.dir);
    }
}

fn not_mounted() -> io::Error {
    io::Error::other("not mounted here")
}

/// Lets the groups below this one of version 2 have what these limits need, if it has all of that itself.
fn hand_on(parent: &Path, limits: Limits) -> io::Result<()> {
    let needed = [limits.memory.map(|_| "memory"), limits.cpu.map(|_| "cpu")];
    let file = parent.join("cgroup.controllers");
    let has = fs::read_to_string(&file).map_err(|cause| of_file(&file, &cause))?;
    let lacks = |controller: &&str| !has.split_whitespace().any(|one| one == *controller);
    if let Some(controller) = needed.into_iter().flatten().find(lacks) {
        return Err(io::Error::other(format!("{} has no `{controller}`", parent.display())));
    }
    // All at once, since the kernel takes all of a line or nothing.
    let line: Vec<String> = needed.into_iter().flatten().map(|controller| format!("+{controller}")).collect();
    write(&parent.join("cgroup.subtree_control"), &line.join(" "))
}

/// Removes a group that nobody is in any more.
fn leave_nothing(dir: &Path) {
    // One that the keeper has removed already is gone; one with a process that nothing could end stays with it.
    let _removed = fs::remove_dir(dir);
}

fn write(file: &Path, value: &str) -> io::Result<()> {
    // Never made: below a folder that is no control group there is nothing to set.
    let written = OpenOptions::new().write(true).open(file).and_then(|mut file| file.write_all(value.as_bytes()));
    written.map_err(|cause| of_file(file, &cause))
}

fn of_file(file: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", file.display()))
}

/// The number after this name on a line of its own.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?.trim().parse().ok()
}

/// In words, where so much memory is more than there is.
fn beyond_machine(memory: Option<u64>) -> Option<String> {
    let all = Meminfo::current().ok()?.mem_total;
    let is_beyond = memory.is_some_and(|memory| memory > all);
    is_beyond.then(|| format!("this machine has {} in all, so that is no limit", Value::Size(all)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_each_hierarchy_is_found_below_its_mount() {
        let cgroups = "5:memory:/job/a\n2:cpu,cpuacct:/\n0::/user.slice/x\n";
        let mounts = "30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 25 0:27 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
                      32 25 0:28 /user.slice /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let places = Places::parse(cgroups, mounts);
        let place = |dir: &str, top: &str| Some(Place { dir: PathBuf::from(dir), top: PathBuf::from(top) });
        assert_eq!(places.memory, place("/sys/fs/cgroup/memory/job/a", "/sys/fs/cgroup/memory"));
        assert_eq!(places.cpu, place("/sys/fs/cgroup/cpu/", "/sys/fs/cgroup/cpu"));
        assert_eq!(places.unified, place("/sys/fs/cgroup/unified/x", "/sys/fs/cgroup/unified"));
    }

    #[test]
    fn a_counter_is_read_by_its_whole_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        assert_eq!(field(text, "oom_kill"), Some(2));
        assert_eq!(field(text, "oom"), None);
    }

    #[test]
    fn without_a_limit_there_is_no_group_and_nothing_counted() {
        let none = Confinement::make(Limits::default(), "unused");
        assert_eq!((none.dirs(), none.counted()), (Vec::new(), None));
        assert_eq!(none.in_words(), "inactive: no limit of memory or CPU is set");
    }

    #[test]
    fn a_limit_that_the_machine_itself_is_below_is_said_to_be_none() {
        let words = |memory| {
            let group = Group { dir: PathBuf::from("/nowhere"), version: Version::One, limits: memory, is_far: false };
            Confinement { groups: vec![group], wanted: memory, refused: Vec::new() }.in_words()
        };
        let of = |memory| Limits { memory: Some(memory), cpu: None };
        let far = words(of(u64::MAX / 2));
        assert!(far.contains("; this machine has ") && far.ends_with(" in all, so that is no limit"), "{far}");
        assert_eq!(words(of(4 << 20)), "active: memory 4.0 MiB, by cgroup v1");
    }

    #[test]
    fn a_limit_that_cannot_be_had_says_so_and_pretends_no_quota() {
        let refused = Confinement {
            groups: Vec::new(),
            wanted: Limits { memory: Some(512 << 20), cpu: Some(1.5) },
            refused: vec!["denied".to_owned()],
        };
        assert_eq!(refused.unheld_memory(), Some(512 << 20));
        let words = refused.in_words();
        assert!(words.starts_with("inactive: memory 512.0 MiB and 1.5 of CPU could not be had (denied)"), "{words}");
        assert!(words.contains("emulated cap") && words.ends_with("CPU time is not limited"), "{words}");
    }

    #[test]
    fn a_limit_that_is_held_beside_one_that_is_refused_is_active_and_each_is_named() {
        let (memory, cpu) = (Some(512 << 20), Some(1.5));
        let words = |limits| {
            let group = Group { dir: PathBuf::from("/nowhere"), version: Version::One, limits, is_far: false };
            let refused = vec!["cgroup v2: full".to_owned(), "cgroup v1: denied".to_owned()];
            Confinement { groups: vec![group], wanted: Limits { memory, cpu }, refused }.in_words()
        };
        assert_eq!(
            words(Limits { memory, cpu: None }),
            "active: memory 512.0 MiB, by cgroup v1; 1.5 of CPU could not be had (cgroup v2: full; cgroup v1: denied); \
             CPU time is not limited"
        );
        let without_memory = words(Limits { memory: None, cpu });
        let begins = "active: 1.5 of CPU, by cgroup v1; memory 512.0 MiB could not be had (";
        assert!(without_memory.starts_with(begins) && without_memory.contains("emulated cap"), "{without_memory}");
        assert_eq!(words(Limits { memory, cpu }), "active: memory 512.0 MiB and 1.5 of CPU, by cgroup v1");
    }
}
