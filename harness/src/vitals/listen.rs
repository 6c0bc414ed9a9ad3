//! The depth of the system's accept queue, asked of the kernel by `sock_diag(7)`: some 10 us and no privilege.
//!
//! `/proc/net/tcp` would tell the same, but lists every socket of the machine (5 to 70 ms).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// The kernel answers within microseconds; a bound for a hang.
const ANSWER_WITHIN: Duration = Duration::from_millis(100);
/// `linux/sock_diag.h`: `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `linux/netlink.h`: `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x301;
/// `linux/netlink.h`: `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// One bit of `idiag_states`: `TCP_LISTEN` is 10.
const LISTENING: u32 = 1 << 10;
/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
/// Where `idiag_rqueue` lies in an answer: after the header, four bytes, the socket's id and its expiry.
const QUEUE_AT: usize = HEADER_BYTES + 4 + 48 + 4;

/// Asks for the accept queue of one port.
#[derive(Debug)]
pub(super) struct ListenQueue {
    kernel: OwnedFd,
    port: u16,
}

impl ListenQueue {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16) -> io::Result<Self> {
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
        set_socket_timeout(&kernel, Timeout::Recv, Some(ANSWER_WITHIN))?;
        Ok(Self { kernel, port })
    }

    /// Connections that wait to be accepted, over all listeners of the port; nothing when there is none.
    pub(super) fn depth(&self) -> io::Result<Option<u64>> {
        let (four, six) = (self.ask(AddressFamily::INET)?, self.ask(AddressFamily::INET6)?);
        Ok([four, six].into_iter().flatten().reduce(|a, b| a + b))
    }

    fn ask(&self, family: AddressFamily) -> io::Result<Option<u64>> {
        let request = request(family.as_raw() as u8, self.port);
        sendto(&self.kernel, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut sum = None;
        loop {
            let mut bytes = [0; 8192];
            let (read, _) = recv(&self.kernel, &mut bytes, RecvFlags::empty())?;
            if add_up(&bytes[..read], &mut sum)? {
                return Ok(sum);
            }
        }
    }
}

fn request(family: u8, port: u16) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    bytes[16] = family;
    bytes[17] = TCP;
    bytes[20..24].copy_from_slice(&LISTENING.to_ne_bytes());
    bytes[24..26].copy_from_slice(&port.to_be_bytes());
    bytes
}

/// Adds the depths in one datagram of answers; true when the answer is complete.
fn add_up(mut bytes: &[u8], sum: &mut Option<u64>) -> io::Result<bool> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    while let Some(header) = bytes.get(..HEADER_BYTES) {
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let message = bytes.get(..length.max(HEADER_BYTES)).ok_or_else(malformed)?;
        match u16::from_ne_bytes([header[4], header[5]]) {
            DONE => return Ok(true),
            ERROR => return Err(kernel_error(message)),
            _ => {
                let depth = message.get(QUEUE_AT..QUEUE_AT + 4).ok_or_else(malformed)?;
                let depth = u32::from_ne_bytes([depth[0], depth[1], depth[2], depth[3]]);
                *sum = Some(sum.unwrap_or(0) + u64::from(depth));
            }
        }
        // Messages stand at multiples of four bytes.
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// `struct nlmsgerr` begins with the negated errno.
fn kernel_error(message: &[u8]) -> io::Error {
    match message.get(HEADER_BYTES..HEADER_BYTES + 4) {
        Some(code) => io::Error::from_raw_os_error(-i32::from_ne_bytes([code[0], code[1], code[2], code[3]])),
        None => io::ErrorKind::InvalidData.into(),
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
