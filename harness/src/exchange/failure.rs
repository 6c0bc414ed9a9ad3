//! How an exchange fails, told apart by what the kernel or the peer did and never by text.

use std::io;

use floodrig_reports::recording::{Outcome, RigFault};
use rustix::io::Errno;

/// How an exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Nobody listens.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// No handshake in time.
    ConnectTimeout,
    /// The connection ended before the answer was whole.
    Closed,
    /// Sent, but not answered in full in time.
    Timeout,
    /// Connected, but the two could not agree on TLS: a certificate that is not trusted, no version in common.
    Tls,
    /// What came is not an HTTP answer.
    Malformed,
    /// The rig's own fault.
    Rig(RigFault),
}

impl Failure {
    /// What kept a connection from being made.
    pub(super) fn to_connect(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::TIMEDOUT) => Self::ConnectTimeout,
            other => Self::of(other),
        }
    }

    /// What ended a connection that had been made. A library between us and the kernel may have ended it with an error
    /// of its own, which has no number.
    pub(super) fn of_connection(error: &io::Error) -> Self {
        match (Errno::from_io_error(error), error.kind()) {
            (Some(errno), _) => Self::of(Some(errno)),
            (None, io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero) => Self::Closed,
            (None, io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => Self::Reset,
            (None, io::ErrorKind::InvalidData) => Self::Malformed,
            (None, _) => Self::of(None),
        }
    }

    fn of(errno: Option<Errno>) -> Self {
        match errno {
            Some(Errno::CONNREFUSED) => Self::Refused,
            Some(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN) => Self::Reset,
            Some(Errno::TIMEDOUT) => Self::Timeout,
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Self::Rig(RigFault::AddressNotAvailable),
            Some(Errno::MFILE | Errno::NFILE) => Self::Rig(RigFault::TooManyOpenFiles),
            Some(Errno::NOBUFS | Errno::NOMEM) => Self::Rig(RigFault::NoBufferSpace),
            Some(_) | None => Self::Rig(RigFault::Local),
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused => Self::Refused,
            Failure::Reset => Self::Reset,
            Failure::ConnectTimeout => Self::ConnectTimeout,
            Failure::Closed => Self::Closed,
            Failure::Timeout => Self::Timeout,
            Failure::Tls => Self::TlsFailed,
            // Something did answer, and what it said could not be what was wanted.
            Failure::Malformed => Self::CheckFailed,
            Failure::Rig(fault) => Self::RigFault(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(errno: Errno) -> io::Error {
        io::Error::from(errno)
    }

    #[test]
    fn the_rigs_own_faults_are_told_from_the_systems() {
        for (errno, failure) in [
            (Errno::CONNREFUSED, Failure::Refused),
            (Errno::CONNRESET, Failure::Reset),
            (Errno::TIMEDOUT, Failure::ConnectTimeout),
            (Errno::ADDRNOTAVAIL, Failure::Rig(RigFault::AddressNotAvailable)),
            (Errno::MFILE, Failure::Rig(RigFault::TooManyOpenFiles)),
            (Errno::NFILE, Failure::Rig(RigFault::TooManyOpenFiles)),
            (Errno::NOBUFS, Failure::Rig(RigFault::NoBufferSpace)),
            (Errno::NETUNREACH, Failure::Rig(RigFault::Local)),
        ] {
            assert_eq!(Failure::to_connect(&error(errno)), failure, "{errno:?}");
        }
    }

    #[test]
    fn a_connection_once_made_ends_in_a_reset_or_a_timeout() {
        for (errno, failure) in
            [(Errno::CONNRESET, Failure::Reset), (Errno::PIPE, Failure::Reset), (Errno::TIMEDOUT, Failure::Timeout)]
        {
            assert_eq!(Failure::of_connection(&error(errno)), failure, "{errno:?}");
        }
    }
}
