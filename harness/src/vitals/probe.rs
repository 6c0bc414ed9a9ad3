//! The black-box probe: it asks the system steadily over one kept connection, on a schedule.
//!
//! A delay counts from the instant of sending, which is the planned one unless the rig itself woke up late.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::line::{Line, NoAnswer};
use super::named;
use super::patience::Patience;
use super::served::Served;
use super::stalls::{Delays, Wait};
use super::steady::{FIRST_WITHIN, Steady};
use crate::system::Clock;

/// A probe that is asking.
#[derive(Debug)]
pub(super) struct Probe {
    stop: SyncSender<()>,
    thread: JoinHandle<Delays>,
    /// The longest delay since somebody took it, in microseconds; zero: none.
    pub(super) gauge: Arc<AtomicU64>,
    /// Whether a wait among others can be told from one in which nobody is answered.
    pub(super) sees_others: bool,
}

impl Probe {
    /// Asks once, and goes on asking if there was an answer; without one there would be nothing to measure.
    pub(super) fn start(
        target: SocketAddr,
        path: &str,
        steady: Steady,
        clock: Clock,
        served: Option<Served>,
    ) -> Option<Self> {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: floodrig-probe\r\n\r\n").into_bytes();
        let (stop, stopped) = sync_channel(1);
        let (first, answered) = sync_channel(1);
        let gauge = Arc::new(AtomicU64::new(0));
        let sees_others = served.is_some();
        let mut asking = Asking { target, request, clock, served, gauge: Arc::clone(&gauge), line: None };
        let thread = named("probe", move || {
            let one = asking.once(&stopped);
            // Nobody waits for it any more when it took too long.
            let _told = first.send(one.is_ok());
            steady.until_stopped(clock, &stopped, |stop| asking.once(stop))
        });
        // On failure the sender is dropped here, which stops the thread within one step.
        (answered.recv_timeout(FIRST_WITHIN) == Ok(true)).then_some(Self { stop, thread, gauge, sees_others })
    }

    /// Stops asking.
    pub(super) fn finish(self) -> Delays {
        drop(self.stop);
        self.thread.join().expect("the probe never panics")
    }
}

struct Asking {
    target: SocketAddr,
    request: Vec<u8>,
    clock: Clock,
    served: Option<Served>,
    gauge: Arc<AtomicU64>,
    line: Option<Line>,
}

impl Asking {
    /// The wait for one answer. A kept connection that turns out to be closed is opened anew, once.
    fn once(&mut self, stop: &Receiver<()>) -> Result<Wait, Wait> {
        let mut patience = Patience::new(self.clock, stop, &self.gauge, self.served.as_ref());
        let mut kept = self.line.take();
        loop {
            let was_kept = kept.is_some();
            let answer = match kept.take() {
                Some(line) => Ok(line),
                None => Line::open(self.target, &mut patience),
            }
            .and_then(|mut line| line.ask(&self.request, &mut patience).map(|()| line));
            match answer {
                Ok(line) => {
                    patience.show();
                    let wait = patience.over();
                    self.line = line.finish(self.clock);
                    return Ok(wait);
                }
                Err(NoAnswer::Gone) if was_kept => {}
                Err(NoAnswer::Gone | NoAnswer::Stopped) => return Err(patience.over()),
            }
        }
    }
}
