//! The exit status: what CI gates on.

use std::io;
use std::process::ExitCode;

use floodrig_reports::VerdictKind;

use super::refused::Refused;

/// How the process ends. The order is from worst to best: of several runs the worst wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Ctrl-C, or another signal to end: the recording is kept and marked partial. It stops everything, so nothing
    /// outranks it.
    Interrupted,
    /// Usage or a scenario is wrong; nothing was run.
    Usage,
    /// The rig itself failed.
    Failed,
    /// The system never became ready, or was not turned to the stub and called the real Telegram.
    NotReady,
    /// The rig was the limit, or a judged series has no samples.
    Invalid,
    /// The system died.
    Died,
    /// A budget is broken.
    Broken,
    /// Everything held.
    Pass,
}

impl Exit {
    /// The worst of several; nothing at all is a pass.
    pub fn worst(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().min().unwrap_or(Self::Pass)
    }

    /// What printing came to. A reader that has seen enough, `head` say, is no failure.
    pub(super) fn printed(result: io::Result<()>) -> Self {
        match result {
            Ok(()) => Self::Pass,
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Self::Pass,
            Err(cause) => Refused::could_not("print")(cause).tell(),
        }
    }

    /// The process's status.
    pub fn code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Broken => 1,
            Self::Usage => 2,
            Self::NotReady => 3,
            Self::Invalid => 4,
            Self::Died => 5,
            Self::Failed => 6,
            Self::Interrupted => 130,
        }
    }
}

impl From<VerdictKind> for Exit {
    fn from(kind: VerdictKind) -> Self {
        match kind {
            VerdictKind::Pass => Self::Pass,
            VerdictKind::Broken => Self::Broken,
            VerdictKind::NotReady => Self::NotReady,
            VerdictKind::Invalid => Self::Invalid,
            VerdictKind::Died => Self::Died,
            VerdictKind::Failed => Self::Failed,
            VerdictKind::Partial => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_runs_the_worst_wins() {
        let order = [Exit::Usage, Exit::Failed, Exit::NotReady, Exit::Invalid, Exit::Died, Exit::Broken, Exit::Pass];
        assert!(order.is_sorted());
        assert_eq!(Exit::worst([Exit::Pass, Exit::Broken, Exit::Invalid]), Exit::Invalid);
        assert_eq!(Exit::worst([]), Exit::Pass);
    }

    #[test]
    fn a_verdict_exits_with_the_code_its_report_names() {
        let kinds = [
            VerdictKind::Pass,
            VerdictKind::Broken,
            VerdictKind::NotReady,
            VerdictKind::Invalid,
            VerdictKind::Died,
            VerdictKind::Failed,
            VerdictKind::Partial,
        ];
        for kind in kinds {
            assert_eq!(Exit::from(kind).code(), kind.exit_code());
        }
    }
}
