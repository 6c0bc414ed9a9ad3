//! The depth of the system's accept queues and their room, asked of the kernel: some 10 us and no privilege.

use std::io;

use floodrig_reports::recording::ListenQueue;

use crate::sockets::{Diag, FAMILIES, Question, States};

/// Asks for the accept queues of one port.
#[derive(Debug)]
pub(super) struct ListenQueues {
    kernel: Diag,
    port: u16,
}

/// The queues of all listeners of the port at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Queues {
    /// All together.
    pub(super) all: ListenQueue,
    fullest: ListenQueue,
    listeners: u32,
}

impl Queues {
    /// How many wait beside the rig's own. One that is full is full, whoever has the last place.
    pub(super) fn without(&self, own_connects: u64) -> u64 {
        if self.all.is_full() { self.all.depth } else { self.all.depth.saturating_sub(own_connects) }
    }

    /// The fullest of several: each takes its own connections (`SO_REUSEPORT`), so one may be full beside empty ones.
    pub(super) fn fullest_of_several(&self) -> Option<ListenQueue> {
        (self.listeners > 1).then_some(self.fullest)
    }

    fn add(&mut self, one: ListenQueue) {
        self.all = ListenQueue { depth: self.all.depth + one.depth, backlog: self.all.backlog + one.backlog };
        self.fullest = if self.listeners == 0 { one } else { self.fullest.fuller(one) };
        self.listeners += 1;
    }
}

impl ListenQueues {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16) -> io::Result<Self> {
        Ok(Self { kernel: Diag::open()?, port })
    }

    /// Nothing when nobody listens.
    pub(super) fn look(&self) -> io::Result<Option<Queues>> {
        let mut seen: Option<Queues> = None;
        for family in FAMILIES {
            let question =
                Question { family, states: States::Listening, local_port: self.port, remote_port: 0, times: false };
            self.kernel.ask(question, |socket| {
                let (depth, backlog) = (u64::from(socket.receive_queue), u64::from(socket.send_queue));
                seen.get_or_insert_default().add(ListenQueue { depth, backlog });
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
        let of = |depth, own_connects| {
            Queues { all: ListenQueue { depth, backlog: 3 }, ..Queues::default() }.without(own_connects)
        };
        assert_eq!([of(0, 1), of(3, 0), of(3, 1), of(4, 1)], [0, 3, 2, 4]);
    }

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let queue = ListenQueues::of(address.port()).unwrap();
        let depth = || queue.look().unwrap().map(|queues| queues.all.depth);
        assert_eq!(depth(), Some(0));
        assert!(queue.look().unwrap().unwrap().all.backlog >= 3);
        let waiting: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(depth(), Some(3));
        let accepted = listener.accept().unwrap();
        assert_eq!(depth(), Some(2));
        drop((listener, waiting, accepted));
        assert_eq!(depth(), None);
    }

    #[test]
    fn of_several_listeners_the_fullest_is_told_beside_the_sum() {
        let queue = |depth, backlog| ListenQueue { depth, backlog };
        let mut queues = Queues::default();
        queues.add(queue(6, 5));
        assert_eq!((queues.all, queues.fullest_of_several()), (queue(6, 5), None));
        queues.add(queue(400, 511));
        assert_eq!((queues.all, queues.fullest_of_several()), (queue(406, 516), Some(queue(6, 5))));
    }
}
