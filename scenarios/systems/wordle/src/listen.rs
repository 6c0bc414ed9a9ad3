//! The listening socket, with a backlog of ordered length, and a way to close it while connections stay open.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::serve::Listener;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use crate::complain::complain;
use crate::stop::Stop;

/// How long accepting rests after it failed, as for want of file descriptors.
const REST_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// Accepts connections until it is told to close.
#[derive(Debug)]
pub(crate) struct Gate {
    listener: Option<TcpListener>,
    address: SocketAddr,
    close: Stop,
}

impl Gate {
    /// Listens on 127.0.0.1.
    pub(crate) fn open(port: u16, backlog: u16, close: Stop) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
        socket.listen(i32::from(backlog))?;
        let listener = TcpListener::from_std(socket.into())?;
        Ok(Self { address: listener.local_addr()?, listener: Some(listener), close })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Listener for Gate {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let Some(listener) = &self.listener else { return std::future::pending().await };
            tokio::select! {
                accepted = listener.accept() => match accepted.and_then(at_once) {
                    Ok(connection) => return connection,
                    Err(error) => {
                        complain(&format_args!("accept: {error}"));
                        tokio::time::sleep(REST_AFTER_FAILURE).await;
                    }
                },
                () = self.close.ordered() => self.listener = None,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// Answers are small: they must not wait for one another.
fn at_once((stream, peer): (TcpStream, SocketAddr)) -> io::Result<(TcpStream, SocketAddr)> {
    stream.set_nodelay(true)?;
    Ok((stream, peer))
}
