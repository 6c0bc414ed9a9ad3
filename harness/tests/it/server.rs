//! A server that serves whoever asks and counts for itself.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Where it listens, and how many requests it has received. Its threads end with their connections.
pub(crate) fn counting() -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let received = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&received);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let count = Arc::clone(&count);
            thread::spawn(move || answer(stream, &count));
        }
    });
    (address, received)
}

/// The rig sends one request at a time, and small ones in one piece.
fn answer(mut stream: TcpStream, received: &AtomicU64) {
    while let Ok(1..) = stream.read(&mut [0; 4096]) {
        received.fetch_add(1, Ordering::SeqCst);
        if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}
