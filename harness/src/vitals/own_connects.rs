//! The rig's own bare connections, so that no look at the system's connections takes them for the crowd's.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use socket2::Socket;

use super::line::begin_connect;

/// How many are remembered: more than can be made between two looks, which are at most a second apart.
const REMEMBERED: usize = 256;

/// Which they are.
#[derive(Debug, Default)]
pub(super) struct OwnConnects {
    /// The latest, by their ports.
    ports: Mutex<VecDeque<u16>>,
    waiting: AtomicBool,
}

impl OwnConnects {
    /// Begins to connect. Whoever sees the connection in a list and asks afterwards is told that it is the rig's.
    pub(super) fn connect(&self, to: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
        // Held over a call that does not wait, so that there is no moment in which the connection is there and unknown.
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = begin_connect(to)?;
        let from = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?;
        ports.push_back(from.port());
        if ports.len() > REMEMBERED {
            ports.pop_front();
        }
        Ok((socket, from))
    }

    /// Leaves out those that are the rig's.
    pub(super) fn leave_out<T>(&self, connections: &mut HashMap<u16, T>) {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        for port in &*ports {
            connections.remove(port);
        }
    }

    /// One waits in the system's queue, or does no more.
    pub(super) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    /// How many of those that wait in the system's queue are the rig's.
    pub(super) fn waiting(&self) -> u64 {
        u64::from(self.waiting.load(Ordering::Relaxed))
    }
}
