//! SIGTERM as something to wait for, and the bound on how long the end may take.

use std::io::{self, Read};
use std::os::unix::net::UnixStream as Pipe;
use std::thread;
use std::time::Duration;

use signal_hook::consts::signal::SIGTERM;
use signal_hook::low_level::pipe;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

use crate::complain::complain;
use crate::settings::Settings;

/// The signal, from the moment it is watched.
#[derive(Debug)]
pub(crate) struct Sigterm {
    arrivals: UnixStream,
    ignored: bool,
}

impl Sigterm {
    /// From here on SIGTERM no longer ends the process by itself.
    pub(crate) fn watch(settings: &Settings) -> io::Result<Self> {
        let arrivals = arrivals()?;
        arrivals.set_nonblocking(true)?;
        let ignored = settings.calibration.as_ref().is_some_and(|calibration| calibration.ignores_sigterm);
        if !ignored {
            bound_the_end(settings.stop_within)?;
        }
        Ok(Self { arrivals: UnixStream::from_std(arrivals)?, ignored })
    }

    /// Waits for the signal; for ever, where it is to be ignored.
    pub(crate) async fn received(&mut self) -> io::Result<()> {
        if self.ignored {
            return std::future::pending().await;
        }
        self.arrivals.read_u8().await.map(drop)
    }
}

/// A byte arrives with every signal.
fn arrivals() -> io::Result<Pipe> {
    let (arrivals, handler) = Pipe::pair()?;
    pipe::register(SIGTERM, handler)?;
    Ok(arrivals)
}

/// A thread of its own keeps the bound: a runtime that hundreds of boards starve would come too late to keep its word.
fn bound_the_end(within: Duration) -> io::Result<()> {
    let mut arrivals = arrivals()?;
    let wait = move || {
        if arrivals.read_exact(&mut [0]).is_ok() {
            thread::sleep(within);
            complain(&format_args!("stopped with work still in flight after {within:?}"));
            exit();
        }
    };
    thread::Builder::new().name("stop".to_owned()).spawn(wait).map(drop)
}

#[expect(clippy::disallowed_methods, reason = "the bound is reached: what is left will not be waited for")]
fn exit() {
    std::process::exit(0);
}
