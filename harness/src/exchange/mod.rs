//! One HTTP/1.1 exchange and the taxonomy of its failures.
//!
//! A connection is kept from one exchange to the next. A kept one that ends before any byte of an answer is
//! replaced once by a fresh one, as browsers do; only the second failure counts. Bodies are read to their end
//! and kept only when the caller asks for them. The two buffers are shared by all exchanges of the thread, so
//! that an idle connection costs a socket and nothing else. Redirects are not followed.
//!
//! It knows nothing of plans, acts or clocks beyond its own two timeouts.

mod answer;
mod chunks;
mod connect;
mod failure;
#[cfg(test)]
pub(crate) mod rough;
mod sock_diag;
#[cfg(test)]
mod tests;
mod wire;

pub use connect::Connection;
pub use failure::Failure;
pub use sock_diag::tcp_info;
pub use wire::{Answered, Ask, Body, Endpoint, Exchanged, Wire};
