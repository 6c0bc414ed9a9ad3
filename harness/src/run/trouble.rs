//! What can keep a run from its end, each with what becomes of it: nothing recorded, or a seal that says why.

use std::io;
use std::path::Path;

use crate::drive::DriveError;
use crate::init_data::CannotSign;
use crate::keeper::{KeepError, Stage};
use crate::record::RecordError;
use crate::system::cores::CoreError;
use crate::system::port::PortError;
use crate::system::{ServiceError, StartError};

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario asks for what this machine does not have.
    #[error("{says}")]
    Impossible {
        /// The key at fault in the scenario's `[system]` table.
        key: &'static str,
        /// What is wrong.
        says: String,
    },
    /// A service of the scenario cannot be had.
    #[error("{0}")]
    Service(String),
    /// The rig itself failed.
    #[error("{0}")]
    Failed(String),
}

/// What ended a run early, once its recording was open.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Nothing was run after all.
    Impossible(RunError),
    /// The system never became ready.
    NotReady(String),
    /// Ctrl-C before the load.
    Interrupted,
    /// The rig itself failed.
    Failed(String),
}

impl RunError {
    /// A build that could not be started.
    pub fn of_build(cause: KeepError) -> Self {
        match Self::from(cause) {
            Self::Impossible { key: "command", says } => Self::Impossible { key: "build", says },
            other @ (Self::Impossible { .. } | Self::Service(_) | Self::Failed(_)) => other,
        }
    }

    pub(super) fn hooks(cause: &io::Error) -> Self {
        let folder = std::env::temp_dir();
        Self::Failed(format!("could not write the hooks for the system into {}: {cause}; set TMPDIR", folder.display()))
    }

    pub(super) fn folder(dir: &Path, cause: &io::Error) -> Self {
        Self::Failed(format!("could not make the folder {}: {cause}", dir.display()))
    }
}

impl Trouble {
    /// The rig could not do `what`, before there was anything to record.
    pub(super) fn unrecorded<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> Self {
        move |cause| Self::Impossible(RunError::Failed(format!("could not {what}: {cause}")))
    }

    /// The rig could not do `what`.
    pub(super) fn failed<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> Self {
        move |cause| Self::Failed(format!("could not {what}: {cause}"))
    }
}

impl From<CoreError> for RunError {
    fn from(cause: CoreError) -> Self {
        Self::Impossible { key: "cores", says: cause.to_string() }
    }
}

impl From<PortError> for RunError {
    fn from(cause: PortError) -> Self {
        Self::Impossible { key: "port", says: cause.to_string() }
    }
}

impl From<RecordError> for RunError {
    fn from(cause: RecordError) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<KeepError> for RunError {
    fn from(cause: KeepError) -> Self {
        match cause {
            KeepError::Command { fault, .. } => match key_at_fault(fault.stage) {
                Some(key) => Self::Impossible { key, says: cause.to_string() },
                None => Self::Failed(cause.to_string()),
            },
            KeepError::Keeper { .. } | KeepError::Lost => Self::Failed(cause.to_string()),
        }
    }
}

/// The key that asks for what a step of a start did not come to; nothing: the step is the rig's own.
fn key_at_fault(stage: Stage) -> Option<&'static str> {
    match stage {
        Stage::Dir => Some("dir"),
        Stage::Cores => Some("cores"),
        Stage::OpenFiles => Some("open_files"),
        Stage::Exec => Some("command"),
        Stage::Keep | Stage::Scratch | Stage::Launch | Stage::Tie | Stage::Cgroup => None,
    }
}

impl From<StartError> for Trouble {
    fn from(cause: StartError) -> Self {
        match cause {
            StartError::Port(cause) => Self::Impossible(cause.into()),
            StartError::Keep(cause) => Self::Impossible(cause.into()),
            StartError::NotReady(why) => Self::NotReady(why.to_string()),
            StartError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<ServiceError> for Trouble {
    fn from(error: ServiceError) -> Self {
        let says = error.to_string();
        match error.cause {
            StartError::Port(_) | StartError::Keep(KeepError::Command { .. }) => {
                Self::Impossible(RunError::Service(says))
            }
            StartError::Keep(KeepError::Keeper { .. } | KeepError::Lost) => Self::Failed(says),
            StartError::NotReady(_) => Self::NotReady(says),
            StartError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<DriveError> for Trouble {
    fn from(cause: DriveError) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<CannotSign> for Trouble {
    fn from(cause: CannotSign) -> Self {
        Self::Failed(cause.to_string())
    }
}
