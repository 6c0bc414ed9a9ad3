//! Bare connects on a schedule: how long the system leaves them in its listener's queue.
//!
//! They need no path that answers and no protocol. The handshake is the kernel's, so only acceptance tells anything.
//! Each is closed as soon as it is accepted, by the rig first: its ports rest for a minute then, at most 1,200 of some
//! 28,000.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::bare::{Bare, Connector, Stage};
use super::line::NoAnswer;
use super::own_connects::OwnConnects;
use super::patience::{Patience, Waited};
use super::served::{Served, WaitsFor};
use super::stalls::{Delays, Wait};
use super::steady::{FIRST_WITHIN, Steady};
use super::{kernel_said, named};
use crate::system::Clock;

/// How often it is looked at first: an idle system accepts within a millisecond.
const LOOK_SOON: Duration = Duration::from_millis(1);
/// And after so long, how often.
const SOON: Duration = Duration::from_millis(10);
const LOOK_LATER: Duration = Duration::from_millis(5);

/// Connects that are being made.
#[derive(Debug)]
pub(super) struct Connects {
    stop: SyncSender<()>,
    thread: JoinHandle<Delays>,
    /// The longest wait since somebody took it, in microseconds; zero: none.
    pub(super) gauge: Arc<AtomicU64>,
}

impl Connects {
    /// Makes one, and goes on if it was accepted; otherwise why there is nothing to measure.
    pub(super) fn start(
        target: SocketAddr,
        steady: Steady,
        clock: Clock,
        own_connects: Arc<OwnConnects>,
    ) -> Result<Self, String> {
        let served = Served::of(target.port(), clock, Arc::clone(&own_connects), WaitsFor::Acceptance);
        let (served, connector) =
            served.and_then(|served| Ok((served, Connector::at(target, own_connects)?))).map_err(kernel_said)?;
        first(&connector, clock)?;
        let (stop, stopped) = sync_channel(1);
        let gauge = Arc::new(AtomicU64::new(0));
        let connecting = Connecting { connector, clock, served, gauge: Arc::clone(&gauge) };
        let thread = named("connects", move || steady.until_stopped(clock, &stopped, |stop| connecting.once(stop)));
        Ok(Self { stop, thread, gauge })
    }

    /// Makes no more.
    pub(super) fn finish(self) -> Delays {
        drop(self.stop);
        self.thread.join().expect("the connects never panic")
    }
}

/// Whether one is accepted at all.
fn first(connector: &Connector, clock: Clock) -> Result<(), String> {
    if !connector.sees_listener().map_err(kernel_said)? {
        return Err("the kernel shows nobody who listens there, in this network".to_owned());
    }
    let (until, mut bare) = (clock.now() + FIRST_WITHIN, Bare::new(connector));
    loop {
        let stage = bare.look(clock.now()).map_err(kernel_said)?;
        match stage {
            Stage::Accepted => return Ok(()),
            Stage::Queued | Stage::Outside | Stage::PassedOver if clock.now() < until => std::thread::sleep(LOOK_SOON),
            Stage::Queued | Stage::Outside => return Err("no connection was accepted within 2 s".to_owned()),
            Stage::PassedOver => {
                return Err("the listener leaves connections to the kernel until their first bytes have come \
                            (TCP_DEFER_ACCEPT)"
                    .to_owned());
            }
            Stage::Gone => return Err("the connection was refused or reset".to_owned()),
        }
    }
}

struct Connecting {
    connector: Connector,
    clock: Clock,
    served: Served,
    gauge: Arc<AtomicU64>,
}

impl Connecting {
    /// The wait for one to be accepted; it is closed then.
    fn once(&self, stop: &Receiver<()>) -> Result<Wait, Wait> {
        let mut patience = Patience::new(self.clock, stop, &self.gauge, Some(&self.served));
        let (from, mut bare) = (self.clock.now(), Bare::new(&self.connector));
        let waited = patience.wait_for(|within| self.accepted(&mut bare, from, within));
        drop(bare);
        match waited {
            Waited::Ready => {
                patience.show();
                Ok(patience.over())
            }
            Waited::Stopped | Waited::Failed => Err(patience.over()),
        }
    }

    fn accepted(&self, bare: &mut Bare<'_>, from: Duration, within: Duration) -> Result<bool, NoAnswer> {
        let until = self.clock.now() + within;
        loop {
            let now = self.clock.now();
            match bare.look(now) {
                Ok(Stage::Accepted) => return Ok(true),
                Ok(Stage::Queued | Stage::Outside | Stage::PassedOver) if now >= until => return Ok(false),
                Ok(Stage::Queued | Stage::Outside | Stage::PassedOver) => {}
                Ok(Stage::Gone) | Err(_) => return Err(NoAnswer::Gone),
            }
            let soon = now.saturating_sub(from) < SOON;
            std::thread::sleep(if soon { LOOK_SOON } else { LOOK_LATER }.min(until.saturating_sub(now)));
        }
    }
}
