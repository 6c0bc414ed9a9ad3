//! Whom the system has answered of late, over all connections to its port: the kernel knows of each when it last sent
//! and received data, and tells without privilege, in a millisecond or two.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::silence::{Look, Silence, Silences};
use crate::sockets::{Diag, FAMILIES, Question, States};
use crate::system::Clock;

/// How often it is looked while the probe waits; a stall is known to this where nobody else asks.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Looking takes at most one part in so many of the time, however many connections there are.
const LOOK_SHARE: u32 = 20;
/// The times of a look are those of its beginning; one that took longer, because the rig lost its core, tells nothing.
const LOOK_WITHIN: Duration = Duration::from_millis(50);

/// Asks for the connections to one port.
#[derive(Debug)]
pub(super) struct Served {
    kernel: Diag,
    port: u16,
    clock: Clock,
}

/// The looks of one wait.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    served: Option<&'a Served>,
    silences: Silences,
    /// The connections of the last look, by the port of the other side.
    open: HashSet<u16>,
    next: Duration,
}

impl Served {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16, clock: Clock) -> io::Result<Self> {
        let served = Self { kernel: Diag::open()?, port, clock };
        served.look(Duration::ZERO, &mut HashSet::new())?;
        Ok(served)
    }

    /// Nothing when the look took too long to mean anything. `open`: the connections of the look before, and then of
    /// this one. A connection that the other side has closed is there until the system has closed it too.
    fn look(&self, since: Duration, open: &mut HashSet<u16>) -> io::Result<Option<Look>> {
        let at = self.clock.now();
        let mut look = Look::at(at, since);
        let mut now_open = HashSet::with_capacity(open.len());
        let ago = |ms: u32| at.saturating_sub(Duration::from_millis(u64::from(ms)));
        for family in FAMILIES {
            let states = States::Open;
            let question = Question { family, states, local_port: self.port, remote_port: 0, times: true };
            self.kernel.ask(question, |socket| {
                now_open.insert(socket.remote_port);
                let Some(last) = socket.last else { return };
                look.take(last.has_received.then(|| ago(last.received_ms)), last.has_sent.then(|| ago(last.sent_ms)));
            })?;
        }
        look.closed = !open.is_subset(&now_open);
        *open = now_open;
        Ok((self.clock.now().saturating_sub(at) <= LOOK_WITHIN).then_some(look))
    }
}

impl<'a> Watch<'a> {
    /// Of a wait that begins now; without `served` all of it is silence.
    pub(super) fn begin(served: Option<&'a Served>, sent: Duration) -> Self {
        Self { served, silences: Silences::of(sent), open: HashSet::new(), next: sent + LOOK_EVERY }
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self, now: Duration) {
        let Some(served) = self.served.filter(|_| now >= self.next) else { return };
        let look = served.look(self.silences.since(), &mut self.open);
        let took = served.clock.now().saturating_sub(now);
        self.next = now + LOOK_EVERY.max(took * LOOK_SHARE);
        match look {
            Ok(Some(look)) => self.silences.hear(&look),
            Ok(None) => {}
            // A kernel that answered at the start and does not now tells nothing any more of this wait.
            Err(_) => self.served = None,
        }
    }

    /// The wait has ended.
    pub(super) fn end(mut self, ended: Duration) -> Vec<Silence> {
        let served = self.served.filter(|_| self.silences.is_heard());
        let last = served.and_then(|served| served.look(self.silences.since(), &mut self.open).ok().flatten());
        self.silences.end(last.as_ref(), ended)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test stands in for `run`, which reads the epoch")]
    fn clock() -> Clock {
        Clock::new(std::time::Instant::now())
    }

    #[test]
    fn a_new_connection_has_neither_asked_nor_been_answered_and_one_that_was_waits_no_more() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served = Served::of(address.port(), clock()).unwrap();
        let mut open = HashSet::new();
        let mut look = || served.look(Duration::ZERO, &mut open).unwrap().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        let (mut system, _) = listener.accept().unwrap();
        let fresh = look();
        assert_eq!((fresh.asked, fresh.latest, fresh.answered), (None, None, 0));
        client.write_all(b"question").unwrap();
        let asked = look();
        assert!(asked.asked.is_some() && asked.latest.is_none(), "{asked:?}");
        system.write_all(b"answer").unwrap();
        client.read_exact(&mut [0; 6]).unwrap();
        let answered = look();
        assert!(answered.asked.is_none() && answered.latest.is_some(), "{answered:?}");
        drop(client);
        assert!(!look().closed, "the system has not closed it yet");
        drop(system);
        assert!(look().closed);
    }
}
