//! SIGTERM as something to wait for.

use std::io;
use std::os::unix::net::UnixStream as Pipe;

use signal_hook::consts::signal::SIGTERM;
use signal_hook::low_level::pipe;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;

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
        let (arrivals, handler) = Pipe::pair()?;
        pipe::register(SIGTERM, handler)?;
        arrivals.set_nonblocking(true)?;
        let ignored = settings.calibration.as_ref().is_some_and(|calibration| calibration.ignores_sigterm);
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
