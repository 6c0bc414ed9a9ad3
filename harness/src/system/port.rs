//! The system's port: free before it starts, and who listens where when things are not as they should be.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process, all_processes};

use crate::sockets::{Diag, FAMILIES, Question, States};

/// The port cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// Somebody listens on it.
    #[error("port {port} is already held by {holder}: end it, or leave the port out to have a free one chosen")]
    Taken {
        /// The port.
        port: u16,
        /// Who.
        holder: Holder,
    },
    /// No free port was to be had.
    #[error("could not find a free port on 127.0.0.1: {0}")]
    NoneFree(io::Error),
}

/// Who holds a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// A process.
    Process {
        /// Its id.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// A process whose handles this user may not see.
    Hidden,
}

impl fmt::Display for Holder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, name } => write!(to, "pid {pid} ({name})"),
            Self::Hidden => to.write_str("a process of another user"),
        }
    }
}

/// The port asked for, if nobody listens on it, or else a free one.
pub fn choose(asked: Option<u16>) -> Result<u16, PortError> {
    match asked {
        Some(port) => check_free(port).map(|()| port),
        None => free().map_err(PortError::NoneFree),
    }
}

/// The port must be free of listeners, or answers would come from somebody else.
pub fn check_free(port: u16) -> Result<(), PortError> {
    match listeners().iter().find(|entry| entry.local_address.port() == port) {
        Some(entry) => Err(PortError::Taken { port, holder: holder(entry.inode) }),
        None => Ok(()),
    }
}

/// A local socket that listens (`__SO_ACCEPTCON` of `linux/net.h`).
const ACCEPTS: u32 = 1 << 16;
/// Where free ports are looked for. The kernel gives ports from its own range, 32768 on by default, to whoever asks for
/// any or connects, and a system takes seconds to listen on the one it was given: below, nobody gets it meanwhile.
const LOWEST: u16 = 20_000;
/// Fewer than these would soon be the same ones again.
const FEWEST: u16 = 1_000;
/// Rigs of neighbouring process ids begin to look this far apart, which is more than one needs.
const APART: u32 = 101;

fn free() -> io::Result<u16> {
    static LOOKED: AtomicU32 = AtomicU32::new(0);
    let span = kernels_lowest().saturating_sub(LOWEST);
    if span < FEWEST {
        return bound(0);
    }
    let candidates = (0..span).map(|_| {
        let turn = std::process::id().wrapping_mul(APART).wrapping_add(LOOKED.fetch_add(1, Ordering::Relaxed));
        LOWEST + (turn % u32::from(span)) as u16
    });
    candidates.map(bound).find_map(Result::ok).map_or_else(|| bound(0), Ok)
}

/// The port, if it can be listened on; 0: any.
fn bound(port: u16) -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.local_addr()?.port())
}

/// The first port that the kernel itself gives away (`Documentation/networking/ip-sysctl.rst`); 0: not known.
fn kernels_lowest() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|low| low.parse().ok()).unwrap_or(0)
}

fn listeners() -> Vec<TcpNetEntry> {
    // A kernel without IPv6 has no second table.
    let tables = [procfs::net::tcp(), procfs::net::tcp6()];
    tables.into_iter().flatten().flatten().filter(|entry| entry.state == TcpState::Listen).collect()
}

fn holder(inode: u64) -> Holder {
    let found = all_processes().into_iter().flatten().flatten().find(|process| sockets(process).contains(&inode));
    found.map_or(Holder::Hidden, |process| {
        let name = process.stat().map_or_else(|_| "gone since".to_owned(), |stat| stat.comm);
        Holder::Process { pid: process.pid as u32, name }
    })
}

fn sockets(process: &Process) -> Vec<u64> {
    let targets = process.fd().into_iter().flatten().flatten().map(|handle| handle.target);
    targets.filter_map(|target| if let FDTarget::Socket(inode) = target { Some(inode) } else { None }).collect()
}

/// Where these processes listen, for a message about a system that never became reachable.
pub(super) fn listening(pids: &[u32]) -> Vec<SocketAddr> {
    let held: Vec<u64> =
        pids.iter().filter_map(|pid| Process::new(*pid as i32).ok()).flat_map(|process| sockets(&process)).collect();
    listeners().into_iter().filter(|entry| held.contains(&entry.inode)).map(|entry| entry.local_address).collect()
}

/// Of these processes, the ones that listen on this port.
pub fn servers(pids: &[u32], port: u16) -> Vec<u32> {
    holding(pids, &open_to(port))
}

/// Who listens on this port where none of these processes does; nothing: they do, or nobody can tell.
pub(crate) fn stranger(pids: &[u32], port: u16) -> Option<Holder> {
    let listeners = open_to(port);
    let others = || listeners.iter().map(|inode| holder(*inode)).find(|holder| *holder != Holder::Hidden);
    if holding(pids, &listeners).is_empty() { others() } else { None }
}

/// Of these processes, the ones that are connected to this port.
pub(super) fn callers(pids: &[u32], port: u16) -> Vec<u32> {
    holding(pids, &connected_to(port))
}

/// The inodes of the sockets that are connected to this port.
pub(crate) fn connected_to(port: u16) -> Vec<u64> {
    found(States::Established, 0, port)
}

/// The inodes of the sockets that listen on this port.
pub(crate) fn open_to(port: u16) -> Vec<u64> {
    found(States::Listening, port, 0)
}

/// The inodes of the sockets over which somebody may be served: those that listen, wherever that is, and the connections on
/// this port.
pub(crate) fn serving(port: u16) -> Vec<u64> {
    let mut sockets = found(States::Listening, 0, 0);
    sockets.extend(found(States::Established, port, 0));
    let local = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    sockets.extend(local.lines().filter_map(accepting));
    sockets
}

/// `0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x`, where it is the flags that say that it listens.
fn accepting(line: &str) -> Option<u64> {
    let mut words = line.split_whitespace().skip(3);
    let flags = u32::from_str_radix(words.next()?, 16).ok()?;
    let inode = words.nth(2)?.parse().ok()?;
    (flags & ACCEPTS != 0).then_some(inode)
}

fn found(states: States, local_port: u16, remote_port: u16) -> Vec<u64> {
    let Ok(kernel) = Diag::open() else { return Vec::new() };
    let mut found = Vec::new();
    for family in FAMILIES {
        let question = Question { family, states, local_port, remote_port, times: false };
        // A kernel without IPv6 has nothing to say of it.
        let _asked = kernel.ask(question, |socket| found.push(u64::from(socket.inode)));
    }
    found
}

/// Of these processes, the ones that hold one of these sockets.
pub(crate) fn holding(pids: &[u32], sought: &[u64]) -> Vec<u32> {
    let holds = |pid: &u32| {
        Process::new(*pid as i32).is_ok_and(|process| sockets(&process).iter().any(|inode| sought.contains(inode)))
    };
    let pids = pids.iter().copied();
    // Whoever looks often need not read every handle to learn that there is nothing to be found.
    if sought.is_empty() { Vec::new() } else { pids.filter(holds).collect() }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_stranger_is_who_listens_where_these_processes_do_not() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, me) = (held.local_addr().unwrap().port(), std::process::id());
        assert_eq!(stranger(&[me], port), None);
        assert!(matches!(stranger(&[1], port), Some(Holder::Process { pid, .. }) if pid == me));
        drop(held);
        assert_eq!(stranger(&[1], port), None, "nobody does");
    }

    #[test]
    fn a_port_that_is_held_names_the_process() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = held.local_addr().unwrap().port();
        let text = choose(Some(port)).unwrap_err().to_string();
        assert!(text.starts_with(&format!("port {port} is already held by pid {} (", std::process::id())), "{text}");
    }

    #[test]
    fn a_port_without_a_listener_is_free() {
        let port = choose(None).unwrap();
        assert_eq!(choose(Some(port)).unwrap(), port);
    }

    #[test]
    fn free_ports_differ_and_are_none_that_the_kernel_gives_to_others_meanwhile() {
        let ports = [(); 50].map(|()| choose(None).unwrap());
        assert_eq!(std::collections::BTreeSet::from(ports).len(), ports.len());
        let lowest = kernels_lowest();
        let room = lowest.saturating_sub(LOWEST) >= FEWEST;
        assert_eq!(ports.iter().all(|port| (LOWEST..lowest).contains(port)), room, "{lowest}: {ports:?}");
    }

    #[test]
    fn a_process_is_found_by_where_it_listens() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (me, at) = (std::process::id(), held.local_addr().unwrap());
        assert!(listening(&[me]).contains(&at));
        assert_eq!(servers(&[me, 1], at.port()), [me]);
        drop(held);
        assert!(servers(&[me, 1], at.port()).is_empty());
    }

    #[test]
    fn a_local_socket_that_listens_is_told_from_others() {
        assert_eq!(accepting("0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x"), Some(12345));
        assert_eq!(accepting("0000000000000000: 00000003 00000000 00000000 0001 03 12346"), None);
        assert_eq!(accepting("Num       RefCount Protocol Flags    Type St Inode Path"), None);
    }

    #[test]
    fn a_process_is_found_by_where_it_is_connected_to() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (me, port) = (std::process::id(), listener.local_addr().unwrap().port());
        assert!(callers(&[me, 1], port).is_empty(), "whoever listens there calls nobody");
        let _connection = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(callers(&[me, 1], port), [me]);
    }
}
