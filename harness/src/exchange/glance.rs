//! One look at a peer that is not spoken to in plain HTTP/1.1, from a thread that has no event loop.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use super::failure::Failure;
use super::far::Network;
use super::speech::Speech;
use super::wire::{Ask, Body, Endpoint, Wire};

/// Sends a request on a connection of its own, and returns the status of the answer. Connecting and answering may each
/// take as long as `within`.
pub fn glance(address: SocketAddr, speech: &Speech, request: &str, within: Duration) -> io::Result<u16> {
    let endpoint = Endpoint { address, speech: speech.clone(), connect_timeout: within, timeout: within };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ask = Ask { body: Body::Drained, headers: false, source: None, network: Network::default(), told: &|_| {} };
    let fill = |out: &mut String| out.push_str(request);
    let looked = runtime.block_on(async { Wire::new(endpoint).exchange(&mut None, pin!(None), ask, fill).await });
    looked.result.map(|answered| answered.status).map_err(in_words)
}

const NOT_HTTP: &str =
    "an answer that is not HTTP as it was asked for: do `system.tls` and `system.http2` say what listens there?";

/// The kind of error that an answer is which is one, but longer than is read.
pub(super) const TOO_LONG: io::ErrorKind = io::ErrorKind::FileTooLarge;

fn in_words(failure: Failure) -> io::Error {
    let kind = match failure {
        Failure::Refused => io::ErrorKind::ConnectionRefused,
        Failure::Reset => io::ErrorKind::ConnectionReset,
        Failure::Closed => io::ErrorKind::UnexpectedEof,
        Failure::ConnectTimeout | Failure::Timeout => io::ErrorKind::TimedOut,
        Failure::Tls => {
            let why = "no agreement on TLS: does `system.tls` name the certificate, or who signed it, and its name?";
            return io::Error::other(why);
        }
        Failure::TooLong => return io::Error::new(TOO_LONG, "an answer with a head longer than the rig reads"),
        Failure::Malformed => return io::Error::new(io::ErrorKind::InvalidData, NOT_HTTP),
        Failure::Rig(fault) => return io::Error::other(format!("the rig could not ask: {fault:?}")),
    };
    kind.into()
}
