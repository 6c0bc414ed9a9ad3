//! A server that does nothing: it answers every request with the same few bytes. What the rig can do against it is
//! what it can do at all.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::BenchError;
use crate::system::cores::pin_this_thread;

/// Until the next try to accept after one that failed: handles come back when a connection ends, and not sooner for
/// being asked for.
const PAUSE: Duration = Duration::from_millis(10);

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// The server, on a thread and on cores of its own; it ends when it is dropped.
#[derive(Debug)]
pub(super) struct Null {
    pub(super) address: SocketAddr,
    /// Its thread, whose CPU time is not the rig's.
    pub(super) thread_id: u32,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Null {
    /// Starts it on these cores.
    pub(super) fn start(cores: &[u32]) -> Result<Self, BenchError> {
        let io = |cause| BenchError::Io { what: "start the null server", cause };
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = sync_channel(1);
        let cores = cores.to_vec();
        let start = thread::Builder::new().name("null".to_owned());
        let thread = start.spawn(move || serve(&cores, stopped, |up| drop(tell.send(up)))).map_err(io)?;
        let (address, thread_id) = told.recv().map_err(|_| BenchError::Panicked("null server"))?.map_err(io)?;
        Ok(Self { address, thread_id, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of its own has its message on stderr, and what was measured tells that nobody answered.
            drop(thread.join());
        }
    }
}

/// Tells its address and thread once it listens, and serves until `stopped` is closed.
fn serve(cores: &[u32], stopped: oneshot::Receiver<()>, tell: impl FnOnce(io::Result<(SocketAddr, u32)>)) {
    let up = || {
        pin_this_thread(cores)?;
        let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        Ok((runtime, listener, address))
    };
    match up() {
        Err(cause) => tell(Err(cause)),
        Ok((runtime, listener, address)) => {
            tell(Ok((address, rustix::thread::gettid().as_raw_nonzero().get() as u32)));
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(&listener) => {}
                }
            });
        }
    }
}

async fn accept(listener: &TcpListener) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::task::spawn_local(answer(stream));
        } else {
            // Out of descriptors, say: whoever was to be answered sees it, and the next one may be luckier.
            sleep(PAUSE).await;
        }
    }
}

/// A request without a body ends with an empty line; the engine sends one at a time.
async fn answer(mut stream: TcpStream) {
    let mut request = [0; 4096];
    drop(stream.set_nodelay(true));
    let mut end = 0;
    while let Ok(length @ 1..) = stream.read(&mut request[end..]).await {
        end += length;
        if request[..end].ends_with(b"\r\n\r\n") {
            end = 0;
            if stream.write_all(ANSWER).await.is_err() {
                return;
            }
        }
    }
}
