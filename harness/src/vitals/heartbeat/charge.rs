//! Whose stalls count: the loops that serve. A launcher whose child serves, or a main thread whose worker does, may compute
//! as long as it likes; where it cannot be told whether a loop serves, its stalls count.

use std::path::Path;

use procfs::process::{FDTarget, Process};

use super::page::{Page, State};
use super::servers::{is_cluster_worker, pages};
use super::serving::{Waiter, waiters};
use super::standing::Door;
use crate::system::port;

/// What is known of one loop. One that has served counts from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charge {
    /// It serves, or has.
    Serves,
    /// When last asked it served nobody.
    Idle,
    /// Nobody could tell.
    Unknown,
}

impl Charge {
    /// Of a loop that is met in this thread: whether it waits for connections at this instant.
    pub(super) fn met(process: &Process, thread: u32, door: Door) -> Self {
        match door {
            Door::Calls(_) => Self::Serves,
            Door::Listens(port) if waiters(process, &port::open_to(port)).contains(&Waiter::Thread(thread)) => {
                Self::Serves
            }
            Door::Listens(_) => Self::Unknown,
        }
    }

    /// Takes the loop's own word.
    pub(super) fn hear(&mut self, page: &Page) {
        if page.listens() {
            *self = Self::Serves;
        }
    }

    /// Asks the kernel, unless the loop is known to serve. Of a process that has ended nothing more becomes known.
    pub(super) fn ask(&mut self, process: &Process, thread: u32, folder: &Path, door: Door) {
        match (*self, door) {
            (Self::Serves, _) | (_, Door::Calls(_)) => {}
            (Self::Idle | Self::Unknown, Door::Listens(port)) => {
                *self = Self::of(process, thread, folder, port).unwrap_or(*self);
            }
        }
    }

    /// Whether the loop's stalls count.
    pub(super) fn counts(self) -> bool {
        match self {
            Self::Serves | Self::Unknown => true,
            Self::Idle => false,
        }
    }

    /// A process that neither listens anywhere nor is connected on the system's port serves nobody, and one in which
    /// another loop says that it listens there serves with that one.
    fn of(process: &Process, thread: u32, folder: &Path, port: u16) -> Option<Self> {
        let pid = process.pid as u32;
        let holds = holds(process, &port::serving(port))?;
        let others = || pages(folder, pid).iter().any(|page| is_another(page, thread, port));
        Some(if is_cluster_worker(pid) || holds && !others() { Self::Serves } else { Self::Idle })
    }
}

/// Whether this page is of another loop than the one in this thread, and serves this port.
fn is_another(page: &Page, thread: u32, port: u16) -> bool {
    page.thread != thread && page.state == State::Beating && page.serves(port)
}

/// Whether this process holds one of these sockets; nothing: it does not let look.
fn holds(process: &Process, sockets: &[u64]) -> Option<bool> {
    let mut handles = process.fd().ok()?.flatten();
    Some(handles.any(|handle| matches!(handle.target, FDTarget::Socket(inode) if sockets.contains(&inode))))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::super::page::tests::page;
    use super::*;

    /// A page of thread 42 that says that its loop listens on this port.
    fn says(port: u64) -> Vec<u8> {
        let mut bytes = page(2, 99, &[]);
        bytes[72..80].copy_from_slice(&port.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_loop_that_has_listened_counts_ever_after_and_one_of_which_nothing_is_known_does_too() {
        let mut charge = Charge::Idle;
        charge.hear(&Page::parse(&says(0)).unwrap());
        assert!(!charge.counts());
        charge.hear(&Page::parse(&says(8080)).unwrap());
        charge.hear(&Page::parse(&says(0)).unwrap());
        assert!(charge.counts() && Charge::Unknown.counts());
    }

    #[test]
    fn a_loop_in_a_process_that_listens_counts_unless_another_says_that_it_serves() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let me = Process::myself().unwrap();
        let of = |thread| Charge::of(&me, thread, folder.path(), port);
        assert_eq!(of(7), Some(Charge::Serves));
        std::fs::write(folder.path().join(format!("{}-42", me.pid)), says(u64::from(port))).unwrap();
        assert_eq!([of(7), of(42)], [Some(Charge::Idle), Some(Charge::Serves)]);
    }

    #[test]
    fn of_a_bot_that_need_not_listen_every_loop_counts() {
        let me = Process::myself().unwrap();
        assert_eq!(Charge::met(&me, 7, Door::Calls(None)), Charge::Serves);
    }
}
