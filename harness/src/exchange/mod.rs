//! One HTTP exchange and the taxonomy of its failures.
//!
//! A connection is kept from one exchange to the next. A kept one that ends before any byte of an answer is
//! replaced once by a fresh one, as browsers do; only the second failure counts. Bodies are read to their end
//! and kept only when the caller asks for them. The two buffers are shared by all exchanges of the thread, so
//! that an idle connection costs a socket and nothing else. Redirects are not followed.
//!
//! Plain HTTP/1.1 is ours and goes straight from the socket to the answer. TLS and HTTP/2, where a peer wants them, are
//! libraries' and stand behind one enum; the requests and the failures are the same.
//!
//! It knows nothing of plans, acts or clocks beyond its own two timeouts.

mod answer;
mod chunks;
mod connect;
mod deadline;
mod detect;
mod failure;
mod far;
mod glance;
mod http2;
mod link;
#[cfg(test)]
pub(crate) mod rough;
mod sock_diag;
mod socket;
mod speech;
mod stage;
#[cfg(test)]
mod tests;
mod text;
mod tls;
mod trunk;
#[cfg(test)]
pub(crate) mod versed;
mod wire;

pub use connect::Connection;
pub use deadline::Timer;
pub use detect::{Detected, detect};
pub use failure::Failure;
pub use far::Network;
pub use glance::glance;
pub use sock_diag::tcp_info;
pub use socket::{Socket, Words};
pub use speech::Speech;
pub use stage::Stage;
pub use text::get_once;
pub use tls::TlsError;
pub use trunk::Trunk;
pub use wire::{Answered, Ask, Body, Endpoint, Exchanged, Wire};
