//! What kept the rig itself from sending, or from judging what was answered, told apart by kind: each has a cause and a
//! remedy of its own, and none is ever charged to the system.

use serde::{Deserialize, Serialize};

/// What kept the rig itself from sending, or from judging what was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RigFault {
    /// `EADDRNOTAVAIL`, or `EADDRINUSE` of a local address: the rig ran out of local ports.
    AddressNotAvailable,
    /// `EMFILE` or `ENFILE`, or the rig's own cap right below them: it ran out of descriptors.
    TooManyOpenFiles,
    /// `ENOBUFS` or `ENOMEM`: the kernel ran out of memory for sockets.
    NoBufferSpace,
    /// The visit's initData had not been signed by the time it was needed.
    Unsigned,
    /// The stub took no more updates of users, or lost word of the bot's calls.
    Stub,
    /// The head of an answer, or a body that had to be read, was longer than the rig keeps.
    AnswerTooLong,
    /// Any other local error, such as a request that could not be built.
    Local,
}

impl RigFault {
    /// The cause, and what to do about it.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::AddressNotAvailable => {
                "no local port was left (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range, or let players share \
                 connections"
            }
            Self::TooManyOpenFiles => {
                "the limit on open files was met (EMFILE): raise `ulimit -n`, or let players share connections"
            }
            Self::NoBufferSpace => {
                "the kernel had no memory left for sockets (ENOBUFS): free some or raise net.ipv4.tcp_mem, or plan \
                 fewer connections at once"
            }
            Self::Unsigned => {
                "their initData was not signed in time: leave the rig more room, or let players come more slowly"
            }
            Self::Stub => {
                "the stub fell behind or had ended, and word between users and bot was lost: leave the rig more room, \
                 or plan less"
            }
            Self::AnswerTooLong => {
                "an answer was longer than is kept (16 MiB of a body to be read, 1000 header lines or 64 KiB of head): \
                 ask for less at once, or drop the check or capture"
            }
            Self::Local => {
                "this machine has no way to the target, or they cannot be built: check the target's address and the \
                 step's path and headers"
            }
        }
    }
}

/// Acts at the rig's own fault, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are the kinds of `RigFault`")]
pub struct RigFaults {
    pub address_not_available: u64,
    pub too_many_open_files: u64,
    pub no_buffer_space: u64,
    pub unsigned: u64,
    pub stub: u64,
    pub answer_too_long: u64,
    pub local: u64,
}

impl RigFaults {
    /// Counts one.
    pub fn count(&mut self, fault: RigFault) {
        *match fault {
            RigFault::AddressNotAvailable => &mut self.address_not_available,
            RigFault::TooManyOpenFiles => &mut self.too_many_open_files,
            RigFault::NoBufferSpace => &mut self.no_buffer_space,
            RigFault::Unsigned => &mut self.unsigned,
            RigFault::Stub => &mut self.stub,
            RigFault::AnswerTooLong => &mut self.answer_too_long,
            RigFault::Local => &mut self.local,
        } += 1;
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        self.address_not_available += other.address_not_available;
        self.too_many_open_files += other.too_many_open_files;
        self.no_buffer_space += other.no_buffer_space;
        self.unsigned += other.unsigned;
        self.stub += other.stub;
        self.answer_too_long += other.answer_too_long;
        self.local += other.local;
    }

    /// Every kind with its count.
    pub fn kinds(&self) -> [(RigFault, u64); 7] {
        [
            (RigFault::AddressNotAvailable, self.address_not_available),
            (RigFault::TooManyOpenFiles, self.too_many_open_files),
            (RigFault::NoBufferSpace, self.no_buffer_space),
            (RigFault::Unsigned, self.unsigned),
            (RigFault::Stub, self.stub),
            (RigFault::AnswerTooLong, self.answer_too_long),
            (RigFault::Local, self.local),
        ]
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Whether there was none: most recordings have nothing to say here.
    pub fn is_none(&self) -> bool {
        self.total() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_counted_in_a_place_of_its_own_and_merging_adds_it() {
        for (kind, _) in RigFaults::default().kinds() {
            let mut faults = RigFaults::default();
            faults.count(kind);
            faults.merge(&faults.clone());
            let counted = faults.kinds().into_iter().filter(|(_, count)| *count > 0);
            assert_eq!(counted.collect::<Vec<_>>(), [(kind, 2)]);
        }
    }

    #[test]
    fn every_kind_says_a_cause_of_its_own_and_a_remedy_behind_it() {
        let mut causes: Vec<&str> = Vec::new();
        for (kind, _) in RigFaults::default().kinds() {
            let (cause, remedy) = kind.in_words().split_once(": ").unwrap();
            assert!(!causes.contains(&cause) && !remedy.is_empty(), "{kind:?}");
            causes.push(cause);
        }
    }
}
