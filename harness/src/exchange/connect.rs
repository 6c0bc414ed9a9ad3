//! Making a connection, and telling whether its handshake came late.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use super::failure::Failure;
use super::far::{Far, Network, SLOW_BUFFER};
use super::http2::Session;
use super::link::{Link, Road};
use super::sock_diag::SockDiag;
use super::speech::Speech;
use super::stage::Stage;
use super::wire::{Ask, Endpoint};

/// A handshake on loopback takes microseconds; only one slower than this is looked into.
const SLOW: Duration = Duration::from_millis(200);

/// The first SYN is sent again after one second (RFC 6298, section 2.1). Where the kernel cannot be asked, a
/// connect slower than this counts as late; the tenth allows for its timer's jitter.
const SURELY_LATE: Duration = Duration::from_millis(900);

/// A connection kept from one exchange to the next.
#[derive(Debug)]
pub struct Connection {
    pub(super) link: Link,
}

impl Connection {
    /// The connection, if it is still open and silent.
    pub(super) fn if_idle(mut self) -> Option<Self> {
        self.link.is_idle().then_some(self)
    }

    /// Whether several exchanges may be under way on it.
    pub fn takes_many(&self) -> bool {
        self.session().is_some()
    }

    /// What carries several exchanges at once, where they may be.
    pub(super) fn session(&self) -> Option<&Session> {
        match &self.link {
            Link::Plain(_) | Link::Wrapped(_) => None,
            Link::Multiplexed(session) => Some(session),
        }
    }
}

/// Connects within the endpoint's `connect_timeout`, from the source that is asked for, if any.
pub(super) async fn connect(endpoint: &Endpoint, ask: Ask<'_>) -> Result<Connection, Failure> {
    let (begun, network) = (now(), ask.network);
    let stream = open(endpoint, ask).await?;
    let speech = &endpoint.speech;
    let link = if speech.is_plain() && network.is_near() {
        Link::Plain(stream)
    } else {
        let road = over(stream, network).await;
        in_time(endpoint, begun + network.round_trip, greet(road, speech)).await?
    };
    Ok(Connection { link })
}

/// The same for HTTP/1.1 alone, and without a place for what carries it.
pub(super) async fn connect_road(endpoint: &Endpoint, ask: Ask<'_>) -> Result<Box<dyn Road>, Failure> {
    let (begun, network) = (now(), ask.network);
    let road = over(open(endpoint, ask).await?, network).await;
    let Some(tls) = &endpoint.speech.tls else { return Ok(road) };
    let (stream, _) = in_time(endpoint, begun + network.round_trip, tls.shake(road, false)).await?;
    Ok(Box::new(stream))
}

/// The socket as seen over the network, once the network has carried its handshake there and back. That is the network's
/// own time: `connect_timeout` bounds what the system takes.
async fn over(stream: TcpStream, network: Network) -> Box<dyn Road> {
    if network.is_near() {
        return Box::new(stream);
    }
    sleep(network.round_trip).await;
    Box::new(Far::new(stream, network))
}

/// What is left of `connect_timeout` is there for what follows the kernel's handshake.
async fn in_time<T>(
    endpoint: &Endpoint,
    begun: Instant,
    greeting: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let left = endpoint.connect_timeout.saturating_sub(now().saturating_duration_since(begun));
    timeout(left, Box::pin(greeting)).await.map_err(|_| Failure::ConnectTimeout)?
}

/// A socket that is connected.
async fn open(endpoint: &Endpoint, ask: Ask<'_>) -> Result<TcpStream, Failure> {
    (ask.told)(Stage::Connecting);
    let (address, within) = (endpoint.address, endpoint.connect_timeout);
    let socket = socket(address, ask.source, ask.network).map_err(|error| Failure::to_connect(&error))?;
    let begun = now();
    let stream = timeout(within, socket.connect(address)).await.map_err(|_| Failure::ConnectTimeout)?;
    let stream = stream.map_err(|error| Failure::to_connect(&error))?;
    let took = now().duration_since(begun);
    refuse_itself(&stream, address)?;
    if took > SLOW && needed_retransmits(&stream, took) {
        (ask.told)(Stage::LetInLate);
    }
    Ok(stream)
}

/// Comes to terms with the peer on how to speak.
async fn greet(road: Box<dyn Road>, speech: &Speech) -> Result<Link, Failure> {
    let (road, http2, scheme): (Box<dyn Road>, bool, _) = match &speech.tls {
        Some(tls) => {
            let (stream, agreed) = tls.shake(road, speech.http2).await?;
            (Box::new(stream), agreed, "https")
        }
        None => (road, speech.http2, "http"),
    };
    Ok(if http2 { Link::Multiplexed(Session::open(road, scheme).await?) } else { Link::Wrapped(road) })
}

fn socket(address: SocketAddr, source: Option<IpAddr>, network: Network) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    if network.reads_at.is_some() {
        socket.set_recv_buffer_size(SLOW_BUFFER)?;
    }
    if let Some(source) = source {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

/// When nobody listens on a port of the ephemeral range, the kernel may pick that very port for our end and
/// connect us to ourselves (simultaneous open, RFC 9293, section 3.5). Nobody listens all the same.
fn refuse_itself(stream: &TcpStream, address: SocketAddr) -> Result<(), Failure> {
    let local = stream.local_addr().map_err(|error| Failure::of_connection(&error))?;
    if local != address {
        return Ok(());
    }
    // Without lingering the port is free at once for the system to come back to.
    SockRef::from(stream).set_linger(Some(Duration::ZERO)).map_err(|error| Failure::of_connection(&error))?;
    Err(Failure::Refused)
}

fn needed_retransmits(stream: &TcpStream, took: Duration) -> bool {
    let addresses = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
    let asked = addresses.and_then(|(local, peer)| Ok(SockDiag::open()?.retransmits(local, peer)));
    asked.ok().flatten().map_or(took > SURELY_LATE, |times| times > 0)
}

#[expect(clippy::disallowed_methods, reason = "how long a connect took is a fact of this room and is not recorded")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_to_ourselves_is_nobody_listening() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let address = socket.local_addr().unwrap();
            let stream = socket.connect(address).await.unwrap();
            assert_eq!(refuse_itself(&stream, address), Err(Failure::Refused));
        });
    }
}
