//! The depth of the system's accept queue, asked of the kernel: some 10 us and no privilege.

use std::io;

use super::diag::{Diag, FAMILIES, Question, States};

/// Asks for the accept queue of one port.
#[derive(Debug)]
pub(super) struct ListenQueue {
    kernel: Diag,
    port: u16,
}

impl ListenQueue {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16) -> io::Result<Self> {
        Ok(Self { kernel: Diag::open()?, port })
    }

    /// Connections that wait to be accepted, over all listeners of the port; nothing when there is none.
    pub(super) fn depth(&self) -> io::Result<Option<u64>> {
        let mut depth = None;
        for family in FAMILIES {
            let question =
                Question { family, states: States::Listening, local_port: self.port, remote_port: 0, times: false };
            self.kernel.ask(question, |socket| depth = Some(depth.unwrap_or(0) + u64::from(socket.receive_queue)))?;
        }
        Ok(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let queue = ListenQueue::of(address.port()).unwrap();
        assert_eq!(queue.depth().unwrap(), Some(0));
        let waiting: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(queue.depth().unwrap(), Some(3));
        let accepted = listener.accept().unwrap();
        assert_eq!(queue.depth().unwrap(), Some(2));
        drop((listener, waiting, accepted));
        assert_eq!(queue.depth().unwrap(), None);
    }
}
