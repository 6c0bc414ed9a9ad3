//! Whether the kernel's out-of-memory killer ended the system. Only proof makes it so.
//!
//! A limit of the system's own has its own count of kills, which settles it. Without one, the kernel's log proves a
//! kill where it may be read, because it names the process; and a count that has not changed proves that there was
//! none: that of the machine, or that of the control group that the system shares with the rig. A count that has
//! changed proves nothing, since it is of others too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::cgroup::{self, field};

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oom {
    /// It ended the system.
    Struck,
    /// It did not.
    Spared,
    /// It struck on this machine, and nobody can tell whom.
    Meanwhile,
    /// This kernel does not tell.
    Untold,
}

impl Oom {
    /// By a count of the system's own.
    pub(super) fn counted(kills: u64) -> Self {
        if kills > 0 { Self::Struck } else { Self::Spared }
    }
}

/// What speaks of its work, from the start of the system on.
#[derive(Debug)]
pub(super) struct Signs {
    machine: Option<u64>,
    log: Option<Log>,
    group: Option<Group>,
}

impl Signs {
    /// From now on.
    pub(super) fn read() -> Self {
        Self { machine: machine(), log: Log::open().ok(), group: None }
    }

    /// The system is ready, and these processes serve: if they have stayed in the rig's own control group, its count of
    /// kills from now on is theirs too.
    pub(super) fn of_group(&mut self, servers: &[u32]) {
        self.group = Group::shared_with(servers);
    }

    /// What they say of a system that consisted of these processes, as far as they are known.
    pub(super) fn verdict(&self, pids: &[u32]) -> Oom {
        let named = self.log.as_ref().is_some_and(|log| log.names(pids));
        let machine = self.machine.zip(machine()).map(|(before, now)| now > before);
        verdict(named, machine, self.group.as_ref().and_then(Group::has_lost))
    }
}

/// `named`: the log names it; `machine` and `group`: whether either has counted a kill, where it tells.
fn verdict(named: bool, machine: Option<bool>, group: Option<bool>) -> Oom {
    match (named, machine, group) {
        (true, _, _) => Oom::Struck,
        (false, Some(false), _) | (false, _, Some(false)) => Oom::Spared,
        (false, Some(true), _) | (false, None, Some(true)) => Oom::Meanwhile,
        (false, None, None) => Oom::Untold,
    }
}

/// The machine's own count, in `/proc/vmstat` since Linux 4.13.
fn machine() -> Option<u64> {
    field(&fs::read_to_string("/proc/vmstat").ok()?, "oom_kill")
}

/// The count of a control group that the system shares with the rig.
#[derive(Debug)]
struct Group {
    file: PathBuf,
    before: u64,
}

impl Group {
    /// Nothing where one of them is elsewhere, or none is known: behind a client of Docker, say, it is in another one.
    fn shared_with(pids: &[u32]) -> Option<Self> {
        let of = |whom: &str| fs::read_to_string(format!("/proc/{whom}/cgroup")).ok();
        let own = of("self")?;
        let shared = !pids.is_empty() && pids.iter().all(|pid| of(&pid.to_string()).as_ref() == Some(&own));
        let file = cgroup::own_kills().filter(|_| shared)?;
        Some(Self { before: count(&file)?, file })
    }

    fn has_lost(&self) -> Option<bool> {
        Some(count(&self.file)? > self.before)
    }
}

fn count(file: &PathBuf) -> Option<u64> {
    field(&fs::read_to_string(file).ok()?, "oom_kill")
}

/// The kernel's log, `/dev/kmsg`, which root may read, and everybody where `kernel.dmesg_restrict` is 0.
#[derive(Debug)]
struct Log(File);

/// The initial namespace of process ids, `PROC_PID_INIT_INO` of `linux/proc_ns.h`: the log has its ids.
const INITIAL: &str = "pid:[4026531836]";
/// The longest record (`kernel/printk`: `PRINTK_MESSAGE_MAX` is less).
const RECORD_BYTES: usize = 8192;

impl Log {
    /// From its end on.
    fn open() -> io::Result<Self> {
        if fs::read_link("/proc/self/ns/pid")?.as_os_str() != INITIAL {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open("/dev/kmsg")?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// Whether it tells, since then, of a kill of one of these.
    fn names(&self, pids: &[u32]) -> bool {
        let mut record = [0; RECORD_BYTES];
        loop {
            match (&self.0).read(&mut record) {
                Ok(1..) if killed(&record).is_some_and(|pid| pids.contains(&pid)) => return true,
                Ok(1..) => {}
                // Records that were overwritten before they were read.
                Err(cause) if cause.raw_os_error() == Some(Errno::PIPE.raw_os_error()) => {}
                Ok(0) | Err(_) => return false,
            }
            record.fill(0);
        }
    }
}

/// Whom a record says was killed. `Documentation/ABI/testing/dev-kmsg`: the priority comes first, and the kernel's own
/// facility is 0, so that nobody else can say so.
fn killed(record: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(record);
    let (head, message) = text.split_once(';')?;
    let priority: u32 = head.split(',').next()?.parse().ok()?;
    let (before, after) = message.split_once("Killed process ")?;
    let is_it = priority < 8 && before.to_lowercase().contains("out of memory");
    after.split(' ').next()?.parse().ok().filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_log_proves_a_kill_and_a_count_that_stays_proves_that_there_was_none() {
        assert_eq!(verdict(true, Some(true), Some(true)), Oom::Struck);
        assert_eq!(verdict(true, None, None), Oom::Struck);
        assert_eq!(verdict(false, Some(false), None), Oom::Spared);
        assert_eq!(verdict(false, Some(true), Some(false)), Oom::Spared, "another group's");
        assert_eq!(verdict(false, None, Some(false)), Oom::Spared);
        assert_eq!(verdict(false, Some(true), Some(true)), Oom::Meanwhile, "the group is others' too");
        assert_eq!(verdict(false, Some(true), None), Oom::Meanwhile, "only the machine's count speaks");
        assert_eq!(verdict(false, None, None), Oom::Untold);
    }

    #[test]
    fn the_log_names_who_was_killed_and_only_the_kernel_is_believed() {
        let of_machine = b"3,1043,98765,-;Out of memory: Killed process 4242 (node) total-vm:1kB, anon-rss:1kB\n";
        assert_eq!(killed(of_machine), Some(4242));
        assert_eq!(killed(b"3,1,2,-;Memory cgroup out of memory: Killed process 77 (my app) total-vm:1kB\n"), Some(77));
        assert_eq!(killed(b"12,1,2,-;Out of memory: Killed process 4242 (node)\n"), None, "written by a user");
        assert_eq!(killed(b"6,1,2,-;node[4242]: segfault at 0\n"), None);
        assert_eq!(killed(b"3,1,2,-;Killed process 4242 by hand\n"), None);
    }
}
