//! Whom the system has answered of late, over all connections to its port: the kernel knows of each when it last sent
//! and received data, and whether a process has accepted it, and tells without privilege, in a millisecond or two.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::own_connects::OwnConnects;
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
    own_connects: Arc<OwnConnects>,
    waits_for: WaitsFor,
}

/// What the rig itself waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// An answer, over a connection that has long been accepted.
    Answer,
    /// To be accepted. Others may be, ahead of it in the queue, and are served by that too.
    Acceptance,
}

/// The connections of a look by the port of the other side, the rig's bare ones left out; whether each is accepted.
type Open = HashMap<u16, bool>;

/// When nobody was served during one wait.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// Neither answered nor, where the wait was for that, accepted.
    pub(super) silences: Vec<Silence>,
    /// Where the wait was for that: nobody was accepted, answered or not.
    pub(super) unaccepted: Vec<Silence>,
}

/// The looks of one wait.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    served: Option<&'a Served>,
    silences: Silences,
    unaccepted: Silences,
    open: Open,
    next: Duration,
}

impl Served {
    /// Of this port, in this network namespace.
    pub(super) fn of(port: u16, clock: Clock, own_connects: Arc<OwnConnects>, waits_for: WaitsFor) -> io::Result<Self> {
        let served = Self { kernel: Diag::open()?, port, clock, own_connects, waits_for };
        served.look(Duration::ZERO, &mut Open::new())?;
        Ok(served)
    }

    /// Nothing when the look took too long to mean anything. `open`: the connections of the look before that
    /// did, and then of this one. A connection that the other side has closed is there until the system has closed it
    /// too.
    fn look(&self, since: Duration, open: &mut Open) -> io::Result<Option<Look>> {
        let at = self.clock.now();
        let mut look = Look::at(at, since);
        let mut now_open = Open::with_capacity(open.len());
        let ago = |ms: u32| at.saturating_sub(Duration::from_millis(u64::from(ms)));
        for family in FAMILIES {
            let states = States::Open;
            let question = Question { family, states, local_port: self.port, remote_port: 0, times: true };
            self.kernel.ask(question, |socket| {
                now_open.insert(socket.remote_port, socket.inode != 0);
                let Some(last) = socket.last else { return };
                look.take(last.has_received.then(|| ago(last.received_ms)), last.has_sent.then(|| ago(last.sent_ms)));
            })?;
        }
        self.own_connects.leave_out(&mut now_open);
        look.closed = open.keys().any(|port| !now_open.contains_key(port));
        look.accepted = is_accepted_since(open, &now_open);
        if self.clock.now().saturating_sub(at) > LOOK_WITHIN {
            return Ok(None);
        }
        *open = now_open;
        Ok(Some(look))
    }
}

/// Whether a connection has left the queue between two looks: it was in it, or not yet there.
fn is_accepted_since(before: &Open, now: &Open) -> bool {
    let left = |(port, accepted): (&u16, &bool)| !accepted && now.get(port) != Some(&false);
    let came = |(port, accepted): (&u16, &bool)| *accepted && !before.contains_key(port);
    before.iter().any(left) || now.iter().any(came)
}

impl<'a> Watch<'a> {
    /// Of a wait that begins now; without `served` all of it is silence.
    pub(super) fn begin(served: Option<&'a Served>, sent: Duration) -> Self {
        let silences = || Silences::of(sent);
        Self { served, silences: silences(), unaccepted: silences(), open: Open::new(), next: sent + LOOK_EVERY }
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self, now: Duration) {
        let Some(served) = self.served.filter(|_| now >= self.next) else { return };
        let look = served.look(self.silences.since(), &mut self.open);
        let took = served.clock.now().saturating_sub(now);
        self.next = now + LOOK_EVERY.max(took * LOOK_SHARE);
        match look {
            Ok(Some(look)) => self.hear(served.waits_for, look),
            Ok(None) => {}
            // A kernel that answered at the start and does not now tells nothing any more of this wait.
            Err(_) => self.served = None,
        }
    }

    /// The first look has none before it, and cannot tell what has been accepted since.
    fn hear(&mut self, waits_for: WaitsFor, mut look: Look) {
        look.accepted &= self.silences.is_heard();
        match waits_for {
            WaitsFor::Answer => self.silences.hear(&look),
            WaitsFor::Acceptance => {
                self.silences.hear(&look.counting_acceptance());
                self.unaccepted.hear(&look.of_acceptance_alone());
            }
        }
    }

    /// The wait has ended.
    pub(super) fn end(mut self, ended: Duration) -> Quiet {
        let served = self.served.filter(|_| self.silences.is_heard());
        let last = served.and_then(|served| served.look(self.silences.since(), &mut self.open).ok().flatten());
        match self.served.map_or(WaitsFor::Answer, |served| served.waits_for) {
            WaitsFor::Answer => Quiet { silences: self.silences.end(last.as_ref(), ended, 1), ..Quiet::default() },
            WaitsFor::Acceptance => {
                let both = last.map(Look::counting_acceptance);
                let unaccepted = self.unaccepted.end(last.map(Look::of_acceptance_alone).as_ref(), ended, 0);
                Quiet { silences: self.silences.end(both.as_ref(), ended, 0), unaccepted }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::super::clock;
    use super::*;

    #[test]
    fn a_new_connection_has_neither_asked_nor_been_answered_and_one_that_was_waits_no_more() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served = Served::of(address.port(), clock(), Arc::default(), WaitsFor::Answer).unwrap();
        let mut open = Open::new();
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

    #[test]
    fn a_connection_is_accepted_once_it_has_left_the_queue() {
        let of = |all: &[(u16, bool)]| all.iter().copied().collect::<Open>();
        let since = |before: &[(u16, bool)], now: &[(u16, bool)]| is_accepted_since(&of(before), &of(now));
        assert!(since(&[(1, false)], &[(1, true)]));
        assert!(since(&[(1, false)], &[]), "and was closed");
        assert!(since(&[], &[(1, true)]), "and came between the two looks");
        assert!(!since(&[(1, false), (2, true)], &[(1, false), (2, true), (3, false)]));
        assert!(!since(&[(2, true)], &[]));
    }

    #[test]
    fn the_rigs_bare_connections_are_nobodys() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let own_connects = Arc::new(OwnConnects::default());
        let served = Served::of(address.port(), clock(), Arc::clone(&own_connects), WaitsFor::Acceptance).unwrap();
        let mut open = Open::new();
        let mut look = || served.look(Duration::ZERO, &mut open).unwrap().unwrap();
        look();
        let bare = own_connects.connect(address).unwrap();
        let accepted = listener.accept().unwrap();
        assert!(!look().accepted);
        drop((bare, accepted));
        assert!(!look().closed);
        let _crowd = TcpStream::connect(address).unwrap();
        assert!(!look().accepted);
        let _accepted = listener.accept().unwrap();
        assert!(look().accepted);
    }
}
