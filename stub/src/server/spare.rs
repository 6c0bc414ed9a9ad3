//! A spare file handle, for the moment at which there are no more and a queue waits at the door, so that who cannot be
//! served is told so and not left waiting.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::pin::pin;
use std::task::Poll;

use tokio::net::TcpListener;
use tokio::time::sleep;

use super::BREATH;

/// Connections that wait to be taken; the kernel cuts it to its own `somaxconn`, which is this much by default.
const QUEUE: i32 = 4096;
/// What is read of a request that is turned away: closing over unread bytes would take the answer with it.
const READ: usize = 4096;

const REFUSAL: &str = "{\"ok\":false,\"error_code\":503,\"description\":\"Service Unavailable: the stub has no file \
    handle left for another connection; raise ulimit -n\"}";

/// A file handle kept back.
pub(super) struct Spare(Option<File>);

impl Spare {
    /// Keeps one, and lets a crowd queue at the listener.
    pub(super) fn at(listener: &TcpListener) -> Self {
        // A kernel that does not let it grow leaves the queue as long as it was.
        drop(socket2::SockRef::from(listener).listen(QUEUE));
        Self(spare_handle())
    }

    /// After a connection that could not be taken: tells the first that waits why, in place of the spare handle.
    pub(super) async fn turn_away(&mut self, listener: &TcpListener) {
        if self.0.take().is_none() {
            // Those that end free some.
            sleep(BREATH).await;
        } else if let Some(stream) = first_in_line(listener).await {
            // Whoever has gone meanwhile needs no answer.
            drop(refuse(stream));
        }
        self.0 = spare_handle();
    }
}

fn spare_handle() -> Option<File> {
    File::open("/dev/null").ok()
}

async fn first_in_line(listener: &TcpListener) -> Option<TcpStream> {
    let mut accepted = pin!(listener.accept());
    let now = std::future::poll_fn(|context| Poll::Ready(accepted.as_mut().poll(context))).await;
    match now {
        Poll::Ready(accepted) => accepted.ok()?.0.into_std().ok(),
        Poll::Pending => None,
    }
}

/// Nothing of this waits: the socket does not block, and an answer of this size fits its buffer.
fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    let length = REFUSAL.len();
    let head = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json";
    stream.write_all(format!("{head}\r\nContent-Length: {length}\r\n\r\n{REFUSAL}").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    stream.read(&mut [0; READ]).map(drop)
}
