//! Brings up the loopback interface of a new network, which begins with it down: one message to `rtnetlink(7)`.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// The kernel answers within microseconds; a bound for a hang.
const ANSWER_WITHIN: std::time::Duration = std::time::Duration::from_secs(1);
/// `linux/rtnetlink.h`: `RTM_NEWLINK`, which changes a link that is there.
const NEW_LINK: u16 = 16;
/// `linux/netlink.h`: `NLM_F_REQUEST | NLM_F_ACK`.
const REQUEST_ACK: u16 = 0x5;
/// The loopback interface is the first of every network.
const LOOPBACK: u32 = 1;
/// `net/if.h`: `IFF_UP`.
const UP: u32 = 1;
/// `struct nlmsghdr`, and with `struct ifinfomsg` behind it.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 16;

pub(super) fn set_up() -> io::Result<()> {
    // Without another protocol it is `NETLINK_ROUTE`.
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&kernel, Timeout::Recv, Some(ANSWER_WITHIN))?;
    sendto(&kernel, &request(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1024];
    let (read, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    // `struct nlmsgerr` begins with the negated errno, and is 0 when it was done.
    match answer[..read].get(HEADER_BYTES..HEADER_BYTES + 4) {
        Some(&[0, 0, 0, 0]) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes([code[0], code[1], code[2], code[3]]))),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn request() -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&NEW_LINK.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_ACK.to_ne_bytes());
    bytes[20..24].copy_from_slice(&LOOPBACK.to_ne_bytes());
    bytes[24..28].copy_from_slice(&UP.to_ne_bytes());
    bytes[28..32].copy_from_slice(&UP.to_ne_bytes());
    bytes
}
