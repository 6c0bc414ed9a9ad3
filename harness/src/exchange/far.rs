//! A road to somebody far away: what is sent and what comes back takes its time, and is read no faster than a phone would.
//!
//! This is done above the kernel, so that it needs no right to change the network: bytes are kept for half a round trip
//! before they are written, and for half of one after they were read. The system's socket therefore fills, and stays
//! open, as it would; but the kernel's own acknowledgements come at once, so there is no slow start, no loss and no
//! retransmission, and what goes out is not slowed down. Timers have ticks of a millisecond.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// What lies between a player and the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Network {
    /// The time from here to there and back.
    pub round_trip: Duration,
    /// Bytes read in a second; nothing: as fast as they come.
    pub reads_at: Option<u64>,
}

/// The buffer that a slow reader asks the kernel for: a few segments, so that it is the sender's that fills. Linux doubles
/// it for its own use (socket(7), `SO_RCVBUF`).
pub(super) const SLOW_BUFFER: u32 = 8 * 1024;

/// Most bytes on their way in one direction; further ones wait.
const MOST_UNDER_WAY: usize = 1024 * 1024;

/// Most bytes read at once.
const PIECE: usize = 16 * 1024;

/// A slow reader takes as much at once as it reads in a fiftieth of a second.
const PIECES_A_SECOND: u64 = 50;

impl Network {
    /// Whether nothing lies between.
    pub(super) fn is_near(self) -> bool {
        self == Self::default()
    }

    /// How much is read at once.
    fn piece(self) -> usize {
        self.reads_at.map_or(PIECE, |rate| (rate / PIECES_A_SECOND).clamp(1, PIECE as u64) as usize)
    }

    /// How long reading so many bytes takes.
    fn reading(self, bytes: usize) -> Duration {
        self.reads_at.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(bytes as f64 / rate as f64))
    }
}

/// A socket at the other end of a network.
pub(super) struct Far {
    stream: TcpStream,
    network: Network,
    outbound: Way,
    inbound: Way,
    /// When the reader has done with what it has read.
    reads_from: Instant,
    /// No more will come in.
    ended: bool,
    timer: Pin<Box<Sleep>>,
}

/// Bytes under way in one direction, each piece with the instant at which it arrives.
#[derive(Default)]
struct Way {
    pieces: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
}

impl Way {
    fn push(&mut self, arrives: Instant, piece: &[u8]) {
        self.bytes += piece.len();
        self.pieces.push_back((arrives, piece.to_vec()));
    }

    /// Takes bytes from the front.
    fn advance(&mut self, bytes: usize) {
        let Some((_, piece)) = self.pieces.front_mut() else { return };
        piece.drain(..bytes);
        self.bytes -= bytes;
        if piece.is_empty() {
            self.pieces.pop_front();
        }
    }

    /// What has arrived by now.
    fn arrived(&self, now: Instant) -> Option<&[u8]> {
        self.pieces.front().filter(|(arrives, _)| *arrives <= now).map(|(_, piece)| piece.as_slice())
    }

    fn next(&self) -> Option<Instant> {
        self.pieces.front().map(|(arrives, _)| *arrives)
    }
}

impl Far {
    /// A connected socket as seen over a network.
    pub(super) fn new(stream: TcpStream, network: Network) -> Self {
        let now = now();
        let (outbound, inbound) = (Way::default(), Way::default());
        Self { stream, network, outbound, inbound, reads_from: now, ended: false, timer: Box::pin(sleep_until(now)) }
    }

    /// Writes what has crossed the network.
    fn poll_out(&mut self, context: &mut Context<'_>, now: Instant) -> io::Result<()> {
        while let Some(piece) = self.outbound.arrived(now) {
            match Pin::new(&mut self.stream).poll_write(context, piece)? {
                Poll::Ready(bytes) => self.outbound.advance(bytes),
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    /// Reads what the reader is ready for.
    fn poll_in(&mut self, context: &mut Context<'_>, now: Instant) -> io::Result<()> {
        let mut space = [0; PIECE];
        while !self.ended && self.reads_from <= now && self.inbound.bytes < MOST_UNDER_WAY {
            let mut piece = ReadBuf::new(&mut space[..self.network.piece()]);
            match Pin::new(&mut self.stream).poll_read(context, &mut piece)? {
                Poll::Pending => break,
                Poll::Ready(()) if piece.filled().is_empty() => self.ended = true,
                Poll::Ready(()) => {
                    self.inbound.push(now + self.network.round_trip / 2, piece.filled());
                    self.reads_from = now + self.network.reading(piece.filled().len());
                }
            }
        }
        Ok(())
    }

    /// Sees to it that the task is woken when there is something to do; ready if there is already.
    fn poll_timer(&mut self, context: &mut Context<'_>, now: Instant) -> Poll<()> {
        let reads = (self.reads_from > now).then_some(self.reads_from);
        let arrivals = [self.outbound.next(), self.inbound.next()].into_iter().flatten().filter(|at| *at > now);
        let Some(next) = arrivals.chain(reads).min() else { return Poll::Pending };
        self.timer.as_mut().reset(next);
        self.timer.as_mut().poll(context)
    }
}

impl AsyncRead for Far {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let far = self.get_mut();
        loop {
            let now = now();
            far.poll_out(context, now)?;
            far.poll_in(context, now)?;
            if let Some(piece) = far.inbound.arrived(now) {
                let bytes = piece.len().min(into.remaining());
                into.put_slice(&piece[..bytes]);
                far.inbound.advance(bytes);
                return Poll::Ready(Ok(()));
            }
            if far.ended && far.inbound.pieces.is_empty() {
                return Poll::Ready(Ok(()));
            }
            std::task::ready!(far.poll_timer(context, now));
        }
    }
}

impl AsyncWrite for Far {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let far = self.get_mut();
        loop {
            let now = now();
            far.poll_out(context, now)?;
            let room = MOST_UNDER_WAY.saturating_sub(far.outbound.bytes).min(bytes.len());
            if room > 0 || bytes.is_empty() {
                far.outbound.push(now + far.network.round_trip / 2, &bytes[..room]);
                return Poll::Ready(Ok(room));
            }
            std::task::ready!(far.poll_timer(context, now));
        }
    }

    /// What has been handed to the network is on its way; whoever then waits for an answer moves it along.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_out(context, now())?;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let far = self.get_mut();
        loop {
            let now = now();
            far.poll_out(context, now)?;
            if far.outbound.pieces.is_empty() {
                return Pin::new(&mut far.stream).poll_shutdown(context);
            }
            std::task::ready!(far.poll_timer(context, now));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long bytes are under way is a matter of this room")]
fn now() -> Instant {
    Instant::now()
}
