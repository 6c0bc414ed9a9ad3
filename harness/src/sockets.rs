//! The kernel's list of TCP sockets, asked for by `sock_diag(7)`: it filters by state and port itself and needs no
//! privilege. `/proc/net/tcp` would tell less, and lists every socket of the machine (5 to 70 ms).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use procfs::process::{FDTarget, Process};
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// The kernel answers within milliseconds; a bound for a hang.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);
/// `linux/sock_diag.h`: `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `linux/netlink.h`: `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x301;
/// `linux/netlink.h`: `NLM_F_REQUEST`, for one socket.
const REQUEST_ONE: u16 = 1;
/// `linux/netlink.h`: `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `linux/inet_diag.h`: `INET_DIAG_NOCOOKIE`, any socket of these addresses.
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// `linux/inet_diag.h`: `INET_DIAG_INFO`, the attribute that holds `struct tcp_info`.
const INFO: u16 = 2;
/// `struct nlmsghdr` and `struct inet_diag_req_v2`.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
/// `struct inet_diag_msg`; attributes follow.
const MESSAGE_BYTES: usize = 72;
/// Where `tcpi_last_data_sent` and `tcpi_last_data_recv` stand in `struct tcp_info`, `linux/tcp.h`: after 8 bytes and
/// 9 words, and 2 words later.
const LAST_SENT: usize = 44;
const LAST_RECEIVED: usize = 52;
/// And `tcpi_data_segs_in` and `tcpi_data_segs_out`, since Linux 4.6.
const SEGMENTS_RECEIVED: usize = 152;
const SEGMENTS_SENT: usize = 156;

/// The two versions of the protocol.
pub(crate) const FAMILIES: [AddressFamily; 2] = [AddressFamily::INET, AddressFamily::INET6];

/// States of a socket, as bits of `idiag_states`: `TCP_ESTABLISHED` is 1, `TCP_SYN_SENT` 2, `TCP_CLOSE_WAIT` 8,
/// `TCP_LISTEN` 10.
#[derive(Debug, Clone, Copy)]
pub(crate) enum States {
    Established = 1 << 1,
    /// Not closed on this side.
    Open = 1 << 1 | 1 << 8,
    /// Not closed on this side, or still asking to be let in.
    Sought = 1 << 1 | 1 << 2 | 1 << 8,
    Listening = 1 << 10,
    Either = 1 << 1 | 1 << 10,
}

/// Which sockets are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) family: AddressFamily,
    pub(crate) states: States,
    /// Only those of this port here; 0: any.
    pub(crate) local_port: u16,
    /// Only those to this port there; 0: any.
    pub(crate) remote_port: u16,
    /// Whether the times of the last data are wanted too.
    pub(crate) times: bool,
}

/// The states of a socket that make a difference here, of `net/tcp_states.h`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum State {
    Established,
    /// The handshake, seen from the side that was called.
    Greeted,
    Listening,
    /// One of those on the way to the end.
    #[default]
    Closing,
}

/// One socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) state: State,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    /// Who is there; a version 4 address inside of a version 6 one is the former.
    pub(crate) remote: Option<IpAddr>,
    /// Of a listener: connections that wait to be accepted.
    pub(crate) receive_queue: u32,
    /// Of a listener: how many may wait.
    pub(crate) send_queue: u32,
    /// 0: no process has it. A connection that waits to be accepted, or one that its process has closed.
    pub(crate) inode: u32,
    /// Milliseconds since data was last sent and received, when that was asked for.
    pub(crate) last: Option<Last>,
}

/// Milliseconds since data went over a connection; where none did, since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Last {
    pub(crate) sent_ms: u32,
    pub(crate) received_ms: u32,
    pub(crate) has_sent: bool,
    pub(crate) has_received: bool,
}

/// A line to the kernel, of this network namespace.
#[derive(Debug)]
pub(crate) struct Diag(OwnedFd);

impl Diag {
    /// Opens it.
    pub(crate) fn open() -> io::Result<Self> {
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
        set_socket_timeout(&kernel, Timeout::Recv, Some(ANSWER_WITHIN))?;
        Ok(Self(kernel))
    }

    /// Hands on every socket that was asked for.
    pub(crate) fn ask(&self, question: Question, mut each: impl FnMut(Socket)) -> io::Result<()> {
        sendto(&self.0, &question.bytes(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        // The kernel fills at most this much at a time for whoever offers it (`netlink_dump`).
        let mut bytes = vec![0; 32 * 1024];
        loop {
            let (read, _) = recv(&self.0, bytes.as_mut_slice(), RecvFlags::empty())?;
            if read_datagram(&bytes[..read], &mut each)? {
                return Ok(());
            }
        }
    }

    /// The socket of this side of the connection between two addresses; where there is none, who listens here.
    pub(crate) fn side(&self, here: SocketAddr, there: SocketAddr) -> io::Result<Option<Socket>> {
        sendto(&self.0, &one_side(here, there), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let (mut bytes, mut found) = ([0; 1024], None);
        let (read, _) = recv(&self.0, bytes.as_mut_slice(), RecvFlags::empty())?;
        match read_datagram(&bytes[..read], &mut |socket| found = Some(socket)) {
            Ok(_) => Ok(found),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(cause),
        }
    }
}

impl Socket {
    /// Of a listener: whether no more may wait (`sk_acceptq_is_full`, Linux's `net/sock.h`).
    pub(crate) fn is_full(&self) -> bool {
        self.receive_queue > self.send_queue
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2` for one socket: host order but for ports and addresses.
fn one_side(here: SocketAddr, there: SocketAddr) -> [u8; REQUEST_BYTES] {
    let family = if here.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let states = u32::MAX;
    let mut bytes = [0; REQUEST_BYTES];
    bytes[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_ONE.to_ne_bytes());
    bytes[16] = family.as_raw() as u8;
    bytes[17] = TCP;
    bytes[20..24].copy_from_slice(&states.to_ne_bytes());
    bytes[24..26].copy_from_slice(&here.port().to_be_bytes());
    bytes[26..28].copy_from_slice(&there.port().to_be_bytes());
    put_address(&mut bytes[28..44], here.ip());
    put_address(&mut bytes[44..60], there.ip());
    bytes[64..72].copy_from_slice(&NO_COOKIE);
    bytes
}

fn put_address(to: &mut [u8], ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => to[..4].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => to.copy_from_slice(&ip.octets()),
    }
}

impl Question {
    fn bytes(self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        bytes[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
        bytes[16] = self.family.as_raw() as u8;
        bytes[17] = TCP;
        bytes[18] = if self.times { 1 << (INFO - 1) } else { 0 };
        bytes[20..24].copy_from_slice(&(self.states as u32).to_ne_bytes());
        bytes[24..26].copy_from_slice(&self.local_port.to_be_bytes());
        bytes[26..28].copy_from_slice(&self.remote_port.to_be_bytes());
        bytes
    }
}

/// Hands on the sockets in one datagram of answers; true when the answer is complete.
fn read_datagram(mut bytes: &[u8], each: &mut impl FnMut(Socket)) -> io::Result<bool> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    while let Some(header) = bytes.get(..HEADER_BYTES) {
        let length = word(header, 0).ok_or_else(malformed)? as usize;
        let message = bytes.get(HEADER_BYTES..length.max(HEADER_BYTES)).ok_or_else(malformed)?;
        match u16::from_ne_bytes([header[4], header[5]]) {
            DONE => return Ok(true),
            ERROR => return Err(kernel_error(message)),
            _ => each(socket(message).ok_or_else(malformed)?),
        }
        // Messages stand at multiples of four bytes.
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Reads a `struct inet_diag_msg`.
fn socket(message: &[u8]) -> Option<Socket> {
    let port = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
    Some(Socket {
        state: state(*message.get(1)?),
        local_port: port(4)?,
        remote_port: port(6)?,
        remote: remote(message),
        receive_queue: word(message, 56)?,
        send_queue: word(message, 60)?,
        inode: word(message, 68)?,
        last: last(message.get(MESSAGE_BYTES..)?),
    })
}

fn state(code: u8) -> State {
    match code {
        1 => State::Established,
        3 => State::Greeted,
        10 => State::Listening,
        _ => State::Closing,
    }
}

/// `idiag_family`, and `idiag_dst` behind the ports and the source.
fn remote(message: &[u8]) -> Option<IpAddr> {
    let bytes: [u8; 16] = message.get(24..40)?.try_into().ok()?;
    if u16::from(*message.first()?) == AddressFamily::INET.as_raw() {
        return Some(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into());
    }
    Some(IpAddr::from(Ipv6Addr::from(bytes)).to_canonical())
}

/// Finds `tcp_info` among the attributes.
fn last(mut attributes: &[u8]) -> Option<Last> {
    loop {
        let head = word(attributes, 0)?.to_ne_bytes();
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]])).max(4);
        if u16::from_ne_bytes([head[2], head[3]]) == INFO {
            let info = attributes.get(4..length)?;
            return Some(Last {
                sent_ms: word(info, LAST_SENT)?,
                received_ms: word(info, LAST_RECEIVED)?,
                has_sent: word(info, SEGMENTS_SENT)? > 0,
                has_received: word(info, SEGMENTS_RECEIVED)? > 0,
            });
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// `struct nlmsgerr` begins with the negated errno.
fn kernel_error(message: &[u8]) -> io::Error {
    match word(message, 0) {
        Some(code) => io::Error::from_raw_os_error(-(code as i32)),
        None => io::ErrorKind::InvalidData.into(),
    }
}

/// The sockets that a process holds, by inode; none of one that has ended or is another user's.
pub(crate) fn held(process: &Process) -> impl Iterator<Item = u32> + use<> {
    process.fd().into_iter().flatten().flatten().filter_map(|handle| match handle.target {
        FDTarget::Socket(inode) => Some(inode as u32),
        FDTarget::Path(_)
        | FDTarget::Net(_)
        | FDTarget::Pipe(_)
        | FDTarget::AnonInode(_)
        | FDTarget::MemFD(_)
        | FDTarget::Other(_, _)
        | FDTarget::Unknown(_, _) => None,
    })
}
