//! One connection that many exchanges share at the same time, as browsers have it over HTTP/2.
//!
//! When it is gone, the first exchange that notices makes another, and all others wait for that one: they go on over it
//! together, or fail together if it cannot be made. A peer that has said goodbye still ends what it has begun, over the
//! old connection beside the new one; so whoever counts connections is asked before there is one more, and without
//! their leave the old one is waited for. A peer that comes back without HTTP/2 is asked one thing after the other.

use std::cell::{Cell, RefCell};
use std::pin::Pin;

use tokio::sync::{Mutex, MutexGuard, Notify};

use super::connect::{Connection, connect};
use super::deadline::Timer;
use super::failure::Failure;
use super::http2::{Session, Trace};
use super::link::Link;
use super::stage::Stage;
use super::wire::{Answered, Ask, Broken, Exchanged, Line, Wire};

/// The connection that is shared, and what is left of those before it.
pub struct Trunk<'a> {
    shared: Mutex<Option<Connection>>,
    /// Those that take nothing new.
    old: RefCell<Vec<Trace>>,
    /// Told when an exchange has let go of its connection.
    left: Notify,
    /// Whether so many may be open at once.
    allows: &'a dyn Fn(u64) -> bool,
    /// Connections tried to be made so far, and why the last was not.
    made: Cell<u64>,
    failed: Cell<Option<Failure>>,
}

/// What an exchange goes over.
enum Place<'t> {
    /// A handle of the connection, which others have as well; `is_new` if it was not there when it was asked for.
    Beside { connection: Connection, is_new: bool },
    /// The connection itself, which carries one exchange at a time.
    Alone(MutexGuard<'t, Option<Connection>>),
}

impl<'a> Trunk<'a> {
    /// Shares a connection that takes many exchanges; `allows` is asked before as many connections are open at once.
    pub fn new(connection: Connection, allows: &'a dyn Fn(u64) -> bool) -> Self {
        Self {
            shared: Mutex::new(Some(connection)),
            old: RefCell::default(),
            left: Notify::new(),
            allows,
            made: Cell::new(0),
            failed: Cell::new(None),
        }
    }

    /// The connection as it stands now, when all exchanges are over.
    pub fn into_connection(self) -> Option<Connection> {
        self.shared.into_inner()
    }

    async fn place(&self, wire: &Wire, ask: Ask<'_>) -> Result<Place<'_>, Failure> {
        let before = self.made.get();
        let mut shared = self.shared.lock().await;
        if let (None, Some(failure), true) = (&*shared, self.failed.get(), self.made.get() > before) {
            return Err(failure);
        }
        let is_there = shared.as_mut().is_some_and(|connection| connection.link.is_idle());
        if !is_there {
            self.renew(&mut shared, wire, ask).await?;
        }
        let is_new = self.made.get() > before;
        Ok(match shared.as_ref().and_then(Connection::session) {
            Some(session) => {
                Place::Beside { connection: Connection { link: Link::Multiplexed(session.clone()) }, is_new }
            }
            None => Place::Alone(shared),
        })
    }

    /// Makes another connection in place of one that is gone.
    async fn renew(&self, shared: &mut Option<Connection>, wire: &Wire, ask: Ask<'_>) -> Result<(), Failure> {
        let old = shared.take();
        self.old.borrow_mut().extend(old.as_ref().and_then(Connection::session).map(Session::trace));
        drop(old);
        self.room_for_another().await;
        let fresh = connect(wire.endpoint(), ask).await;
        self.made.set(self.made.get() + 1);
        self.failed.set(fresh.as_ref().err().copied());
        let fresh = fresh?;
        wire.hear(&fresh);
        *shared = Some(fresh);
        Ok(())
    }

    /// Waits for one old connection after the other, if need be; each is let go of when its last exchange is over, which
    /// is when its answer is overdue at the latest.
    async fn room_for_another(&self) {
        loop {
            self.old.borrow_mut().retain(Trace::is_alive);
            let old = self.old.borrow().len() as u64;
            if old == 0 || (self.allows)(old + 1) {
                return;
            }
            self.left.notified().await;
        }
    }
}

impl Wire {
    /// As [`Self::exchange`], over a connection that others use at the same time.
    pub async fn exchange_along(
        &self,
        trunk: &Trunk<'_>,
        mut timer: Pin<&mut Timer>,
        ask: Ask<'_>,
        fill: impl Fn(&mut String),
    ) -> Exchanged {
        let mut exchanged = Exchanged { result: Err(Failure::Closed), tries: 0 };
        loop {
            let (connection, is_new) = match trunk.place(self, ask).await {
                Err(failure) => return Exchanged { result: Err(failure), ..exchanged },
                Ok(Place::Alone(mut connection)) => {
                    return exchanged.and(self.exchange(&mut connection, timer, ask, fill).await);
                }
                Ok(Place::Beside { connection, is_new }) => (connection, is_new),
            };
            exchanged.tries += 1;
            (ask.told)(Stage::Sending);
            match self.attempt_beside(trunk, (connection, timer.as_mut()), ask, &fill).await {
                Err(Broken { failure: Failure::Closed | Failure::Reset, begun: false })
                    if !is_new && exchanged.tries == 1 => {}
                last => return Exchanged { result: last.map_err(|broken| broken.failure), ..exchanged },
            }
        }
    }

    /// One try, after which the connection is let go of.
    async fn attempt_beside(
        &self,
        trunk: &Trunk<'_>,
        (connection, timer): (Connection, Pin<&mut Timer>),
        ask: Ask<'_>,
        fill: impl Fn(&mut String),
    ) -> Result<Answered, Broken> {
        let mut kept = None;
        let attempt = self.attempt(Line { connection, kept: &mut kept, timer }, ask, fill).await;
        drop(kept);
        trunk.left.notify_one();
        attempt
    }
}

impl Exchanged {
    /// What came of it after this much before.
    fn and(self, last: Self) -> Self {
        Self { result: last.result, tries: self.tries + last.tries }
    }
}
