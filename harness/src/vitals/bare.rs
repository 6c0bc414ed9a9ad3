//! One bare connection: nothing is sent over it, and the kernel tells when the system has accepted it.
//!
//! Until then the system's side of it has no inode, afterwards that of the process's handle. That it is established
//! tells nothing, the kernel does that alone. A full queue is waited for before it, and not connected to: so what the
//! kernel counts of full queues is the crowd's, and when there is room again the connection is there at once, and not
//! at the next repetition of a SYN a second later.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::Socket as Tcp;

use super::own_connects::OwnConnects;
use crate::sockets::{Diag, FAMILIES, Question, Socket, State, States};

/// A connection that came while there was room is in the queue at once, on this machine; one that is not by now was
/// dropped, and would be tried again by its kernel after a second.
const IN_QUEUE_WITHIN: Duration = Duration::from_millis(20);

/// A connection, or the wait to make one.
#[derive(Debug)]
pub(super) struct Bare<'a> {
    connector: &'a Connector,
    made: Option<Made>,
}

/// How bare connections are made.
#[derive(Debug)]
pub(super) struct Connector {
    kernel: Diag,
    target: SocketAddr,
    own_connects: Arc<OwnConnects>,
}

#[derive(Debug)]
struct Made {
    socket: Tcp,
    from: SocketAddr,
    at: Duration,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is in the queue.
    Queued,
    /// The queue is full, and it is not in it.
    Outside,
    /// It is not in the queue although there is room.
    PassedOver,
    /// The system has it, or had it and has closed it.
    Accepted,
    /// It was refused or reset, or nobody listens.
    Gone,
}

/// The caller's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    Connecting,
    Connected,
    Over,
}

impl Connector {
    /// To this address, which is this machine's.
    pub(super) fn at(target: SocketAddr, own_connects: Arc<OwnConnects>) -> io::Result<Self> {
        Ok(Self { kernel: Diag::open()?, target, own_connects })
    }

    /// Whether the kernel shows here who listens there.
    pub(super) fn sees_listener(&self) -> io::Result<bool> {
        Ok(!self.listeners()?.is_empty())
    }

    /// Several processes may listen, each with a queue of its own.
    fn listeners(&self) -> io::Result<Vec<Socket>> {
        let mut all = Vec::new();
        for family in FAMILIES {
            let local_port = self.target.port();
            let question = Question { family, states: States::Listening, local_port, remote_port: 0, times: false };
            self.kernel.ask(question, |socket| all.push(socket))?;
        }
        Ok(all)
    }

    fn is_full(&self) -> io::Result<bool> {
        let all = self.listeners()?;
        Ok(!all.is_empty() && all.iter().all(Socket::is_full))
    }
}

impl<'a> Bare<'a> {
    /// One that is made at the first look.
    pub(super) fn new(connector: &'a Connector) -> Self {
        Self { connector, made: None }
    }

    /// How far it has come; it is made, or made anew, where that is what has to be done.
    pub(super) fn look(&mut self, now: Duration) -> io::Result<Stage> {
        let made = match &self.made {
            Some(made) => made,
            None if self.connector.is_full()? => return Ok(Stage::Outside),
            None => self.made.insert(make(self.connector, now)?),
        };
        let stage = stage(self.connector, made)?;
        self.connector.own_connects.set_waiting(stage == Stage::Queued);
        if stage == Stage::PassedOver && now.saturating_sub(made.at) > IN_QUEUE_WITHIN {
            self.made = None;
        }
        Ok(stage)
    }
}

impl Drop for Bare<'_> {
    fn drop(&mut self) {
        self.connector.own_connects.set_waiting(false);
    }
}

fn make(connector: &Connector, at: Duration) -> io::Result<Made> {
    let (socket, from) = connector.own_connects.connect(connector.target)?;
    Ok(Made { socket, from, at })
}

fn stage(connector: &Connector, made: &Made) -> io::Result<Stage> {
    let Some(side) = connector.kernel.side(connector.target, made.from)? else { return Ok(Stage::Gone) };
    let not_in_it = |full| if full { Stage::Outside } else { Stage::PassedOver };
    Ok(match (side.state, caller(&made.socket)?) {
        (State::Established, _) if side.inode == 0 => Stage::Queued,
        (State::Established | State::Closing, _) => Stage::Accepted,
        (State::Greeted, Caller::Connecting) => Stage::Queued,
        (State::Greeted, Caller::Connected | Caller::Over) => not_in_it(connector.is_full()?),
        (State::Listening, Caller::Over) => Stage::Gone,
        (State::Listening, Caller::Connecting | Caller::Connected) => not_in_it(side.is_full()),
    })
}

fn caller(socket: &Tcp) -> io::Result<Caller> {
    let mut polled = [PollFd::new(socket, PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    let now = polled[0].revents();
    Ok(if now.intersects(PollFlags::ERR | PollFlags::HUP) {
        Caller::Over
    } else if now.contains(PollFlags::OUT) {
        Caller::Connected
    } else {
        Caller::Connecting
    })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

    use socket2::{Domain, Type};

    use super::*;

    fn connector(target: SocketAddr) -> Connector {
        Connector::at(target, Arc::default()).unwrap()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_connection_waits_until_it_is_accepted_in_both_versions_of_the_protocol() {
        let any = [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
        for listener in any.map(|at: SocketAddr| TcpListener::bind(at).unwrap()) {
            let connector = connector(listener.local_addr().unwrap());
            let mut bare = Bare::new(&connector);
            assert_eq!((bare.look(ms(0)).unwrap(), bare.look(ms(900)).unwrap()), (Stage::Queued, Stage::Queued));
            assert_eq!(connector.own_connects.waiting(), 1);
            let accepted = listener.accept().unwrap();
            assert_eq!((bare.look(ms(901)).unwrap(), connector.own_connects.waiting()), (Stage::Accepted, 0));
            drop(accepted);
            assert_eq!(bare.look(ms(902)).unwrap(), Stage::Accepted, "the system has closed it");
        }
    }

    #[test]
    fn a_listener_of_both_versions_is_met_over_the_older_one() {
        let listener = Tcp::new(Domain::IPV6, Type::STREAM, None).unwrap();
        listener.set_only_v6(false).unwrap();
        listener.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)).into()).unwrap();
        listener.listen(8).unwrap();
        let port = listener.local_addr().unwrap().as_socket().unwrap().port();
        let connector = connector((Ipv4Addr::LOCALHOST, port).into());
        let mut bare = Bare::new(&connector);
        assert_eq!(bare.look(ms(0)).unwrap(), Stage::Queued);
        let _accepted = listener.accept().unwrap();
        assert_eq!(bare.look(ms(1)).unwrap(), Stage::Accepted);
    }

    #[test]
    fn a_full_queue_is_waited_for_and_met_as_soon_as_there_is_room() {
        let listener = Tcp::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        listener.listen(1).unwrap();
        let connector = connector(listener.local_addr().unwrap().as_socket().unwrap());
        // A backlog of one lets two wait.
        let _crowd: Vec<_> = (0..2).map(|_| std::net::TcpStream::connect(connector.target).unwrap()).collect();
        let mut bare = Bare::new(&connector);
        assert_eq!((bare.look(ms(0)).unwrap(), bare.look(ms(5)).unwrap()), (Stage::Outside, Stage::Outside));
        assert!(bare.made.is_none(), "nothing was sent that the kernel would count as dropped");
        let _accepted = listener.accept().unwrap();
        assert_eq!(bare.look(ms(10)).unwrap(), Stage::Queued);
    }

    #[test]
    fn who_does_not_listen_any_more_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let connector = connector(listener.local_addr().unwrap());
        let mut bare = Bare::new(&connector);
        assert!(connector.sees_listener().unwrap());
        assert_eq!(bare.look(ms(0)).unwrap(), Stage::Queued);
        drop(listener);
        assert_eq!((bare.look(ms(1)).unwrap(), connector.sees_listener().unwrap()), (Stage::Gone, false));
    }
}
