//! What carries exchanges between the rig and a peer. The plain kind is a socket and nothing else.

use std::io;
use std::pin::Pin;
use std::task::{Context, Waker};

use floodrig_reports::recording::Protocol;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::http2::Session;

/// Anything that bytes travel over both ways.
pub(super) trait Road: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Road for T {}

/// What carries exchanges.
pub(super) enum Link {
    /// HTTP/1.1 on a socket.
    Plain(TcpStream),
    /// HTTP/1.1 on something with a socket below.
    Wrapped(Box<dyn Road>),
    /// HTTP/2, whatever is below.
    Multiplexed(Session),
}

impl Link {
    /// What is spoken over it.
    pub(super) fn protocol(&self) -> Protocol {
        match self {
            Self::Plain(_) | Self::Wrapped(_) => Protocol::Http1,
            Self::Multiplexed(_) => Protocol::Http2,
        }
    }

    /// Whether it is still open and silent, as far as has been noticed. For a socket, the kernel is asked only when
    /// something has happened to it.
    pub(super) fn is_idle(&mut self) -> bool {
        match self {
            Self::Plain(stream) => {
                let read = stream.try_read(&mut [0]);
                read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
            }
            Self::Wrapped(road) => is_silent(road),
            Self::Multiplexed(session) => session.is_open(),
        }
    }
}

/// Looks once, without being woken by it later: whoever uses the road next looks again.
fn is_silent(road: &mut Box<dyn Road>) -> bool {
    let mut byte = [0];
    let mut read = ReadBuf::new(&mut byte);
    let mut context = Context::from_waker(Waker::noop());
    Pin::new(road).poll_read(&mut context, &mut read).is_pending()
}

impl std::fmt::Debug for Link {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Wrapped(_) => "Wrapped",
            Self::Multiplexed(_) => "Multiplexed",
        })
    }
}
