//! How often the kernel had to send a socket's SYN again, asked of it over netlink (`sock_diag(7)`).
//!
//! std offers no `TCP_INFO`, and this needs no `unsafe`. Only a slow connect asks, so that the cost of one
//! question (a send and a receive, answered before the send returns) does not matter.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// `SOCK_DIAG_BY_FAMILY`, `linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`, `linux/netlink.h`.
const REQUEST: u16 = 1;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// `INET_DIAG_INFO`, `linux/inet_diag.h`: the attribute that holds `struct tcp_info`.
const INFO: u16 = 2;
/// `INET_DIAG_NOCOOKIE`: any socket of these addresses.
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// Length of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Length of `struct inet_diag_msg`.
const MESSAGE: usize = 72;
/// Where `tcpi_total_retrans` stands in `struct tcp_info`, `linux/tcp.h`: after 8 bytes and 23 words.
const TOTAL_RETRANSMITS: usize = 100;

/// Whether the kernel answers such questions here: `active`, or `inactive: <reason>`. It is asked about a connection
/// made for the purpose.
pub fn tcp_info() -> String {
    match ask() {
        Ok(Some(_)) => "active".to_owned(),
        Ok(None) => inactive(&"the kernel knows no such socket"),
        Err(error) => inactive(&error),
    }
}

fn ask() -> io::Result<Option<u32>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    Ok(SockDiag::open()?.retransmits(stream.local_addr()?, stream.peer_addr()?))
}

fn inactive(reason: &dyn fmt::Display) -> String {
    format!("inactive: {reason}; a connect slower than 900 ms counts as late")
}

/// A line to the kernel.
#[derive(Debug)]
pub(super) struct SockDiag {
    netlink: OwnedFd,
}

impl SockDiag {
    /// Opens the line.
    pub(super) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let netlink = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG))?;
        Ok(Self { netlink })
    }

    /// Segments sent again on the connection between these addresses, its SYN included.
    pub(super) fn retransmits(&self, local: SocketAddr, peer: SocketAddr) -> Option<u32> {
        send(&self.netlink, &question(local, peer), SendFlags::empty()).ok()?;
        let mut answer = [0_u8; 1024];
        let (_, len) = recv(&self.netlink, &mut answer, RecvFlags::empty()).ok()?;
        total_retransmits(answer.get(..len)?)
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`: host order but for ports and addresses.
fn question(local: SocketAddr, peer: SocketAddr) -> Vec<u8> {
    let mut text = Vec::with_capacity(HEADER + MESSAGE);
    text.extend(72_u32.to_ne_bytes());
    text.extend(BY_FAMILY.to_ne_bytes());
    text.extend(REQUEST.to_ne_bytes());
    text.extend([0; 8]);
    let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    text.extend([family.as_raw() as u8, TCP, 1 << (INFO - 1), 0]);
    text.extend(u32::MAX.to_ne_bytes());
    text.extend(local.port().to_be_bytes());
    text.extend(peer.port().to_be_bytes());
    text.extend(address(local.ip()));
    text.extend(address(peer.ip()));
    text.extend(0_u32.to_ne_bytes());
    text.extend(NO_COOKIE);
    text
}

fn address(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// Finds `tcp_info` among the attributes of the kernel's answer.
fn total_retransmits(answer: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let mut attributes = answer.get(HEADER + MESSAGE..).filter(|_| kind == BY_FAMILY)?;
    loop {
        let len = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        if kind == INFO {
            let word = attributes.get(4..len)?.get(TOTAL_RETRANSMITS..TOTAL_RETRANSMITS + 4)?;
            return Some(u32::from_ne_bytes(word.try_into().ok()?));
        }
        attributes = attributes.get(len.next_multiple_of(4).max(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_connection_has_no_retransmits() {
        assert_eq!(ask().unwrap(), Some(0));
        assert_eq!(tcp_info(), "active");
    }

    #[test]
    fn the_next_version_of_the_protocol_is_asked_too() {
        let listener = TcpListener::bind("[::1]:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, peer) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        assert_eq!(SockDiag::open().unwrap().retransmits(local, peer), Some(0));
    }

    #[test]
    fn a_connection_that_is_not_there_has_no_answer() {
        let nowhere: SocketAddr = "127.0.0.1:1".parse().unwrap();
        assert_eq!(SockDiag::open().unwrap().retransmits(nowhere, nowhere), None);
    }
}
