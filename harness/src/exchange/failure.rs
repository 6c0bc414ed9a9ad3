//! How an exchange fails, told apart by what the kernel or the peer did and never by text.

use std::io;

use floodrig_reports::recording::{Outcome, RigFault};
use rustix::io::Errno;

use super::answer::Unread;

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
    /// What came is no answer that can be read: not HTTP, or against the rules of the protocol that is spoken.
    Malformed,
    /// What came is longer than anything that is kept, so that nobody can tell what it was.
    TooLong,
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
    /// of its own, or passed the kernel's on without its number.
    pub(super) fn of_connection(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::of(Some(errno)),
            None => Self::of_kind(error),
        }
    }

    fn of_kind(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => Self::Closed,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected => Self::Reset,
            io::ErrorKind::TimedOut => Self::Timeout,
            // TLS 1.3 lets a peer refuse us when we hold the handshake for over (RFC 8446, section 4.4.2.4).
            io::ErrorKind::InvalidData if is_alert(error) => Self::Tls,
            io::ErrorKind::InvalidData => Self::Malformed,
            _ => Self::of(None),
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

/// Whether the peer has ended the TLS session with a complaint.
fn is_alert(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    matches!(cause, Some(rustls::Error::AlertReceived(_)))
}

impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Malformed => Self::Malformed,
            Unread::TooLong => Self::TooLong,
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
            Failure::Malformed => Self::Malformed,
            Failure::TooLong => Self::RigFault(RigFault::AnswerTooLong),
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

    #[test]
    fn what_a_library_passes_on_without_its_number_is_told_by_its_kind() {
        use io::ErrorKind;
        for (kind, failure) in [
            (ErrorKind::UnexpectedEof, Failure::Closed),
            (ErrorKind::ConnectionReset, Failure::Reset),
            (ErrorKind::ConnectionAborted, Failure::Reset),
            (ErrorKind::TimedOut, Failure::Timeout),
            (ErrorKind::InvalidData, Failure::Malformed),
            (ErrorKind::Other, Failure::Rig(RigFault::Local)),
        ] {
            assert_eq!(Failure::of_connection(&kind.into()), failure, "{kind:?}");
        }
    }

    #[test]
    fn a_record_that_cannot_be_read_is_malformed_and_a_complaint_of_the_peers_is_a_failure_of_tls() {
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired);
        for (cause, failure) in [(rustls::Error::DecryptError, Failure::Malformed), (alert, Failure::Tls)] {
            assert_eq!(Failure::of_connection(&io::Error::new(io::ErrorKind::InvalidData, cause)), failure);
        }
    }
}
