//! The depth of the system's accept queue and its room, asked of the kernel: some 10 us and no privilege.

use std::io;

use crate::sockets::{Diag, FAMILIES, Question, States};

/// Asks for the accept queue of one port.
#[derive(Debug)]
pub(super) struct ListenQueue {
    kernel: Diag,
    port: u16,
}

/// A queue at one instant, over all listeners of the port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Queue {
    /// Connections that wait to be accepted.
    pub(super) depth: u64,
    /// How many may wait, what the system asked for and the kernel granted.
    pub(super) backlog: u64,
}

impl Queue {
    /// How many wait beside the rig's own. One that is full is full, whoever has the last place.
    pub(super) fn without(self, ours: u64) -> u64 {
        if self.depth > self.backlog { self.depth } else { self.depth.saturating_sub(ours) }
    }
}

impl ListenQueue {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16) -> io::Result<Self> {
        Ok(Self { kernel: Diag::open()?, port })
    }

    /// Nothing when nobody listens.
    pub(super) fn look(&self) -> io::Result<Option<Queue>> {
        let mut seen: Option<Queue> = None;
        for family in FAMILIES {
            let question =
                Question { family, states: States::Listening, local_port: self.port, remote_port: 0, times: false };
            self.kernel.ask(question, |socket| {
                let queue = seen.get_or_insert_default();
                queue.depth += u64::from(socket.receive_queue);
                queue.backlog += u64::from(socket.send_queue);
            })?;
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn the_rigs_own_connection_is_not_counted_unless_the_queue_is_full() {
        let of = |depth, ours| Queue { depth, backlog: 3 }.without(ours);
        assert_eq!([of(0, 1), of(3, 0), of(3, 1), of(4, 1)], [0, 3, 2, 4]);
    }

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let queue = ListenQueue::of(address.port()).unwrap();
        let depth = || queue.look().unwrap().map(|queue| queue.depth);
        assert_eq!(depth(), Some(0));
        assert!(queue.look().unwrap().unwrap().backlog >= 3);
        let waiting: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(depth(), Some(3));
        let accepted = listener.accept().unwrap();
        assert_eq!(depth(), Some(2));
        drop((listener, waiting, accepted));
        assert_eq!(depth(), None);
    }
}
