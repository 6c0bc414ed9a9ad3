//! How far an exchange has come, told while it is under way: whoever cuts it short has to know what it was waiting for,
//! and a handshake that came late is a fact whatever becomes of the exchange.

/// What an exchange has just come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It makes a connection, which includes what TLS and the network take.
    Connecting,
    /// The handshake of its connection needed SYN retransmits.
    LetInLate,
    /// It has a connection, and its request goes out. Told as often as `tries` counts.
    Sending,
}
