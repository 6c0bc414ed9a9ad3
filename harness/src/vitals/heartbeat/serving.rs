//! Which threads the kernel wakes when somebody connects: those that wait on what watches the listening socket.
//!
//! No program says which of its threads serves, and a server may be in any: a worker thread of Node, a thread with a
//! loop of its own in Python. The kernel lists what an epoll watches (`/proc/PID/fdinfo`), and what each thread waits
//! for (`/proc/PID/task/TID/syscall`, which a hardened machine may keep to itself).

use std::fs;

use procfs::process::{FDTarget, Process};
use procfs::{ProcResult, process::Syscall};

/// `epoll_wait`, `epoll_pwait` and `epoll_pwait2`, as `asm/unistd.h` numbers them here; the first is not everywhere.
#[cfg(target_arch = "x86_64")]
const WAITS: [i64; 3] = [232, 281, 441];
#[cfg(not(target_arch = "x86_64"))]
const WAITS: [i64; 2] = [22, 441];

/// Who waits on one epoll that watches a listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiter {
    /// This thread.
    Thread(u32),
    /// None at this instant: its thread is busy, or may not be looked at, or is another process's, which forked.
    Unknown,
}

impl Waiter {
    /// If it is known.
    pub(super) fn thread(self) -> Option<u32> {
        match self {
            Self::Thread(thread) => Some(thread),
            Self::Unknown => None,
        }
    }
}

/// Who waits for connections in this process; nobody: it asks for them in another way, as servers without a loop do.
pub(super) fn waiters(process: &Process, listeners: &[u64]) -> Vec<Waiter> {
    let watching = epolls(process).filter(|epoll| watches(process, *epoll, listeners));
    let waits = waits(process);
    watching.flat_map(|epoll| on(epoll, &waits)).collect()
}

/// The threads among these that wait on this epoll.
fn on(epoll: u64, waits: &[(u32, u64)]) -> Vec<Waiter> {
    let waiting = waits.iter().filter(|(_, on)| *on == epoll).map(|(thread, _)| Waiter::Thread(*thread));
    let waiting: Vec<Waiter> = waiting.collect();
    if waiting.is_empty() { vec![Waiter::Unknown] } else { waiting }
}

fn epolls(process: &Process) -> impl Iterator<Item = u64> {
    let handles = process.fd().into_iter().flatten().flatten();
    handles.filter_map(|handle| match handle.target {
        FDTarget::AnonInode(kind) if kind == "[eventpoll]" => u64::try_from(handle.fd).ok(),
        FDTarget::AnonInode(_)
        | FDTarget::Path(_)
        | FDTarget::Socket(_)
        | FDTarget::Net(_)
        | FDTarget::Pipe(_)
        | FDTarget::MemFD(_)
        | FDTarget::Other(..)
        | FDTarget::Unknown(..) => None,
    })
}

fn watches(process: &Process, epoll: u64, listeners: &[u64]) -> bool {
    watched_by(process, epoll).iter().any(|inode| listeners.contains(inode))
}

/// What any epoll of this process watches.
pub(super) fn watched(process: &Process) -> Vec<u64> {
    epolls(process).flat_map(|epoll| watched_by(process, epoll)).collect()
}

fn watched_by(process: &Process, epoll: u64) -> Vec<u64> {
    let watched = fs::read_to_string(format!("/proc/{}/fdinfo/{epoll}", process.pid)).unwrap_or_default();
    watched.lines().filter_map(inode).collect()
}

/// `tfd:       23 events:       19 data:               17  pos:0 ino:4baf98 sdev:9`; the inode is hexadecimal.
fn inode(line: &str) -> Option<u64> {
    let word = line.strip_prefix("tfd:")?.split_whitespace().find_map(|word| word.strip_prefix("ino:"))?;
    u64::from_str_radix(word, 16).ok()
}

/// Threads that wait on an epoll, and on which.
fn waits(process: &Process) -> Vec<(u32, u64)> {
    let tasks = process.tasks().into_iter().flatten().flatten();
    tasks.filter_map(|task| Some((task.tid as u32, epoll_of(task.syscall())?))).collect()
}

fn epoll_of(syscall: ProcResult<Syscall>) -> Option<u64> {
    let Syscall::Blocked { syscall_number, argument_registers: [epoll, ..], .. } = syscall.ok()? else { return None };
    WAITS.contains(&syscall_number).then_some(epoll)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};
    use std::os::fd::AsFd;
    use std::time::{Duration, Instant};

    use rustix::buffer::spare_capacity;
    use rustix::event::epoll::{CreateFlags, EventData, EventFlags, add, create, wait};

    use super::*;
    use crate::system::port;

    #[test]
    fn a_watched_socket_is_read_from_a_line_of_the_kernels() {
        assert_eq!(inode("tfd:       23 events:       19 data:  17  pos:0 ino:4baf98 sdev:9"), Some(0x4b_af98));
        assert_eq!(inode("pos:\t0"), None);
    }

    #[test]
    fn an_epoll_that_nobody_waits_on_has_an_unknown_waiter() {
        let waits = [(12, 5), (15, 9), (16, 9)];
        assert_eq!(on(9, &waits), [Waiter::Thread(15), Waiter::Thread(16)]);
        assert_eq!(on(7, &waits), [Waiter::Unknown]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a bound for a hang")]
    fn the_thread_that_waits_for_connections_is_found_and_no_other() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listeners = port::open_to(listener.local_addr().unwrap().port());
        let me = Process::myself().unwrap();
        assert_eq!(waiters(&me, &listeners), []);
        let epoll = create(CreateFlags::CLOEXEC).unwrap();
        add(epoll.as_fd(), &listener, EventData::new_u64(0), EventFlags::IN).unwrap();
        assert_eq!(waiters(&me, &listeners), [Waiter::Unknown]);
        let (tell, told) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            wait(&epoll, spare_capacity(&mut Vec::with_capacity(1)), None).unwrap();
        });
        let thread = told.recv().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while waiters(&me, &listeners) != [Waiter::Thread(thread)] {
            assert!(Instant::now() < until, "it waits");
        }
        drop(std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        waiting.join().unwrap();
    }
}
